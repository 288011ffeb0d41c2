"""Is what was said and answered kept as one?"""
