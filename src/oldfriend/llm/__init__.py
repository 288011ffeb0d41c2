"""How do we reach a model?"""
