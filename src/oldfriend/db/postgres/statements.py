"""How is the portable SQL said to PostgreSQL, and how do values travel?

Statements stay unnamed and are bound by the server, so that nothing is left behind on a
connection that a PgBouncer may give to somebody else at the next transaction.
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

STATEMENTS_KEPT: Final = 2000
PART: Final = re.compile(
    r"""(?P<quoted> '(?:[^']|'')*' | "[^"]*" | :: )
      | :(?P<name> [a-z_]\w*)
      | (?P<lock> FOR[ ]UPDATE)
      | (?P<percent> %)""",
    re.VERBOSE,
)
OUR_LOCK: Final = "FOR NO KEY UPDATE"
"""What is meant by FOR UPDATE: the row's content. The whole row would also be locked against
those who only write rows that point to it, and two who do so before would wait for each other."""


class NumberLoader:
    """Reads a number of any width, such as the sum of whole numbers, as the portable SQL has it."""

    format = Format.BINARY

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        """As psycopg makes it."""
        self._loader = NumericBinaryLoader(oid, context)

    def load(self, data: Buffer) -> int | float:
        """A whole number as int, any other as float."""
        number = self._loader.load(data)
        return int(number) if number == number.to_integral_value() else float(number)


def said_to_postgres(sql: str, values: Mapping[str, SqlValue]) -> bytes:
    """A statement with its parameters as psycopg takes them.

    What is None stands in the text, for the server cannot tell of what type a None is.
    """
    empty = frozenset(name for name, value in values.items() if value is None)
    return rewritten(sql, empty)


@lru_cache(maxsize=STATEMENTS_KEPT)
def rewritten(sql: str, empty: frozenset[str]) -> bytes:
    """The portable SQL as PostgreSQL's, with some parameters empty."""

    def part(match: re.Match[str]) -> str:
        name = match["name"]
        if name is not None:
            return "NULL" if name in empty else f"%({name})s"
        if match["lock"]:
            return OUR_LOCK
        return match[0].replace("%", "%%")

    return PART.sub(part, sql).encode()


def set_up_values(connection: AsyncConnection[Any]) -> None:
    """Let values travel as what the portable SQL knows: int64, text, double, bytes."""
    adapters = connection.adapters
    for kind in (int, bool):
        adapters.register_dumper(kind, Int8BinaryDumper)
    adapters.register_dumper(str, StrBinaryDumper)
    adapters.register_dumper(float, FloatBinaryDumper)
    adapters.register_dumper(bytes, BytesBinaryDumper)
    adapters.register_loader("numeric", NumberLoader)
