"""Channels: the platforms on which people talk to the companion."""
