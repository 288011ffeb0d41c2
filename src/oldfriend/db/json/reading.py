"""What stands in a file that somebody may have edited? Every row, with the line that it is on.

Nothing is guessed: what cannot be understood is an error that names the line and says what should
stand there. Knows nothing of databases.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from oldfriend.db.database import SqlValue
from oldfriend.db.json.layout import LAYOUT, Table, row_of
from oldfriend.db.json.page import SEAL, seal_of
from oldfriend.db.json.values import Misfit, bytes_in
from oldfriend.db.schema import SchemaState
from oldfriend.domain.errors import SchemaTooNew, StoreDamaged
from oldfriend.domain.json import JsonValue

SPACE: Final = " \t\n\r"
PAST_SPACE: Final = re.compile(f"[{SPACE}]*")
BRACKETS: Final = MappingProxyType({"{": "}", "[": "]"})
MEND: Final = (
    "Nothing was changed. Mend it in a text editor, or put a copy of the file back; it is read "
    "again at the next start."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A value, what it stands under, and where."""

    under: tuple[str, ...]
    value: JsonValue
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRow:
    """A row as it stands in the file."""

    values: Mapping[str, SqlValue]
    follows: Mapping[str, JsonValue]  # what it says that follows from others
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What search keeps of a message."""

    digest: str  # of the text that it was made of
    imprint: bytes


@dataclass(slots=True, kw_only=True)
class Read:
    """Everything that stands in a file."""

    rows: dict[str, list[ReadRow]] = field(default_factory=dict)  # by table
    kept: dict[tuple[str, str], Kept] = field(default_factory=dict)  # by person and seq


class Text:
    """The text of the file, and how to say where in it something is wrong."""

    def __init__(self, path: Path, content: bytes) -> None:
        """Decode it. Raises StoreDamaged."""
        self.path = path
        self.is_sealed = is_sealed(content)
        try:
            self.text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise StoreDamaged(f"{path}, line {line}: it is not UTF-8. {MEND}") from error

    def wrong(self, at: int, what: str) -> StoreDamaged:
        """The error for something that is wrong."""
        line = self.text.count("\n", 0, at) + 1
        return StoreDamaged(f"{self.path}, line {line}: {what}. {MEND}")

    def found(self) -> list[Found]:
        """Everything in it, each row for itself. Raises StoreDamaged."""
        found: list[Found] = []
        at = self._gather(found, 0, ())
        if (rest := self.text[at:].strip(SPACE)) != "":
            raise self.wrong(at, f"the file should have ended here, not gone on with {rest[:20]!r}")
        return found

    def _gather(self, found: list[Found], at: int, under: tuple[str, ...]) -> int:
        """Gather what begins at a place; where it ends."""
        at = self._past_space(at)
        closing = BRACKETS.get(self.text[at : at + 1])
        if closing is None or not is_gone_into(under):
            value, end = self._decoded(at)
            found.append(Found(under=under, value=value, at=at))
            return end
        names: set[str] = set()
        at = self._past_space(at + 1)
        if self.text[at : at + 1] == closing:
            return at + 1
        while True:
            name, at = self._name(at, names) if closing == "}" else ("", at)
            at = self._past_space(self._gather(found, at, (*under, name)))
            ends_with = self.text[at : at + 1]
            if ends_with == closing:
                return at + 1
            if ends_with != ",":
                raise self.wrong(at, f"here should stand a comma or {closing!r}")
            at = self._past_space(at + 1)

    def _name(self, at: int, known: set[str]) -> tuple[str, int]:
        """The name that begins at a place, and where its value begins."""
        name, end = self._decoded(at)
        end = self._past_space(end)
        if not isinstance(name, str) or self.text[end : end + 1] != ":":
            raise self.wrong(at, "here should stand a name in quotes, and a colon after it")
        if name in known:
            raise self.wrong(at, f"{name!r} stands here for the second time")
        known.add(name)
        return name, end + 1

    def _decoded(self, at: int) -> tuple[JsonValue, int]:
        """The value that begins at a place, and where it ends."""
        try:
            value: tuple[JsonValue, int] = DECODER.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            raise self.wrong(error.pos, f"it is not JSON ({error.msg})") from error
        except (Unreadable, RecursionError) as error:
            raise self.wrong(at, f"it cannot be read ({error})") from error
        return value

    def _past_space(self, at: int) -> int:
        match = PAST_SPACE.match(self.text, at)
        assert match is not None
        return match.end()


class Unreadable(Exception):
    """Something that JSON allows, but from which nothing can be read; says what."""


def once(entries: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """An object, in which no name stands twice."""
    made = dict(entries)
    if len(made) < len(entries):
        names = [name for name, _ in entries]
        raise Unreadable(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
    return made


def no_number(text: str) -> JsonValue:
    """What JSON does not know as a number."""
    raise Unreadable(f"{text} is no number")


DECODER: Final = json.JSONDecoder(object_pairs_hook=once, parse_constant=no_number)


def is_gone_into(under: tuple[str, ...]) -> bool:
    """Whether what stands under some names is taken apart, and not read as one value."""
    match under:
        case () | ("users" | "tables" | "for_search" | "messages" | "summaries",):
            return True
        case ("messages" | "summaries" | "tables" | "for_search", _):
            return True
        case ("for_search", "imprint", _):
            return True
        case _:
            return False


def is_sealed(content: bytes) -> bool:
    """Whether a file is just as it was written."""
    body, seal, rest = content.rpartition(SEAL.encode())
    return bool(seal) and rest == b'%s"\n}\n' % seal_of(body).encode()


def schema_in(text: Text, found: list[Found]) -> SchemaState:
    """With which schema the file was written. Raises StoreDamaged, SchemaTooNew."""
    for each in found:
        match each.under, each.value:
            case ("oldfriend",), {
                "layout": int(layout),
                "schema": {"version": int(v), "name": str(name), "oldest_writer": int(oldest)},
            }:
                if layout > LAYOUT:
                    raise SchemaTooNew(
                        f"{text.path} was written by a newer Oldfriend. Nothing was changed. "
                        "Update Oldfriend and start it again."
                    )
                return SchemaState(version=v, name=name, oldest_writer=oldest)
    raise text.wrong(0, 'it is no memory of Oldfriend: "oldfriend" with its schema is missing')


def rows_in(text: Text, found: list[Found], tables: Mapping[str, Table]) -> Read:
    """Everything that stands in the file, as rows. Raises StoreDamaged."""
    read = Read()
    by_section = {table.section.name: table for table in tables.values()}
    for each in found:
        match each.under, each.value:
            case ("oldfriend" | "seal",), _:
                continue
            case ("for_search", "imprint", person, seq), str(value):
                read.kept[person, seq] = kept_in(text, each.at, value)
            case ("users", person), {"user_id": whose, **_entries} if whose == person:
                take_row(text, read, tables["person"], each)
            case ("messages" | "summaries", person, ""), {"user_id": whose, **_entries} if (
                whose == person
            ):
                take_row(text, read, by_section[each.under[0]], each)
            case ("tables" | "for_search", name, ""), dict() if name in tables:
                take_row(text, read, tables[name], each)
            case _:
                raise text.wrong(each.at, f"nothing of this kind can stand under {spelled(each)}")
    return read


def spelled(found: Found) -> str:
    """Where something stands, by the names above it."""
    return " / ".join(name for name in found.under if name) or "the beginning"


def take_row(text: Text, read: Read, table: Table, found: Found) -> None:
    """Take in a row."""
    assert isinstance(found.value, dict)
    try:
        values = row_of(table, found.value)
    except Misfit as error:
        raise text.wrong(found.at, str(error)) from error
    follows = {
        name: found.value[name] for name in table.section.follows if name in found.value
    }  # fmt: skip
    row = ReadRow(values=values, follows=follows, at=found.at)
    read.rows.setdefault(table.name, []).append(row)


def kept_in(text: Text, at: int, value: str) -> Kept:
    """What search keeps of a message."""
    digest, _, imprint = value.partition(" ")
    try:
        return Kept(digest=digest, imprint=bytes_in(imprint))
    except Misfit as error:
        raise text.wrong(at, str(error)) from error
