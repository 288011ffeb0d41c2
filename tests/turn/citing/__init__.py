"""Citing: how often the sources of a reply are told right."""
