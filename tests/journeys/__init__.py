"""Does the whole of it work, as real processes that are stopped and killed?"""
