"""MCP client: tools of servers that the owner has named, as text from outside.

Nothing here decides whether a tool may be used; that is asked in the turn.
"""
