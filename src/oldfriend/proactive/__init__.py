"""Proactive messages: when the companion speaks first, and why it stays silent."""
