"""How do bytes reach the disk?"""
