"""How does one file on this machine keep everything, for several processes at once?"""
