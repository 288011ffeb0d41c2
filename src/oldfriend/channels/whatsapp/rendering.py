"""Rendering: turns Markdown into the few marks that WhatsApp knows.

WhatsApp has no escapes. A character of a text that it would take for a mark is shown as one that
looks alike, of the same length.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.tree import SyntaxTreeNode as Node

from oldfriend.channels.markdown_parts import RULE, build_markdown_parser, format_table
from oldfriend.channels.splitting import ReplySplitter, count_utf16_units
from oldfriend.domain.text_cache import text_lru_cache

MAX_TEXT_UNITS: Final = 4_096
"""The most characters of a text, with its marks."""
MARKS: Final = {"strong": "*", "em": "_", "s": "~"}
CODE_MARK: Final = "`"
BLOCK_MARK: Final = "```"
LOOK_ALIKES: Final = str.maketrans({"*": "\u2217", "_": "\u02cd", "~": "\u223c", "`": "\u02cb"})
OPENING_MARK: Final = re.compile(r"(?<!\w)[*_~](?=\S)|(?<=\S)[*_~](?!\w)|`")
"""A character that may open or close marked text, by what stands beside it."""
WORD: Final = re.compile(r"\S+")
ADDRESS_SIGN: Final = "://"
"""What an address of the web contains, which must stay as it is."""
INDENT: Final = "  "
CACHE_SIZE: Final = 64
"""Texts; a reply is rendered when it is split and when it is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppText:
    """A text with WhatsApp's marks, and as people see it."""

    text: str
    visible: str


@text_lru_cache(CACHE_SIZE)
def render(markdown: str) -> WhatsAppText:
    """Render Markdown for WhatsApp; marks that make a text too long are left out."""
    rendered = render_blocks(Node(build_markdown_parser().parse(markdown)).children)
    if count_utf16_units(rendered.text) > MAX_TEXT_UNITS >= count_utf16_units(rendered.visible):
        return render_plain(rendered.visible)
    return rendered


def get_shown_text(markdown: str) -> str:
    """Return what is sent to show Markdown; its marks count, too."""
    return render(markdown).text


SPLITTER: Final = ReplySplitter(get_shown_text, MAX_TEXT_UNITS - 2 * (len(BLOCK_MARK) + 1))
"""It leaves room for the marks of a block of code."""


def render_text(text: str, *, is_markdown: bool) -> str:
    """Return what is sent to show Markdown, or a text as it stands."""
    return get_shown_text(text) if is_markdown else render_plain(text).text


def render_plain(text: str) -> WhatsAppText:
    """Render a text without marks, so that WhatsApp finds none in it."""
    return WhatsAppText(text=WORD.sub(lambda found: replace_marks(found[0]), text), visible=text)


def replace_marks(word: str) -> str:
    """Replace the characters of a word that might mark it; an address stays as it is."""
    if ADDRESS_SIGN in word:
        return word
    return OPENING_MARK.sub(lambda found: found[0].translate(LOOK_ALIKES), word)


def render_blocks(nodes: Sequence[Node], *, indent: str = "") -> WhatsAppText:
    """Render block elements, separated by empty lines."""
    blocks = [render_block(node, indent=indent) for node in nodes]
    return join_rendered([each for each in blocks if each.visible], "\n\n")


def render_block(node: Node, *, indent: str) -> WhatsAppText:
    """Render a block."""
    match node.type:
        case "paragraph":
            return render_inline(node.children, indent=indent)
        case "heading":
            return mark(render_inline(node.children), MARKS["strong"])
        case "bullet_list" | "ordered_list":
            return render_list(node, indent=indent)
        case "blockquote":
            return prefix_lines(render_blocks(node.children), "> ")
        case "fence" | "code_block":
            return render_code_block(node.content.rstrip("\n"))
        case "table":
            return render_code_block(format_table(node, get_inline_text))
        case "hr":
            return render_plain(RULE)
        case _:
            return render_inline([node])


