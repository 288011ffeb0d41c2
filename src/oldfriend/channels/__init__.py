"""Where do people reach it?"""
