"""What is known, and how is it found?"""
