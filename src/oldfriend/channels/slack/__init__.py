"""Slack: the channel for Slack workspaces."""
