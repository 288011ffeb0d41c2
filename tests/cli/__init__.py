"""Does the command line do what it says?"""
