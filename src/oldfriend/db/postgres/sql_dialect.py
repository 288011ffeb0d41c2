"""SQL dialect: rewrites portable SQL for PostgreSQL and adapts its values.

Statements stay unnamed and are bound by the server, so that nothing is left behind on a connection
that a PgBouncer may give to another client for the next transaction.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from psycopg import AsyncConnection
from psycopg.abc import AdaptContext, Buffer
from psycopg.pq import Format
from psycopg.types.numeric import FloatBinaryDumper, Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import BytesBinaryDumper, StrBinaryDumper

from oldfriend.db.database import SqlValue

STATEMENT_CACHE_SIZE: Final = 2000
TOKEN: Final = re.compile(
    r"""(?P<quoted> '(?:[^']|'')*' | "[^"]*" | :: )
      | :(?P<name> [a-z_]\w*)
      | (?P<lock> FOR[ ]UPDATE)
      | (?P<instr> \binstr (?=\())
      | (?P<percent> %)""",
    re.VERBOSE,
)
ROW_LOCK: Final = "FOR NO KEY UPDATE"
"""What FOR UPDATE means here: the content of the row.

A lock on the whole row would also block writers of rows that merely reference it, and two of them
that take this lock later would deadlock.
"""


INSTR_FUNCTION: Final = 'pg_catalog."position"'
"""Takes the same arguments as SQLite's ``instr``, texts or bytes, and returns the same."""


class NumberLoader:
    """A loader of NUMERIC values, such as sums of whole numbers, as Python numbers."""

    format = Format.BINARY

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        """Called by psycopg."""
        self._loader = NumericBinaryLoader(oid, context)

    def load(self, data: Buffer) -> int | float:
        """Return a whole number as int, any other as float."""
        number = self._loader.load(data)
        return int(number) if number == number.to_integral_value() else float(number)


def to_postgres_sql(sql: str, values: Mapping[str, SqlValue]) -> bytes:
    """Return a statement with its parameters in psycopg's form.

    None is written as NULL into the text, for the server cannot infer the type of such a parameter.
    """
    empty = frozenset(name for name, value in values.items() if value is None)
    return rewrite_sql(sql, empty)


@lru_cache(maxsize=STATEMENT_CACHE_SIZE)
def rewrite_sql(sql: str, null_names: frozenset[str]) -> bytes:
    """Rewrite portable SQL for PostgreSQL, with some parameters NULL."""

    def part(match: re.Match[str]) -> str:
        name = match["name"]
        if name is not None:
            return "NULL" if name in null_names else f"%({name})s"
        if match["lock"]:
            return ROW_LOCK
        if match["instr"]:
            return INSTR_FUNCTION
        return match[0].replace("%", "%%")

    return TOKEN.sub(part, sql).encode()


def register_adapters(connection: AsyncConnection[Any]) -> None:
    """Register adapters for the types of portable SQL: int64, text, double, bytes."""
    adapters = connection.adapters
    for kind in (int, bool):
        adapters.register_dumper(kind, Int8BinaryDumper)
    adapters.register_dumper(str, StrBinaryDumper)
    adapters.register_dumper(float, FloatBinaryDumper)
    adapters.register_dumper(bytes, BytesBinaryDumper)
    adapters.register_loader("numeric", NumberLoader)
