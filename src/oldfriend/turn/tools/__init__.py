"""What can the companion do besides talking?"""
