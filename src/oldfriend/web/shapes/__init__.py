"""What do a page and the house say to each other? The forms of the API, at its border only.

Times are ISO 8601 with the offset of the place where it was so.
"""
