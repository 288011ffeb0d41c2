"""Database URLs: ``sqlite:///PATH``, ``json:///PATH`` or ``postgresql://…``."""

from pathlib import Path
from typing import Final

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.setting_parsers import redact_url

JSON_PREFIX: Final = "json:///"
POSTGRES_PREFIXES: Final = ("postgresql://", "postgres://")


def is_postgres_url(url: str) -> bool:
    """Return whether a URL names a PostgreSQL server; its details are checked by the driver."""
    return url.startswith(POSTGRES_PREFIXES)


def is_json_url(url: str) -> bool:
    """Return whether a URL names a readable JSON file."""
    return url.startswith(JSON_PREFIX)


def parse_database_path(url: str) -> Path:
    """Return the absolute path of the file that a URL names. Raises InvalidInput."""
    scheme, separator, rest = url.partition(":///")
    if scheme not in {"sqlite", "json"} or not separator or not rest:
        raise InvalidInput(
            f"{redact_url(url)!r} does not name a database. Use sqlite:///PATH, such as "
            "sqlite:////home/me/oldfriend.db, json:///PATH for a file that you can read, or "
            "postgresql://NAME@HOST/DATABASE"
        )
    return Path(rest).expanduser().absolute()


def to_database_url(text: str) -> str:
    """Return a database URL for a URL or the path of a file."""
    return text if "://" in text else f"sqlite:///{text}"


def is_same_database(one: str, other: str) -> bool:
    """Return whether two URLs name the same database, as far as is known without opening it."""
    if is_postgres_url(one) or is_postgres_url(other):
        return one == other
    return parse_database_path(one).resolve() == parse_database_path(other).resolve()
