"""Watches: what a person wants to be told of once it changes outside, such as a page or a price."""
