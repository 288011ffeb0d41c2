"""What happens between messages? Beliefs form from what was said; nothing here answers anybody."""
