"""Tests of what is looked up outside."""
