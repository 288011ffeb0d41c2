"""Queues: durable jobs in ordered partitions (inbox, outbox and agenda)."""
