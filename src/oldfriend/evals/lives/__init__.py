"""Does it come to know somebody? Three simulated lives of a month, with what is true of them.

The talk and its truth are our own work, written for this repository and under its licence.
"""
