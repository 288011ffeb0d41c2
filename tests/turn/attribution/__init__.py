"""Which words of a message are not the speaker's own."""
