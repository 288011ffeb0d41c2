"""How is a long text cut into pieces that can be found and quoted?

Paragraphs are kept whole and put together up to a size; a longer one is cut into windows that
overlap, so that no sentence is lost at a cut (ACCEPTANCE O2).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_CHUNK: Final = 2000
WINDOW: Final = 1500
OVERLAP: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a text and the line where it begins."""

    line: int
    text: str


def chunks_of(lines: Iterable[tuple[int, str]]) -> Iterator[Chunk]:
    """The pieces of a text given as numbered lines, in order."""
    held: Chunk | None = None
    for paragraph in paragraphs_of(lines):
        if held is not None and len(held.text) + 2 + len(paragraph.text) <= LONGEST_CHUNK:
            held = Chunk(line=held.line, text=f"{held.text}\n\n{paragraph.text}")
            continue
        if held is not None:
            yield from windows_of(held)
        held = paragraph
    if held is not None:
        yield from windows_of(held)


def paragraphs_of(lines: Iterable[tuple[int, str]]) -> Iterator[Chunk]:
    """What stands between blank lines; what has none for very long is cut at a line's end."""
    start, gathered, length = 0, list[str](), 0
    for number, line in lines:
        if line.strip() and length < 10 * LONGEST_CHUNK:
            start = start if gathered else number
            gathered.append(line)
            length += len(line)
            continue
        if gathered:
            yield Chunk(line=start, text="\n".join(gathered))
        start, gathered = number, [line] if line.strip() else []
        length = len(line)
    if gathered:
        yield Chunk(line=start, text="\n".join(gathered))


def windows_of(chunk: Chunk) -> Iterator[Chunk]:
    """The chunk itself, or windows over it when it is too long."""
    if len(chunk.text) <= LONGEST_CHUNK:
        yield chunk
        return
    for start in range(0, len(chunk.text) - OVERLAP, WINDOW - OVERLAP):
        yield Chunk(line=chunk.line, text=chunk.text[start : start + WINDOW])
