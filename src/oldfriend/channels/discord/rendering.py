"""Discord rendering: Discord shows Markdown itself, but no tables, and 2,000 characters at most."""

from collections.abc import Iterator, Sequence
from typing import Final

from discord.utils import escape_markdown
from typing_extensions import override

from oldfriend.channels.markdown_parts import build_markdown_parser
from oldfriend.channels.splitting import (
    MAX_MARKDOWN_CHARS,
    ReplySplitter,
    count_utf16_units,
    split_hard,
    split_words,
)
from oldfriend.domain.text_cache import text_lru_cache

MAX_UNITS: Final = 2_000
"""UTF-16 code units of a message, with its markup."""
FENCE_UNITS: Final = 100
"""Left for the fence of code that goes on in the next message."""
CACHE_SIZE: Final = 64


def render_text(text: str, *, is_markdown: bool) -> str:
    """Return a text as Discord shows it: Markdown, or the text as it stands."""
    return fence_tables(text) if is_markdown else escape_markdown(text)


@text_lru_cache(CACHE_SIZE)
def fence_tables(markdown: str) -> str:
    """Return Markdown with its tables as code, which keeps their columns apart."""
    lines, tokens = markdown.split("\n"), build_markdown_parser().parse(markdown)
    tables = [each.map for each in tokens if each.type == "table_open" and each.map]
    for first, last in reversed(tables):
        lines[first:last] = ["```", *lines[first:last], "```"]
    return "\n".join(lines)


@text_lru_cache(CACHE_SIZE)
def find_visible(markdown: str) -> str:
    """Return the words of Markdown without their markup."""
    tokens = build_markdown_parser().parse(markdown)
    return "".join(
        child.content
        for token in tokens
        for child in (token.children if token.children is not None else [token])
    )


class MarkdownSplitter(ReplySplitter):
    """Splits Markdown by the length of its source, and cuts no marked text in two."""

    @override
    def fits(self, markdown: str) -> bool:
        """Tell whether a text fits into one message."""
        return count_utf16_units(self.get_shown_text(markdown)) <= MAX_UNITS

    @override
    def get_visible_words(self, markdown: str) -> str:
        """Return the visible text without whitespace."""
        return "".join(find_visible(markdown).split())


SPLITTER: Final = MarkdownSplitter(get_shown_text=fence_tables, max_units=MAX_UNITS - FENCE_UNITS)


def split(text: str, *, is_markdown: bool) -> Sequence[str]:
    """Split a reply at Discord's limit; splitting a part again returns it unchanged."""
    if is_markdown and len(text) <= MAX_MARKDOWN_CHARS:
        return [
            piece for part in SPLITTER.split(text, is_markdown=True) for piece in cut_escaped(part)
        ]
    if is_markdown:  # too long to be parsed
        return [escape_markdown(part) for part in split(text, is_markdown=False)]
    return [part for part in split_plain(text.strip(), MAX_UNITS) if part.strip()]


def cut_escaped(part: str) -> Iterator[str]:
    """Cut a part that is too long with its markup, but not behind a backslash."""
    while not SPLITTER.fits(part):
        first = split_hard(part, MAX_UNITS)[0]
        first = first.removesuffix("\\") if len(first) > 1 else first
        yield first
        part = part[len(first) :]
    yield part


def split_plain(text: str, most: int) -> Iterator[str]:
    """Split a text so that each part fits once it is escaped."""
    for part in split_words(text, most):
        if count_utf16_units(escape_markdown(part)) <= MAX_UNITS:
            yield part
        else:
            yield from split_plain(part, most // 2)
