"""What was done on somebody's behalf, and what did it cost?"""
