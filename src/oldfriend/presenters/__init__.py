"""Presenters: receipts, beliefs and deletions as text and as JSON."""
