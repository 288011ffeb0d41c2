"""How does one reply come to be?"""
