"""The port of a database is digits as protocols write them."""

import pytest

from oldfriend.db.postgres.postgres_connections import parse_host_port


@pytest.mark.parametrize(
    ("listen", "port"), [("here:5433", "5433"), ("here:²", "5432"), ("here:٥٤", "5432")]
)
def test_port_must_be_ascii_digits_else_the_default_is_used(listen: str, port: str) -> None:
    """No driver reads another."""
    assert parse_host_port(listen)["port"] == port
