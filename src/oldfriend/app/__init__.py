"""How is it assembled and kept running?"""
