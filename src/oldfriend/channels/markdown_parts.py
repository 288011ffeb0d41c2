"""Markdown parts: what channels make alike of Markdown, whatever the platform."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node

RULE: Final = "\u2014\u2014\u2014"
CELL_SEPARATOR: Final = " \u2502 "
LIST_MARK: Final = "\u2022"
BREAKS: Final = frozenset({"softbreak", "hardbreak"})
BIDI_CONTROLS: Final = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")
"""Characters that turn around what is read: in the words of a link, shown harmlessly."""


@cache
def build_markdown_parser() -> MarkdownIt:
    """Build a parser for what models write: CommonMark, tables and strikethrough; no HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def format_table(table: Node, get_shown_text: Callable[[Sequence[Node]], str]) -> str:
    """Format a table as monospaced text with aligned columns, of what people see of each cell."""
    rows = [
        [get_shown_text(cell.children) for cell in row.children]
        for part in table.children
        for row in part.children
    ]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = [
        CELL_SEPARATOR.join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def strip_markdown(text: str) -> str:
    """Return the words that people see of Markdown, without its signs or the addresses of links."""
    parser = build_markdown_parser()
    return "\n".join(_list_block_texts(Node(parser.parse(text)).children)).strip()


def _list_block_texts(blocks: Sequence[Node]) -> Iterator[str]:
    """List what is seen of each block, without those that hold nothing."""
    for block in blocks:
        if block.type == "table":
            yield format_table(block, _get_inline_text)
        elif block.type == "inline" or not block.is_nested:
            yield from filter(None, [_get_inline_text([block]).rstrip("\n")])
        elif block.type in {"bullet_list", "ordered_list"}:
            first = int(block.attrs.get("start", 1))
            for number, item in enumerate(block.children, start=first):
                mark = f"{number}{item.markup}" if block.type == "ordered_list" else LIST_MARK
                yield f"{mark} {' '.join(_list_block_texts(item.children))}"
        else:
            yield from _list_block_texts(block.children)


def _get_inline_text(nodes: Sequence[Node]) -> str:
    """Return what people see of inline elements."""
    return "".join(
        "\n" if node.type in BREAKS else _get_inline_text(node.children) or node.content
        for node in nodes
    )
