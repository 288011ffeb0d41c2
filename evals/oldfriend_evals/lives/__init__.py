"""Simulated lives of a month, and pairs of three, with the truth.

The talk and its truth are our own work, written for this repository and under its licence.
"""
