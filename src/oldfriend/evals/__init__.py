"""Is it getting better?"""
