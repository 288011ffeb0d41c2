"""Validation: the checks that can reject a claim, each with its reason."""
