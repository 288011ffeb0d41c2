"""Where is a reply cut that is longer than Telegram takes? Between paragraphs, if that is possible.

What is cut stays Markdown, and each part looks as it did within the whole: nothing that is marked
is cut in two, and code that must be cut goes on as code. A part is never cut again.
"""

import re
from collections.abc import Iterator
from typing import Final

from markdown_it.token import Token

from oldfriend.channels.telegram.rendering import parser, render, utf16_length

MOST_UNITS: Final = 4_096
"""UTF-16 code units of what people see in one message."""
BREAKS: Final = (
    re.compile(r"\n"),
    re.compile("(?<=[.!?\u2026]) |(?<=[\u3002\uff01\uff1f])"),
    re.compile(" "),
)
"""Where a paragraph is cut, the better places first: lines, sentences, words."""
TRIES: Final = 40
MARK: Final = re.compile(r"[!-/:-@\[-`{-~]")


def split(markdown: str, *, most: int = MOST_UNITS) -> list[str]:
    """The parts of a text, in order; none for a text in which nothing is to be seen."""
    if fits(markdown, most):
        return [markdown] if render(markdown).visible.strip() else []
    parts: list[str] = []
    for piece in pieces_of(markdown, most):
        if parts and fits(f"{parts[-1]}\n\n{piece}", most):
            parts[-1] = f"{parts[-1]}\n\n{piece}"
        else:
            parts.append(piece)
    return [part for part in parts if render(part).visible.strip()]


def fits(markdown: str, most: int) -> bool:
    """Whether a text can be one message."""
    return render(markdown).units <= most


def pieces_of(markdown: str, most: int) -> Iterator[str]:
    """The blocks of a text; those that are too long, cut."""
    lines = markdown.split("\n")
    for first, last in places_of_blocks(markdown):
        block = "\n".join(lines[first:last]).strip("\n")
        if fits(block, most):
            yield block
        elif (fence := fence_in(block)) is not None:
            yield from cut_code(fence, most)
        else:
            yield from cut(block, most)


def places_of_blocks(markdown: str) -> list[tuple[int, int]]:
    """From which line to which each block reaches, the lines between them included."""
    begins = [token.map[0] for token in parser().parse(markdown) if token.map and is_block(token)]
    ends = [*begins[1:], len(markdown.split("\n"))]
    return list(zip([0, *begins[1:]], ends, strict=True)) if begins else [(0, ends[-1])]


def is_block(token: Token) -> bool:
    """Whether a block that is in no other begins here."""
    return token.level == 0 and token.nesting >= 0


def fence_in(block: str) -> Token | None:
    """The block of code that a text is, if it is nothing else."""
    tokens = parser().parse(block)
    is_code = len(tokens) == 1 and tokens[0].type in {"fence", "code_block"}
    return tokens[0] if is_code else None


def cut_code(code: Token, most: int) -> Iterator[str]:
    """A block of code as several, cut between lines; only a line that is too long is cut."""
    fence = code.markup or "```"
    taken: list[str] = []
    for line in [part for each in code.content.split("\n") for part in cut_hard(each, most)]:
        if taken and utf16_length("\n".join([*taken, line])) > most:
            yield fenced(taken, fence, code.info)
            taken = []
        taken.append(line)
    if any(line.strip() for line in taken):
        yield fenced(taken, fence, code.info)


def fenced(lines: list[str], fence: str, info: str) -> str:
    """Lines as a block of code."""
    return "\n".join([f"{fence}{info}", *lines, fence])


def cut(block: str, most: int) -> Iterator[str]:
    """A block as several; what is marked all along loses its marks."""
    while not fits(block, most):
        place = place_to_cut(block, most)
        if place is None:
            yield from map(unmarked, cut_words(render(block).visible, most))
            return
        yield block[:place].rstrip()
        block = block[place:].lstrip(" \n")
    if block:
        yield block.rstrip()


def place_to_cut(block: str, most: int) -> int | None:
    """The last place within the first message at which nothing that is marked is cut in two."""
    whole = words_of(block)
    for expression in BREAKS:
        places = [found.end() for found in expression.finditer(block, 1, reach(block, most))]
        for place in places[: -TRIES - 1 : -1]:
            first, rest = block[:place], block[place:].lstrip(" \n")
            if fits(first, most) and words_of(first) + words_of(rest) == whole:
                return place
    return None


def reach(block: str, most: int) -> int:
    """How much of a block's source to look at: what is seen of it may be shorter, by its marks."""
    spare = max(len(block) - len(render(block).visible), 0)
    return min(len(block), most + spare)


def words_of(markdown: str) -> str:
    """What is seen of a text, whatever stands between the words."""
    return "".join(render(markdown).visible.split())


def unmarked(text: str) -> str:
    """Words in Markdown that are shown as they stand."""
    return MARK.sub(r"\\\g<0>", text)


def cut_words(text: str, most: int) -> Iterator[str]:
    """Plain words in pieces of so many units, cut between words where there are any."""
    while utf16_length(text) > most:
        first = cut_hard(text, most)[0]
        place = max(first.rfind(" "), first.rfind("\n")) + 1 or len(first)
        yield text[:place].rstrip()
        text = text[place:].lstrip(" \n")
    if text:
        yield text


def cut_hard(text: str, most: int) -> list[str]:
    """A text in pieces of so many units, never within a character."""
    if utf16_length(text) <= most:
        return [text]
    pieces, taken, units = [], 0, 0
    for place, character in enumerate(text):
        width = 2 if character > "\uffff" else 1
        if units + width > most:
            pieces.append(text[taken:place])
            taken, units = place, 0
        units += width
    return [*pieces, text[taken:]]
