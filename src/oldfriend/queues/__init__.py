"""What is waiting?"""
