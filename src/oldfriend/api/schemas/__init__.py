"""API schemas: the pydantic models of requests and responses.

Times are ISO 8601 with the UTC offset of the place they refer to.
"""
