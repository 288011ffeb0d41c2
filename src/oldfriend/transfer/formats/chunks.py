"""Text chunks: long texts split into pieces that can be found and quoted.

Whole paragraphs are joined up to a size limit. A longer paragraph is split into overlapping
windows, so that no sentence is lost at a cut.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

MAX_CHUNK_CHARS: Final = 2000
WINDOW_CHARS: Final = 1500
OVERLAP_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk:
    """A chunk of a text and the line where it begins."""

    line: int
    text: str


def split_chunks(lines: Iterable[tuple[int, str]]) -> Iterator[TextChunk]:
    """Yield the chunks of a text, given as numbered lines, in order."""
    pending: TextChunk | None = None
    for paragraph in split_paragraphs(lines):
        if pending is not None and len(pending.text) + 2 + len(paragraph.text) <= MAX_CHUNK_CHARS:
            pending = TextChunk(line=pending.line, text=f"{pending.text}\n\n{paragraph.text}")
            continue
        if pending is not None:
            yield from split_windows(pending)
        pending = paragraph
    if pending is not None:
        yield from split_windows(pending)


def split_paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[TextChunk]:
    """Yield the paragraphs between blank lines; a very long one is split at a line end."""
    start, gathered, length = 0, list[str](), 0
    for number, line in lines:
        if line.strip() and length < 10 * MAX_CHUNK_CHARS:
            start = start if gathered else number
            gathered.append(line)
            length += len(line)
            continue
        if gathered:
            yield TextChunk(line=start, text="\n".join(gathered))
        start, gathered = number, [line] if line.strip() else []
        length = len(line)
    if gathered:
        yield TextChunk(line=start, text="\n".join(gathered))


def split_windows(chunk: TextChunk) -> Iterator[TextChunk]:
    """Yield the chunk itself, or overlapping windows of it if it is too long."""
    if len(chunk.text) <= MAX_CHUNK_CHARS:
        yield chunk
        return
    for start in range(0, len(chunk.text) - OVERLAP_CHARS, WINDOW_CHARS - OVERLAP_CHARS):
        yield TextChunk(line=chunk.line, text=chunk.text[start : start + WINDOW_CHARS])
