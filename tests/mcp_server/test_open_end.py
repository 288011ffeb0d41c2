"""The last day that can be written stands for an open end."""

from oldfriend.domain.clock import parse_timestamp
from oldfriend.mcp_server.tool_arguments import parse_day


def test_last_day_of_all_is_taken() -> None:
    """As the end of a span."""
    first, after = parse_day({"until": "9999-12-31"}, "until", "UTC")

    assert first is not None
    assert after is not None
    assert after > parse_timestamp("9998-12-31", "UTC")[0]
