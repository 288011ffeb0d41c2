"""Poisoned and honest conversations with a harness that reads them and counts what is stored."""
