"""Measurements: numbers with a unit that the person logs, such as weight, and their trends."""
