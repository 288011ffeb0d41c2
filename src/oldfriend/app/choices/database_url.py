"""Which database does a URL name? ``sqlite:///PATH`` or ``postgresql://…``.

Knows nothing of what is in it, nor how it is opened.
"""

import re
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import InvalidInput

POSTGRES: Final = ("postgresql://", "postgres://")
NAMED_SECRET: Final = re.compile(r"((?:password|passwd|pwd|secret|token|key)=).*", re.I | re.S)
BEFORE_PLACE: Final = re.compile(r"\A(\w[\w+.-]*://)?.*@", re.S)
"""To the last "@": one that stands in a password is often not escaped."""


def names_postgres(url: str) -> bool:
    """Whether it is the address of a PostgreSQL server; what is wrong in it, the driver says."""
    return url.startswith(POSTGRES)


def sqlite_path(url: str) -> Path:
    """The file that sqlite:///PATH names; relative to the current folder. Raises InvalidInput."""
    scheme, separator, rest = url.partition(":///")
    if scheme != "sqlite" or not separator or not rest:
        raise InvalidInput(
            f"{shown_url(url)!r} does not name a database. Use sqlite:///PATH, such as "
            "sqlite:////home/me/oldfriend.db, or postgresql://NAME@HOST/DATABASE"
        )
    return Path(rest).expanduser().absolute()


def is_same_database(one: str, other: str) -> bool:
    """Whether two URLs name the same database, as far as can be told without opening it."""
    if names_postgres(one) or names_postgres(other):
        return one == other
    return sqlite_path(one).resolve() == sqlite_path(other).resolve()


def shown_url(url: str) -> str:
    """An address as it may be read by anybody: without its password, however it is written."""
    if url.startswith("sqlite:///"):
        return url
    unnamed = NAMED_SECRET.sub(r"\1…", url)
    return BEFORE_PLACE.sub(lambda found: f"{found[1] or ''}…@", unnamed)
