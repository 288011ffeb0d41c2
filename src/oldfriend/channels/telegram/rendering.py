"""Rendering: turns Markdown into the few HTML tags that Telegram supports.

Markup that is still open at the end of a text is shown as it stands, and nothing in a text is ever
taken for a tag.
"""

from dataclasses import replace
from html import escape
from typing import Final

from markdown_it.tree import SyntaxTreeNode as Node
from typing_extensions import override

from oldfriend.channels.markdown_parts import BIDI_CONTROLS
from oldfriend.channels.marked_text import MarkedText, MarkedTextRenderer, Place, join_marked
from oldfriend.channels.splitting import ReplySplitter
from oldfriend.domain.text_cache import text_lru_cache

HTML_TAGS: Final = {"strong": "b", "em": "i", "s": "s"}
LINK_SCHEMES: Final = ("http://", "https://")
"""Schemes a link may have; a tg:// link could mention people behind an innocent word."""
CACHE_SIZE: Final = 64
"""Texts; a reply is rendered when it is split, when it is sent, and at the end of its draft."""


class TelegramRenderer(MarkedTextRenderer):
    """Renders with HTML tags; Telegram allows no block in a quotation, and no code inside tags."""

    @override
    def render_plain(self, text: str) -> MarkedText:
        """Render a text in which nothing is a tag."""
        return render_plain(text)

    @override
    def render_heading(self, node: Node) -> MarkedText:
        """Render a heading as bold words."""
        return wrap_in_tag("b", self.render_inline(node.children, Place(is_marked=True)))

    @override
    def render_quote(self, node: Node, place: Place) -> MarkedText:
        """Render a quotation; one within another has no tag of its own."""
        content = self.render_blocks(node.children, Place(is_quoted=True))
        return content if place.is_quoted else wrap_in_tag("blockquote", content)

    @override
    def render_code(self, code: str, language: str, place: Place) -> MarkedText:
        """Render a code block, with its language if it is named."""
        text = render_plain(code)
        if place.is_quoted or not text.visible:
            return text
        if not language:
            return wrap_in_tag("pre", text)
        html = f'<pre><code class="language-{escape(language)}">{text.text}</code></pre>'
        return MarkedText(text=html, visible=text.visible)

    @override
    def render_code_span(self, code: str, place: Place) -> MarkedText:
        """Render code within a line, inside other markup as plain words."""
        text = render_plain(code)
        return text if place.is_marked else wrap_in_tag("code", text)

    @override
    def render_emphasis(self, node: Node, place: Place) -> MarkedText:
        """Render what is strong, emphasized or struck through."""
        content = self.render_inline(node.children, replace(place, is_marked=True))
        return wrap_in_tag(HTML_TAGS[node.type], content)

    @override
    def render_link(self, node: Node, url: str, place: Place) -> MarkedText:
        """Render a web link; any other link is shown as it was written."""
        content = self.render_inline(node.children, replace(place, is_marked=True))
        if not url.lower().startswith(LINK_SCHEMES):
            return join_marked([render_plain("["), content, render_plain(f"]({url})")], "")
        if not content.visible.strip():
            return content
        words = content.text.translate(BIDI_CONTROLS)
        visible = content.visible.translate(BIDI_CONTROLS)
        return MarkedText(text=f'<a href="{escape(url)}">{words}</a>', visible=visible)


RENDERER: Final = TelegramRenderer(bullet="\u2022", indent="   ")


@text_lru_cache(CACHE_SIZE)
def render(markdown: str) -> MarkedText:
    """Render Markdown for Telegram; never fails, whatever the text."""
    return RENDERER.render(markdown)


def get_shown_text(markdown: str) -> str:
    """Return what people see of Markdown."""
    return render(markdown).visible


SPLITTER: Final = ReplySplitter(get_shown_text, max_units=4_096)


def render_text(text: str, *, is_markdown: bool) -> MarkedText:
    """Render Markdown, or a text as it stands."""
    return render(text) if is_markdown else render_plain(text)


def render_plain(text: str) -> MarkedText:
    """Render text without markup."""
    return MarkedText(text=escape(text, quote=False), visible=text)


def wrap_in_tag(tag: str, content: MarkedText) -> MarkedText:
    """Wrap content in a tag; blank content stays as it is."""
    if not content.visible.strip():
        return content
    return MarkedText(text=f"<{tag}>{content.text}</{tag}>", visible=content.visible)
