"""Discord: the channel for direct messages and mentions on Discord."""
