"""Is every call kept, added up, and never taken for free?"""
