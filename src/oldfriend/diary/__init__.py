"""Diary: the person's own journal entries, and what is looked up in them."""
