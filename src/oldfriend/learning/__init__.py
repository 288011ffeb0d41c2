"""Learning: turns messages into beliefs, summaries and reflections."""
