"""Rendering: turns Markdown into the few HTML tags that Telegram supports.

Markup that is still open at the end of a text is shown as it stands, and nothing in a text is ever
taken for a tag.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from markdown_it.tree import SyntaxTreeNode as Node

from oldfriend.channels.markdown_parts import (
    BIDI_CONTROLS,
    RULE,
    build_markdown_parser,
    format_table,
)
from oldfriend.channels.splitting import ReplySplitter, count_utf16_units
from oldfriend.domain.text_cache import text_lru_cache

HTML_TAGS: Final = {"strong": "b", "em": "i", "s": "s"}
LINK_SCHEMES: Final = ("http://", "https://")
"""Schemes a link may have; a tg:// link could mention people behind an innocent word."""
BULLET: Final = "\u2022"
INDENT: Final = "   "
CACHE_SIZE: Final = 64
"""Texts; a reply is rendered when it is split, when it is sent, and at the end of its draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A text as HTML for Telegram, and as people see it."""

    html: str
    visible: str

    @property
    def units(self) -> int:
        """Return the visible length in the units that Telegram counts."""
        return count_utf16_units(self.visible)


@text_lru_cache(CACHE_SIZE)
def render(markdown: str) -> Rendered:
    """Render Markdown for Telegram; never fails, whatever the text."""
    return render_blocks(Node(build_markdown_parser().parse(markdown)).children)


def get_shown_text(markdown: str) -> str:
    """Return what people see of Markdown."""
    return render(markdown).visible


SPLITTER: Final = ReplySplitter(get_shown_text, max_units=4_096)


def render_blocks(nodes: Sequence[Node], *, indent: str = "", is_quoted: bool = False) -> Rendered:
    """Render block elements, separated by empty lines."""
    blocks = [render_block(node, indent=indent, is_quoted=is_quoted) for node in nodes]
    return join_rendered([each for each in blocks if each.visible], "\n\n")


def render_block(node: Node, *, indent: str, is_quoted: bool) -> Rendered:
    """Render a block; nested in a quotation, without its tag, since Telegram allows none there."""
    match node.type:
        case "paragraph":
            return render_inline(node.children, indent=indent)
        case "heading":
            return wrap_in_tag("b", render_inline(node.children, has_outer_tag=True))
        case "bullet_list" | "ordered_list":
            return render_list(node, indent=indent, is_quoted=is_quoted)
        case "blockquote":
            content = render_blocks(node.children, is_quoted=True)
            return content if is_quoted else wrap_in_tag("blockquote", content)
        case "fence" | "code_block":
            return render_code(node, is_quoted=is_quoted)
        case "table":
            table = render_plain(format_table(node, get_inline_text))
            return table if is_quoted else wrap_in_tag("pre", table)
        case "hr":
            return render_plain(RULE)
        case _:
            return render_inline([node])


def render_list(node: Node, *, indent: str, is_quoted: bool) -> Rendered:
    """Render a list, each item after its marker; nested lists are indented."""
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    items = []
    for index, item in enumerate(node.children):
        marker = f"{BULLET} " if first is None else f"{first + index}. "
        blocks = [
            render_item_block(each, nth, indent=indent + INDENT, is_quoted=is_quoted)
            for nth, each in enumerate(item.children)
        ]
        items.append(
            join_rendered([render_plain(indent + marker), join_rendered(blocks, "\n")], "")
        )
    return join_rendered(items, "\n")


def render_item_block(node: Node, index: int, *, indent: str, is_quoted: bool) -> Rendered:
    """Render a block of a list item; a further paragraph goes below the first."""
    block = render_block(node, indent=indent, is_quoted=is_quoted)
    return (
        join_rendered([render_plain(indent), block], "")
        if index and node.type == "paragraph"
        else block
    )


def render_code(node: Node, *, is_quoted: bool) -> Rendered:
    """Render a code block, with its language if it is named."""
    text = render_plain(node.content.rstrip("\n"))
    info = node.info.split() if node.type == "fence" else []
    if is_quoted or not text.visible:
        return text
    if not info:
        return wrap_in_tag("pre", text)
    html = f'<pre><code class="language-{escape(info[0])}">{text.html}</code></pre>'
    return Rendered(html=html, visible=text.visible)


def get_inline_text(nodes: Sequence[Node]) -> str:
    """Return what people see of inline elements."""
    return render_inline(nodes).visible


def render_inline(
    nodes: Sequence[Node], *, indent: str = "", has_outer_tag: bool = False
) -> Rendered:
    """Render inline elements."""
    return join_rendered(
        [render_span(node, indent=indent, has_outer_tag=has_outer_tag) for node in nodes], ""
    )


def render_span(node: Node, *, indent: str, has_outer_tag: bool) -> Rendered:
    """Render an inline element; Telegram allows no code inside other markup."""
    match node.type:
        case "inline":
            return render_inline(node.children, indent=indent, has_outer_tag=has_outer_tag)
        case "softbreak" | "hardbreak":
            return render_plain(f"\n{indent}")
        case "code_inline":
            text = render_plain(node.content)
            return text if has_outer_tag else wrap_in_tag("code", text)
        case "image":
            return render_plain(node.content or str(node.attrs.get("src", "")))
        case "link":
            content = render_inline(node.children, indent=indent, has_outer_tag=True)
            return render_link(content, str(node.attrs.get("href", "")))
        case "strong" | "em" | "s" as kind:
            content = render_inline(node.children, indent=indent, has_outer_tag=True)
            return wrap_in_tag(HTML_TAGS[kind], content)
        case _:
            return render_plain(node.content)


def render_link(content: Rendered, url: str) -> Rendered:
    """Render a web link; any other link is shown as it was written."""
    if not url.lower().startswith(LINK_SCHEMES):
        return join_rendered([render_plain("["), content, render_plain(f"]({url})")], "")
    if not content.visible.strip():
        return content
    html, visible = content.html.translate(BIDI_CONTROLS), content.visible.translate(BIDI_CONTROLS)
    return Rendered(html=f'<a href="{escape(url)}">{html}</a>', visible=visible)


def render_text(text: str, *, is_markdown: bool) -> Rendered:
    """Render Markdown, or a text as it stands."""
    return render(text) if is_markdown else render_plain(text)


def render_plain(text: str) -> Rendered:
    """Render text without markup."""
    return Rendered(html=escape(text, quote=False), visible=text)


def wrap_in_tag(tag: str, content: Rendered) -> Rendered:
    """Wrap content in a tag; blank content stays as it is."""
    if not content.visible.strip():
        return content
    return Rendered(html=f"<{tag}>{content.html}</{tag}>", visible=content.visible)


def join_rendered(parts: Sequence[Rendered], separator: str) -> Rendered:
    """Join rendered texts."""
    return Rendered(
        html=separator.join(part.html for part in parts),
        visible=separator.join(part.visible for part in parts),
    )
