"""Inbound: identify the sender, authorize, resolve the chat, accept the message."""
