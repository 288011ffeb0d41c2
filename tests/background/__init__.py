"""What happens between messages."""
