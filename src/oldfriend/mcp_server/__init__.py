"""MCP server: one person's memory as tools for other programs' models (Model Context Protocol).

Over standard input and output (``oldfriend mcp``) or HTTP (/mcp of ``oldfriend serve``).
"""