def render_list(node: Node, *, indent: str) -> WhatsAppText:
    """Render a list, each item after its marker; nested lists are indented."""
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    items = []
    for index, item in enumerate(node.children):
        marker = f"{indent}- " if first is None else f"{indent}{first + index}. "
        blocks = [render_block(each, indent=indent + INDENT) for each in item.children]
        content = join_rendered([each for each in blocks if each.visible], "\n")
        items.append(
            WhatsAppText(text=f"{marker}{content.text}", visible=f"{marker}{content.visible}")
        )
    return join_rendered(items, "\n")


def render_code_block(code: str) -> WhatsAppText:
    """Render code as a block of its own."""
    if not code.strip():
        return render_plain(code)
    text = code.replace(BLOCK_MARK, BLOCK_MARK.translate(LOOK_ALIKES))
    return WhatsAppText(text=f"{BLOCK_MARK}\n{text}\n{BLOCK_MARK}", visible=code)


def get_inline_text(nodes: Sequence[Node]) -> str:
    """Return what people see of inline elements."""
    return render_inline(nodes).visible


def render_inline(nodes: Sequence[Node], *, indent: str = "") -> WhatsAppText:
    """Render inline elements; WhatsApp knows no marks beside a letter, so none are made there."""
    spans = [render_span(node, indent=indent) for node in nodes]
    texts = []
    for index, (node, span) in enumerate(zip(nodes, spans, strict=True)):
        before = spans[index - 1].visible[-1:] if index else ""
        after = spans[index + 1].visible[:1] if index + 1 < len(spans) else ""
        is_marked = node.type in MARKS or node.type == "code_inline"
        is_within_word = is_marked and (is_word(before) or is_word(after))
        texts.append(render_plain(span.visible).text if is_within_word else span.text)
    return WhatsAppText(text="".join(texts), visible="".join(each.visible for each in spans))


def is_word(character: str) -> bool:
    """Tell whether there is a character, and one that belongs to words."""
    return character.isalnum() or character == "_"


def render_span(node: Node, *, indent: str) -> WhatsAppText:
    """Render an inline element."""
    match node.type:
        case "inline":
            return render_inline(node.children, indent=indent)
        case "softbreak" | "hardbreak":
            return render_plain(f"\n{indent}")
        case "code_inline":
            code = node.content.translate({ord(CODE_MARK): LOOK_ALIKES[ord(CODE_MARK)]})
            has_code = bool(code.strip())
            text = f"{CODE_MARK}{code}{CODE_MARK}" if has_code else code
            return WhatsAppText(text=text, visible=node.content)
        case "image":
            return render_plain(node.content or str(node.attrs.get("src", "")))
        case "link":
            return render_link(render_inline(node.children), str(node.attrs.get("href", "")))
        case "strong" | "em" | "s" as kind:
            return mark(render_inline(node.children), MARKS[kind])
        case _:
            return render_plain(node.content)


def render_link(content: WhatsAppText, url: str) -> WhatsAppText:
    """Render a link as its words and its address."""
    if not content.visible.strip() or content.visible == url:
        return render_plain(url)
    return join_rendered([content, WhatsAppText(text=f" ({url})", visible=f" ({url})")], "")


def mark(content: WhatsAppText, character: str) -> WhatsAppText:
    """Mark each line of a content, since no mark goes beyond a line."""
    lines = [
        f"{character}{line}{character}" if line.strip() == line != "" else line
        for line in content.text.split("\n")
    ]
    return WhatsAppText(text="\n".join(lines), visible=content.visible)


def prefix_lines(content: WhatsAppText, prefix: str) -> WhatsAppText:
    """Begin each line of a content with a prefix."""
    text = "\n".join(f"{prefix}{line}" for line in content.text.split("\n"))
    return WhatsAppText(text=text, visible=content.visible)


def join_rendered(parts: Sequence[WhatsAppText], separator: str) -> WhatsAppText:
    """Join rendered texts."""
    return WhatsAppText(
        text=separator.join(part.text for part in parts),
        visible=separator.join(part.visible for part in parts),
    )
