"""Permanent deletion: select, plan, erase, verify, and prevent relearning."""
