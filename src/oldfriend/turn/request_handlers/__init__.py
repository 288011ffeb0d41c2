"""Request handlers: what a message asks to be done, such as a reminder, read by rules."""
