"""Which database does a URL name? ``sqlite:///PATH``, ``json:///PATH`` or ``postgresql://…``.

Knows nothing of what is in it, nor how it is opened.
"""

import re
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import InvalidInput

JSON: Final = "json:///"
POSTGRES: Final = ("postgresql://", "postgres://")
NAMED_SECRET: Final = re.compile(r"((?:password|passwd|pwd|secret|token|key)=).*", re.I | re.S)
BEFORE_PLACE: Final = re.compile(r"\A(\w[\w+.-]*://)?.*@", re.S)
"""To the last "@": one that stands in a password is often not escaped."""


def names_postgres(url: str) -> bool:
    """Whether it is the address of a PostgreSQL server; what is wrong in it, the driver says."""
    return url.startswith(POSTGRES)


def names_json(url: str) -> bool:
    """Whether it is the address of a file that people can read."""
    return url.startswith(JSON)


def file_of(url: str) -> Path:
    """The file that an address names; relative to the current folder. Raises InvalidInput."""
    scheme, separator, rest = url.partition(":///")
    if scheme not in {"sqlite", "json"} or not separator or not rest:
        raise InvalidInput(
            f"{shown_url(url)!r} does not name a database. Use sqlite:///PATH, such as "
            "sqlite:////home/me/oldfriend.db, json:///PATH for a file that you can read, or "
            "postgresql://NAME@HOST/DATABASE"
        )
    return Path(rest).expanduser().absolute()


def database_meant(text: str) -> str:
    """The address of the database that is meant: an address, or the path of a file."""
    return text if "://" in text else f"sqlite:///{text}"


def is_same_database(one: str, other: str) -> bool:
    """Whether two URLs name the same database, as far as can be told without opening it."""
    if names_postgres(one) or names_postgres(other):
        return one == other
    return file_of(one).resolve() == file_of(other).resolve()


def shown_url(url: str) -> str:
    """An address as it may be read by anybody: without its password, however it is written."""
    if url.startswith(("sqlite:///", JSON)):
        return url
    unnamed = NAMED_SECRET.sub(r"\1…", url)
    return BEFORE_PLACE.sub(lambda found: f"{found[1] or ''}…@", unnamed)
