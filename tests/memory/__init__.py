"""Is everything kept, found again, and nobody else's?"""
