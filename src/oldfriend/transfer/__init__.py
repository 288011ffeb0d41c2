"""How does data come in and go out?"""
