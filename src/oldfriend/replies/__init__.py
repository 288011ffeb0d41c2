"""Replies: run a turn, commit it and deliver the reply."""
