"""What may a draft be made of? Any text: notes, Markdown, tables, JSON, exports of chats.

Cut into pieces as imports are (ACCEPTANCE O1, O2). Nothing of it is kept. Knows no model.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import ImportRefused, InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.transfer.formats.chunks import chunks_of
from oldfriend.transfer.formats.detection import Export, find_format
from oldfriend.transfer.formats.parsed import ParsedMessage

MOST_PIECES: Final = 100
MOST_BYTES: Final = 10 << 20
"""Of a JSON file that is no export; it is read in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some of the material: all of it, and what of it are the person's own words."""

    source: str  # the name of a file
    line: int
    text: str
    own: str


def pieces_in(paths: Sequence[Path], *, me: str | None) -> list[Piece]:
    """The pieces of some files; of a chat, ``me`` says which speaker the person is.

    Raises ImportRefused for what is no text, InvalidInput for too much, and where it is not said
    who the person is.
    """
    return refuse_unfit([piece for path in paths for piece in pieces_of(path, me)])


def pieces_of_text(source: str, text: str) -> list[Piece]:
    """The pieces of a text that the person has written or chosen. Raises InvalidInput."""
    lines = enumerate(text.splitlines(keepends=True), start=1)
    found = [
        Piece(source=source, line=each.line, text=storable(each.text), own=storable(each.text))
        for each in chunks_of(lines) if each.text.strip()
    ]  # fmt: skip
    return refuse_unfit(found)


def refuse_unfit(pieces: list[Piece]) -> list[Piece]:
    """The pieces, where they are neither too many nor none. Raises InvalidInput."""
    if len(pieces) > MOST_PIECES:
        raise InvalidInput(saying(
            "draft_too_long",
            f"That is {len(pieces):,} pieces; a draft is made of at most {MOST_PIECES}. Choose "
            "fewer files, or the parts that tell most.",
            count=len(pieces), most=MOST_PIECES,
        ))  # fmt: skip
    if not pieces:
        raise InvalidInput(saying("draft_empty", "There are no words in it."))
    return pieces


def pieces_of(path: Path, me: str | None) -> Iterator[Piece]:
    """The pieces of one file."""
    try:
        export = find_format(path)
    except ImportRefused:
        if path.suffix.lower() != ".json" or not path.is_file():
            raise
        return pieces_of_json(path)
    if export.format.name in {"notes", "table"}:
        return (
            Piece(source=path.name, line=each.line, text=each.text, own=each.text)
            for each in messages_of(export)
        )
    return pieces_of_chat(path.name, [*messages_of(export)], me)


def messages_of(export: Export) -> Iterator[ParsedMessage]:
    """What stands in an export and was said."""
    messages = export.messages(lambda _: None)
    return (each for each in messages if not each.is_placeholder and each.text.strip())


def pieces_of_chat(
    source: str, messages: Sequence[ParsedMessage], me: str | None
) -> Iterator[Piece]:
    """A chat, line by line, each with who said it. Raises InvalidInput."""
    names = sorted({each.speaker for each in messages if each.role is None and each.speaker})
    if names and me not in names:
        raise InvalidInput(f"Say which speaker of {source} you are: --me NAME. {listing(names)}")
    for _, chat in groupby(messages, key=lambda each: each.chat):
        said = [(each, spoken(each)) for each in chat]
        for chunk in chunks_of((each.line, f"{line}\n") for each, line in said):
            own = [each.text for each, line in said if is_own(each, me) and line in chunk.text]
            text = storable(chunk.text)
            yield Piece(source=source, line=chunk.line, text=text, own=storable("\n".join(own)))


def listing(names: Sequence[str]) -> str:
    """Who speaks in a chat."""
    return f"There are: {', '.join(names[:20])}."


def spoken(message: ParsedMessage) -> str:
    """A message on one line, with who said it."""
    who = message.speaker or message.role or "somebody"
    return f"{who}: {' '.join(message.text.split())}"


def is_own(message: ParsedMessage, me: str | None) -> bool:
    """Whether the person has said it themselves."""
    is_by_me = message.role == "person" or (message.role is None and message.speaker == me)
    return is_by_me and not message.outside


def pieces_of_json(path: Path) -> Iterator[Piece]:
    """Any other JSON, each value on a line with what it is the value of. Raises ImportRefused."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ImportRefused(f"{path.name} is too large ({MOST_BYTES >> 20} MB fit).")
        value: JsonValue = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise ImportRefused(f"{path.name} cannot be read as JSON: {error}.") from error
    lines = enumerate(flattened(value), start=1)
    for chunk in chunks_of(lines):
        text = storable(chunk.text)
        yield Piece(source=path.name, line=chunk.line, text=text, own=text)


def flattened(value: JsonValue, name: str = "") -> Iterable[str]:
    """The values in a value, as "name: value"; those of each object of a list by themselves."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from flattened(inner, f"{name} {key}".strip())
        case list():
            for inner in value:
                yield from flattened(inner, name)
                yield ""
        case None:
            return
        case _:
            yield f"{name}: {value}" if name else str(value)
