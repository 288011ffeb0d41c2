"""How does one readable file keep everything, for one process at a time?"""
