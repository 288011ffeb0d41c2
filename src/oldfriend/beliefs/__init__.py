"""Beliefs: queries, history and corrections by the person."""
