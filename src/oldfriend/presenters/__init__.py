"""Presenters: what is shown of each thing, for the API, programs, JSON and the terminal.

Frozen dataclasses with ``from_domain``: those derived from ``Schema`` are what the API returns, the
others what the library gives. ``…_as_json`` is what ``--json`` prints, ``format_…`` what people
read.
"""
