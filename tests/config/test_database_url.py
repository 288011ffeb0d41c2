"""Which database is meant, and nothing of its password."""

from pathlib import Path

import pytest

from oldfriend.config.database_url import is_postgres_url, parse_database_path
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.setting_parsers import redact_url
from tests.engines import both_engines

engine = both_engines


def test_a_tilde_is_the_home_of_whoever_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As everywhere on a command line."""
    monkeypatch.setenv("HOME", "/home/ada")

    assert parse_database_path("sqlite:///~/a.db") == Path("/home/ada/a.db")


@pytest.mark.parametrize(
    "url", ["", "mysql://host/db", "sqlite://a.db", "sqlite:///", "/just/a/path", "sqlite:"]
)
def test_a_url_that_names_no_database_is_refused_with_an_example(url: str) -> None:
    """Whoever mistypes it sees how it is written."""
    with pytest.raises(InvalidInput, match="sqlite:///PATH.*postgresql://"):
        parse_database_path(url)


@pytest.mark.parametrize("url", ["postgresql://ada@host/memory", "postgres:///memory"])
def test_a_server_is_known_by_its_scheme(url: str) -> None:
    """In both spellings that libpq takes."""
    assert is_postgres_url(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:s3:cr/et@host:5432/memory", "postgresql://…@host:5432/memory"),
        ("postgresql://ada:s3cr@et@host/memory", "postgresql://…@host/memory"),
        ("postgres://:s3?c#ret@host/memory?listen=h", "postgres://…@host/memory?listen=h"),
        (
            "postgresql://host/memory?user=ada&password=s3&c@ret",
            "postgresql://host/memory?user=ada&password=…",
        ),
        ("postgresql://host/memory?sslpassword=s3cret", "postgresql://host/memory?sslpassword=…"),
        ("https://ada:s3cret@host/v1", "https://…@host/v1"),
        ("ada:s3cret@host", "…@host"),
        ("sqlite:////home/ada@work/a.db", "sqlite:////home/ada@work/a.db"),
        ("postgresql://host:5432/memory", "postgresql://host:5432/memory"),
        ("sqlite:////home/ada/a.db", "sqlite:////home/ada/a.db"),
    ],
)
def test_a_password_is_never_shown(url: str, shown: str) -> None:
    """Addresses end up in messages, and messages in logs."""
    assert redact_url(url) == shown
