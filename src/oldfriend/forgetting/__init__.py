"""Forgetting: preview, delete, clean up and verify."""
