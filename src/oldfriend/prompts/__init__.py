"""What do we say, to a model or in its place?"""
