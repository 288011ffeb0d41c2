"""Splitting: cuts a reply that exceeds a platform's limit, between paragraphs if possible.

Each part is valid Markdown and looks as it did in the whole: marked text is not cut in two, and
code that must be cut goes on as code. Splitting a part again returns it unchanged.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

from oldfriend.channels.markdown_parts import build_markdown_parser

PARAGRAPH_BREAK: Final = "\n\n"
SPLIT_PATTERNS: Final = (
    re.compile(r"\n"),
    re.compile("(?<=[.!?\u2026]) |(?<=[\u3002\uff01\uff1f])"),
    re.compile(" "),
)
"""Where a paragraph is split, the better places first: lines, sentences, words."""
MAX_TRIES: Final = 10
"""How many of the last places of each kind are tried."""
MAX_MARKDOWN_CHARS: Final = 16_000
"""Characters of a reply that are parsed as Markdown, which is slow; a longer one is plain text."""
WINDOW_MESSAGES: Final = 3
"""How many messages ahead markup is looked at."""
MARKDOWN_PUNCTUATION: Final = re.compile(r"[!-/:-@\[-`{-~]")


def count_utf16_units(text: str) -> int:
    """Return the number of UTF-16 code units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True, slots=True)
class ReplySplitter:
    """Splits replies for a platform that shows Markdown in its own way."""

    get_shown_text: Callable[[str], str]  # the text that people see of Markdown
    max_units: int  # UTF-16 code units of what people see in one message

    def split(self, text: str, *, is_markdown: bool) -> list[str]:
        """Return the parts of a text, in order; none for a text that shows nothing."""
        if is_markdown:
            return self._split_markdown(text)
        return [part for part in split_words(text.strip(), self.max_units) if part.strip()]

    def fits(self, markdown: str) -> bool:
        """Tell whether a text fits into one message."""
        return count_utf16_units(self.get_shown_text(markdown)) <= self.max_units

    def _split_markdown(self, markdown: str) -> list[str]:
        if len(markdown) > MAX_MARKDOWN_CHARS:
            words = split_words(markdown.strip(), self.max_units)
            return [escape_markdown(piece) for piece in words]
        if self.fits(markdown):
            return [markdown] if self.get_shown_text(markdown).strip() else []
        parts: list[list[str]] = []
        left = 0
        for piece in self._list_pieces(markdown):
            units = count_utf16_units(self.get_shown_text(piece)) + len(PARAGRAPH_BREAK)
            if units > left:
                parts.append([])
                left = self.max_units + len(PARAGRAPH_BREAK)
            parts[-1].append(piece)
            left -= units
        joined = (PARAGRAPH_BREAK.join(pieces) for pieces in parts)
        return [part for part in joined if self.get_shown_text(part).strip()]

    def _list_pieces(self, markdown: str) -> Iterator[str]:
        """Yield the blocks of a text; those that are too long, split."""
        lines = markdown.split("\n")
        for first, last in find_block_ranges(markdown):
            block = "\n".join(lines[first:last]).strip("\n")
            if self.fits(block):
                yield block
            elif (fence := find_fence(block)) is not None:
                yield from split_code(fence, self.max_units)
            else:
                yield from self._split_block(block)

    def _split_block(self, block: str) -> Iterator[str]:
        """Split a block; one that is marked up throughout loses its markup."""
        while not self.fits(block):
            position = self._find_split_point(block)
            if position is None:
                yield from map(
                    escape_markdown, split_words(self.get_shown_text(block), self.max_units)
                )
                return
            yield block[:position].rstrip()
            block = block[position:].lstrip(" \n")
        if block:
            yield block.rstrip()

    def _find_split_point(self, block: str) -> int | None:
        """Return the last position within the first message that cuts no marked text in two."""
        block = block[: WINDOW_MESSAGES * self.max_units]
        whole = self.get_visible_words(block)
        for pattern in SPLIT_PATTERNS:
            positions = [
                found.end() for found in pattern.finditer(block, 1, self._get_search_end(block))
            ]
            for position in positions[: -MAX_TRIES - 1 : -1]:
                first, rest = block[:position], block[position:].lstrip(" \n")
                if not self.fits(first) or not whole.startswith(
                    words := self.get_visible_words(first)
                ):
                    continue
                if words + self.get_visible_words(rest) == whole:
                    return position
        return None

    def _get_search_end(self, block: str) -> int:
        """Return how many source characters to search: the visible text may be shorter."""
        spare = max(len(block) - len(self.get_shown_text(block)), 0)
        return min(len(block), self.max_units + spare)

    def get_visible_words(self, markdown: str) -> str:
        """Return the visible text without whitespace."""
        return "".join(self.get_shown_text(markdown).split())


def find_block_ranges(markdown: str) -> list[tuple[int, int]]:
    """Return the line range of each block, with the empty lines that follow."""
    starts = [
        token.map[0]
        for token in build_markdown_parser().parse(markdown)
        if token.map and is_block(token)
    ]
    ends = [*starts[1:], len(markdown.split("\n"))]
    return list(zip([0, *starts[1:]], ends, strict=True)) if starts else [(0, ends[-1])]


def is_block(token: Token) -> bool:
    """Tell whether a top-level block begins at this token."""
    return token.level == 0 and token.nesting >= 0


def find_fence(block: str) -> Token | None:
    """Return the code block that a text consists of, if it is nothing else."""
    tokens = build_markdown_parser().parse(block)
    is_code = len(tokens) == 1 and tokens[0].type in {"fence", "code_block"}
    return tokens[0] if is_code else None


def split_code(code: Token, max_units: int) -> Iterator[str]:
    """Split a code block between lines; only a line that is too long is cut."""
    fence = code.markup or "```"
    chunk: list[str] = []
    for line in [part for each in code.content.split("\n") for part in split_hard(each, max_units)]:
        if chunk and count_utf16_units("\n".join([*chunk, line])) > max_units:
            yield format_fence(chunk, fence, code.info)
            chunk = []
        chunk.append(line)
    if any(line.strip() for line in chunk):
        yield format_fence(chunk, fence, code.info)


def format_fence(lines: list[str], fence: str, info: str) -> str:
    """Format lines as a fenced code block."""
    return "\n".join([f"{fence}{info}", *lines, fence])


def escape_markdown(text: str) -> str:
    """Escape text so that Markdown shows it as it stands."""
    return MARKDOWN_PUNCTUATION.sub(r"\\\g<0>", text)


def split_words(text: str, max_units: int) -> Iterator[str]:
    """Split plain text into pieces of at most ``max_units``, between words if possible."""
    while len(text) > max_units or count_utf16_units(text) > max_units:
        first = split_hard(text[: max_units + 1], max_units)[0]
        position = max(first.rfind(" "), first.rfind("\n")) + 1 or len(first)
        yield text[:position].rstrip()
        text = text[position:].lstrip(" \n")
    if text:
        yield text


def split_hard(text: str, max_units: int) -> list[str]:
    """Split a text into pieces of at most ``max_units``, never within a character."""
    if count_utf16_units(text) <= max_units:
        return [text]
    pieces, start, units = [], 0, 0
    for position, character in enumerate(text):
        width = 2 if character > "\uffff" else 1
        if units + width > max_units:
            pieces.append(text[start:position])
            start, units = position, 0
        units += width
    return [*pieces, text[start:]]
