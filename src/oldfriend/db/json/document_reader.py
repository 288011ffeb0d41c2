"""Document reader: parses a JSON file that people may have edited into rows with line numbers.

Nothing is guessed: what cannot be understood is an error that names the line and says what is
expected there.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from oldfriend.db.database import SqlValue
from oldfriend.db.json.document import CHECKSUM_PREFIX, compute_checksum
from oldfriend.db.json.document_schema import LAYOUT_VERSION, JsonTable, parse_row
from oldfriend.db.json.document_values import InvalidValue, parse_base64
from oldfriend.db.schema import SchemaState
from oldfriend.domain.errors import SchemaTooNew, StoreCorrupt
from oldfriend.domain.json import JsonValue

SPACE: Final = " \t\n\r"
SPACES: Final = re.compile(f"[{SPACE}]*")
BRACKETS: Final = MappingProxyType({"{": "}", "[": "]"})
REPAIR_HINT: Final = (
    "Nothing was changed. Mend it in a text editor, or put a copy of the file back; it is read "
    "again at the next start."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedValue:
    """A value with its path and offset in the file."""

    path: tuple[str, ...]
    value: JsonValue
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRow:
    """A row as it stands in the file."""

    values: Mapping[str, SqlValue]
    derived_fields: Mapping[str, JsonValue]  # fields that follow from other rows
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTerms:
    """The stored search terms of a message."""

    digest: str  # the hash of their text
    imprint: bytes


@dataclass(slots=True, kw_only=True)
class ParsedStore:
    """The whole content of a file."""

    rows: dict[str, list[ParsedRow]] = field(default_factory=dict)  # by table
    terms: dict[tuple[str, str], StoredTerms] = field(default_factory=dict)  # by person and seq


class JsonText:
    """The text of the file, which can locate errors in it."""

    def __init__(self, path: Path, content: bytes) -> None:
        """Decode the content. Raises StoreCorrupt."""
        self.path = path
        self.has_valid_checksum = has_valid_checksum(content)
        try:
            self.text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise StoreCorrupt(f"{path}, line {line}: it is not UTF-8. {REPAIR_HINT}") from error

    def build_error(self, offset: int, message: str) -> StoreCorrupt:
        """Build the error for something wrong at an offset."""
        line = self.text.count("\n", 0, offset) + 1
        return StoreCorrupt(f"{self.path}, line {line}: {message}. {REPAIR_HINT}")

    def parse(self) -> list[ParsedValue]:
        """Parse everything in it, each row separately. Raises StoreCorrupt."""
        found: list[ParsedValue] = []
        at = self._parse_value(found, 0, ())
        if (rest := self.text[at:].strip(SPACE)) != "":
            raise self.build_error(
                at, f"the file should have ended here, not gone on with {rest[:20]!r}"
            )
        return found

    def _parse_value(self, values: list[ParsedValue], offset: int, path: tuple[str, ...]) -> int:
        """Collect the values that begin at an offset, and return where they end."""
        offset = self._skip_space(offset)
        closing = BRACKETS.get(self.text[offset : offset + 1])
        if closing is None or not is_container(path):
            value, end = self._decode(offset)
            values.append(ParsedValue(path=path, value=value, offset=offset))
            return end
        names: set[str] = set()
        offset = self._skip_space(offset + 1)
        if self.text[offset : offset + 1] == closing:
            return offset + 1
        while True:
            name, offset = self._parse_name(offset, names) if closing == "}" else ("", offset)
            offset = self._skip_space(self._parse_value(values, offset, (*path, name)))
            ends_with = self.text[offset : offset + 1]
            if ends_with == closing:
                return offset + 1
            if ends_with != ",":
                raise self.build_error(offset, f"here should stand a comma or {closing!r}")
            offset = self._skip_space(offset + 1)

    def _parse_name(self, offset: int, known: set[str]) -> tuple[str, int]:
        """Return the name that begins at an offset, and where its value begins."""
        name, end = self._decode(offset)
        end = self._skip_space(end)
        if not isinstance(name, str) or self.text[end : end + 1] != ":":
            raise self.build_error(
                offset, "here should stand a name in quotes, and a colon after it"
            )
        if name in known:
            raise self.build_error(offset, f"{name!r} stands here for the second time")
        known.add(name)
        return name, end + 1

    def _decode(self, offset: int) -> tuple[JsonValue, int]:
        """Return the value that begins at an offset, and where it ends."""
        try:
            value: tuple[JsonValue, int] = DECODER.raw_decode(self.text, offset)
        except json.JSONDecodeError as error:
            raise self.build_error(error.pos, f"it is not JSON ({error.msg})") from error
        except (InvalidJson, RecursionError) as error:
            raise self.build_error(offset, f"it cannot be read ({error})") from error
        return value

    def _skip_space(self, offset: int) -> int:
        match = SPACES.match(self.text, offset)
        assert match is not None
        return match.end()


class InvalidJson(Exception):
    """Valid JSON that cannot be read without loss; says what."""


def reject_duplicate_keys(entries: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Return an object. Raises InvalidJson if a key occurs twice."""
    result = dict(entries)
    if len(result) < len(entries):
        names = [name for name, _ in entries]
        raise InvalidJson(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
    return result


def reject_constant(text: str) -> JsonValue:
    """Raise InvalidJson for a number that JSON does not have, such as NaN."""
    raise InvalidJson(f"{text} is no number")


DECODER: Final = json.JSONDecoder(
    object_pairs_hook=reject_duplicate_keys, parse_constant=reject_constant
)


def is_container(path: tuple[str, ...]) -> bool:
    """Return whether the value under a path is parsed part by part, and not as one value."""
    match path:
        case () | ("users" | "tables" | "for_search" | "messages" | "summaries",):
            return True
        case ("messages" | "summaries" | "tables" | "for_search", _):
            return True
        case ("for_search", "imprint", _):
            return True
        case _:
            return False


def has_valid_checksum(content: bytes) -> bool:
    """Return whether a file is exactly as it was written."""
    body, separator, rest = content.rpartition(CHECKSUM_PREFIX.encode())
    return bool(separator) and rest == b'%s"\n}\n' % compute_checksum(body).encode()


def parse_schema(text: JsonText, values: list[ParsedValue]) -> SchemaState:
    """Return the schema with which the file was written. Raises StoreCorrupt, SchemaTooNew."""
    for each in values:
        match each.path, each.value:
            case ("oldfriend",), {
                "layout": int(layout),
                "schema": {"version": int(v), "name": str(name), "oldest_writer": int(oldest)},
            }:
                if layout > LAYOUT_VERSION:
                    raise SchemaTooNew(
                        f"{text.path} was written by a newer Oldfriend. Nothing was changed. "
                        "Update Oldfriend and start it again."
                    )
                return SchemaState(version=v, name=name, oldest_writer=oldest)
    raise text.build_error(
        0, 'it is no memory of Oldfriend: "oldfriend" with its schema is missing'
    )


def parse_rows(
    text: JsonText, values: list[ParsedValue], tables: Mapping[str, JsonTable]
) -> ParsedStore:
    """Return everything in the file as rows. Raises StoreCorrupt."""
    store = ParsedStore()
    by_section = {table.layout.name: table for table in tables.values()}
    for each in values:
        match each.path, each.value:
            case ("oldfriend" | "seal",), _:
                continue
            case ("for_search", "imprint", person, seq), str(value):
                store.terms[person, seq] = parse_stored_terms(text, each.offset, value)
            case ("users", person), {"user_id": whose, **_entries} if whose == person:
                add_row(text, store, tables["person"], each)
            case ("messages" | "summaries", person, ""), {"user_id": whose, **_entries} if (
                whose == person
            ):
                add_row(text, store, by_section[each.path[0]], each)
            case ("tables" | "for_search", name, ""), dict() if name in tables:
                add_row(text, store, tables[name], each)
            case _:
                raise text.build_error(
                    each.offset, f"nothing of this kind can stand under {format_path(each)}"
                )
    return store


def format_path(value: ParsedValue) -> str:
    """Return where a value is, by the names above it."""
    return " / ".join(name for name in value.path if name) or "the beginning"


def add_row(text: JsonText, store: ParsedStore, table: JsonTable, value: ParsedValue) -> None:
    """Parse a row and add it. Raises StoreCorrupt."""
    assert isinstance(value.value, dict)
    try:
        values = parse_row(table, value.value)
    except InvalidValue as error:
        raise text.build_error(value.offset, str(error)) from error
    derived_fields = {
        name: value.value[name] for name in table.layout.derived_fields if name in value.value
    }
    row = ParsedRow(values=values, derived_fields=derived_fields, offset=value.offset)
    store.rows.setdefault(table.name, []).append(row)


def parse_stored_terms(text: JsonText, offset: int, value: str) -> StoredTerms:
    """Parse the stored search terms of a message. Raises StoreCorrupt."""
    digest, _, imprint = value.partition(" ")
    try:
        return StoredTerms(digest=digest, imprint=parse_base64(imprint))
    except InvalidValue as error:
        raise text.build_error(offset, str(error)) from error
