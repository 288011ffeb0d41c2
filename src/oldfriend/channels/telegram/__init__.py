"""Telegram: the channel for Telegram chats."""
