"""How does a reply look on Telegram? Markdown becomes the few HTML tags that Telegram knows.

What is open at the end of a text is shown as it stands, and nothing that a text holds is ever
taken for a tag. Knows nothing of messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import zip_longest
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node

from oldfriend.domain.remembered import remembered

TAG_OF: Final = {"strong": "b", "em": "i", "s": "s"}
REACHABLE: Final = ("http://", "https://")
"""Where a link may lead; tg:// could name people behind an innocent word."""
BULLET: Final = "\u2022"
RULE: Final = "\u2014\u2014\u2014"
INDENT: Final = "   "
BETWEEN_CELLS: Final = " \u2502 "
LOOKED_AT_AGAIN: Final = 64
"""A reply is rendered when it is cut, when it is sent, and at the end of its draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A text as Telegram takes it, and as people see it."""

    html: str
    visible: str

    @property
    def units(self) -> int:
        """How long it is, in the units that Telegram counts."""
        return utf16_length(self.visible)


def utf16_length(text: str) -> int:
    """How many UTF-16 code units a text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@remembered(LOOKED_AT_AGAIN)
def render(markdown: str) -> Rendered:
    """A text in Markdown, for Telegram. Never fails, whatever the text."""
    return blocks(Node(parser().parse(markdown)).children)


@cache
def parser() -> MarkdownIt:
    """Reads what models write: CommonMark, tables and strikethrough; no HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def blocks(nodes: Sequence[Node], *, indent: str = "", is_quoted: bool = False) -> Rendered:
    """Paragraphs, lists, code and the like, an empty line between them."""
    shown = [block(node, indent=indent, is_quoted=is_quoted) for node in nodes]
    return joined([each for each in shown if each.visible], "\n\n")


def block(node: Node, *, indent: str, is_quoted: bool) -> Rendered:
    """One of them. Within a quotation Telegram takes no other block, so its tag is left out."""
    match node.type:
        case "paragraph":
            return inline(node.children, indent=indent)
        case "heading":
            return tagged("b", inline(node.children, is_marked=True))
        case "bullet_list" | "ordered_list":
            return listed(node, indent=indent, is_quoted=is_quoted)
        case "blockquote":
            words = blocks(node.children, is_quoted=True)
            return words if is_quoted else tagged("blockquote", words)
        case "fence" | "code_block":
            return code(node, is_quoted=is_quoted)
        case "table":
            lines = plain(lines_of(node))
            return lines if is_quoted else tagged("pre", lines)
        case "hr":
            return plain(RULE)
        case _:
            return inline([node])


def listed(node: Node, *, indent: str, is_quoted: bool) -> Rendered:
    """The items of a list, each behind its mark; lists in it are indented."""
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    items = []
    for place, item in enumerate(node.children):
        mark = f"{BULLET} " if first is None else f"{first + place}. "
        within = [
            in_item(each, nth, indent=indent + INDENT, is_quoted=is_quoted)
            for nth, each in enumerate(item.children)
        ]
        items.append(joined([plain(indent + mark), joined(within, "\n")], ""))
    return joined(items, "\n")


def in_item(node: Node, nth: int, *, indent: str, is_quoted: bool) -> Rendered:
    """A block within an item; a further paragraph stands below the first."""
    shown = block(node, indent=indent, is_quoted=is_quoted)
    return joined([plain(indent), shown], "") if nth and node.type == "paragraph" else shown


def code(node: Node, *, is_quoted: bool) -> Rendered:
    """A block of code, with its language where it is named."""
    text = plain(node.content.rstrip("\n"))
    words = node.info.split() if node.type == "fence" else []
    if is_quoted or not text.visible:
        return text
    if not words:
        return tagged("pre", text)
    html = f'<pre><code class="language-{escape(words[0])}">{text.html}</code></pre>'
    return Rendered(html=html, visible=text.visible)


def lines_of(table: Node) -> str:
    """A table in letters of one width, a column below itself."""
    rows = [
        [inline(cell.children).visible for cell in row.children]
        for part in table.children
        for row in part.children
    ]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = [
        BETWEEN_CELLS.join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def inline(nodes: Sequence[Node], *, indent: str = "", is_marked: bool = False) -> Rendered:
    """Words, and how they are marked."""
    return joined([word(node, indent=indent, is_marked=is_marked) for node in nodes], "")


def word(node: Node, *, indent: str, is_marked: bool) -> Rendered:
    """Some words. Telegram takes no code within what is marked otherwise."""
    match node.type:
        case "inline":
            return inline(node.children, indent=indent, is_marked=is_marked)
        case "softbreak" | "hardbreak":
            return plain(f"\n{indent}")
        case "code_inline":
            text = plain(node.content)
            return text if is_marked else tagged("code", text)
        case "image":
            return plain(node.content or str(node.attrs.get("src", "")))
        case "link":
            words = inline(node.children, indent=indent, is_marked=True)
            return linked(words, str(node.attrs.get("href", "")))
        case "strong" | "em" | "s" as kind:
            words = inline(node.children, indent=indent, is_marked=True)
            return tagged(TAG_OF[kind], words)
        case _:
            return plain(node.content)


def linked(words: Rendered, address: str) -> Rendered:
    """Words that lead to a place outside; any other link is shown as it was written."""
    if not address.lower().startswith(REACHABLE):
        return joined([plain("["), words, plain(f"]({address})")], "")
    if not words.visible.strip():
        return words
    html = f'<a href="{escape(address)}">{words.html}</a>'
    return Rendered(html=html, visible=words.visible)


def plain(text: str) -> Rendered:
    """Words without any mark."""
    return Rendered(html=escape(text, quote=False), visible=text)


def tagged(tag: str, words: Rendered) -> Rendered:
    """Words with a mark; nothing where there are none."""
    if not words.visible.strip():
        return words
    return Rendered(html=f"<{tag}>{words.html}</{tag}>", visible=words.visible)


def joined(parts: Sequence[Rendered], between: str) -> Rendered:
    """Several as one."""
    return Rendered(
        html=between.join(part.html for part in parts),
        visible=between.join(part.visible for part in parts),
    )
