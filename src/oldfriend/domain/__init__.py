"""What are the things we talk about?"""
