"""Stored table: whose its rows are, what they hold, how they are erased, exported, replayed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from oldfriend.db.database import SqlValue

ColumnKind = Literal[
    "words",  # text in which words of a person may stand
    "name",  # a name, title or address
    "text",  # ids, marks and the like: no words of a person
    "code",  # text of a fixed choice, in which a name may occur by chance, such as Paris in a zone
    "int",
    "real",
    "packed",  # references to messages and beliefs as bytes
    "terms",  # what search keeps of a text, which can be computed again
    "bytes",
    "file",  # a whole file, of 20 MB at most
]
RowOwner = Literal["message", "version", "belief", "reply"]
"""What a row may belong to: a message (by seq), one of its versions, a belief, or a reply."""


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column: what it holds, and whether it may be NULL."""

    kind: ColumnKind
    is_nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureRule:
    """What becomes of the rows of a table in which deleted words, names or ids stand."""

    searched: tuple[str, ...]  # the columns in which they are looked for
    names_only: bool = False  # look for deleted names, not for words
    with_request: bool = False  # look for the words of the request, too, also if they are no names
    cites: str | None = None  # a column with a list of ids in JSON, where ids are looked for
    replace: Mapping[str, str] = field(default_factory=dict)  # new values as SQL; empty: delete
    newest_of: tuple[str, ...] = ()  # of the versions that share these, the newest stays
    goes_with_everything: bool = False  # every row goes when a person forgets everything


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """A table: its columns, whose its rows are, and how they are erased, exported and replayed."""

    name: str
    columns: Mapping[str, StoredColumn]  # in the order of exports
    key_columns: tuple[str, ...] = ("id",)  # the order of exported rows
    person_column: str | None = "person"
    goes_with: Mapping[RowOwner, tuple[str, ...]] = field(
        default_factory=dict
    )  # rows are deleted with what these columns name
    erasure_rules: tuple[ErasureRule, ...] = ()
    erased_by: str = ""  # the function that removes deleted words, where a rule cannot
    stays: str = ""  # why words in it are not erased
    not_exported: str = ""  # why it is not in an export; empty: it is
    not_replayed: str = ""  # why a replay leaves it out; empty: it is copied
    is_journal: bool = False  # copied by a replay only where earlier decisions stay
    defaults: Mapping[str, SqlValue] = field(
        default_factory=dict
    )  # for columns that older exports lack
    former_names: Mapping[str, str] = field(default_factory=dict)  # the names in older exports
    merged: frozenset[str] = frozenset()  # columns that an export holds inside others


def parse_columns(text: str) -> Mapping[str, StoredColumn]:
    """Parse "name kind, name kind?, …", where ? marks a column that may be NULL."""
    known: dict[str, ColumnKind] = {each: each for each in get_args(ColumnKind)}
    pairs = (part.split() for part in text.split(","))
    return MappingProxyType(
        {name: StoredColumn(known[kind.rstrip("?")], kind.endswith("?")) for name, kind in pairs}
    )
