"""Rendering: turns Markdown into the few marks that WhatsApp knows.

WhatsApp has no escapes. A character of a text that it would take for a mark is shown as one that
looks alike, of the same length.
"""

import re
from collections.abc import Sequence
from typing import Final

from markdown_it.tree import SyntaxTreeNode as Node
from typing_extensions import override

from oldfriend.channels.marked_text import MarkedText, MarkedTextRenderer, Place, join_marked
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
CACHE_SIZE: Final = 64
"""Texts; a reply is rendered when it is split and when it is sent."""


class WhatsAppRenderer(MarkedTextRenderer):
    """Renders with the marks of WhatsApp, which go to the end of a line at most."""

    @override
    def render_plain(self, text: str) -> MarkedText:
        """Render a text without marks."""
        return render_plain(text)

    @override
    def render_heading(self, node: Node) -> MarkedText:
        """Render a heading as bold words."""
        return mark(self.render_inline(node.children, Place()), MARKS["strong"])

    @override
    def render_quote(self, node: Node, place: Place) -> MarkedText:
        """Render a quotation, each line after its mark."""
        content = self.render_blocks(node.children, Place())
        text = "\n".join(f"> {line}" for line in content.text.split("\n"))
        return MarkedText(text=text, visible=content.visible)

    @override
    def render_code(self, code: str, language: str, place: Place) -> MarkedText:
        """Render code as a block of its own."""
        if not code.strip():
            return render_plain(code)
        text = code.replace(BLOCK_MARK, BLOCK_MARK.translate(LOOK_ALIKES))
        return MarkedText(text=f"{BLOCK_MARK}\n{text}\n{BLOCK_MARK}", visible=code)

    @override
    def render_code_span(self, code: str, place: Place) -> MarkedText:
        """Render code within a line; none of it ends the mark."""
        shown = code.translate({ord(CODE_MARK): LOOK_ALIKES[ord(CODE_MARK)]})
        text = f"{CODE_MARK}{shown}{CODE_MARK}" if shown.strip() else shown
        return MarkedText(text=text, visible=code)

    @override
    def render_emphasis(self, node: Node, place: Place) -> MarkedText:
        """Render what is strong, emphasized or struck through."""
        return mark(self.render_inline(node.children, Place()), MARKS[node.type])

    @override
    def render_link(self, node: Node, url: str, place: Place) -> MarkedText:
        """Render a link as its words and its address."""
        content = self.render_inline(node.children, Place())
        if not content.visible.strip() or content.visible == url:
            return render_plain(url)
        return join_marked([content, MarkedText(text=f" ({url})", visible=f" ({url})")], "")

    @override
    def render_inline(self, nodes: Sequence[Node], place: Place) -> MarkedText:
        """Render inline elements; WhatsApp knows no marks beside a letter, so none are made."""
        spans = [self.render_span(node, place) for node in nodes]
        texts = []
        for index, (node, span) in enumerate(zip(nodes, spans, strict=True)):
            before = spans[index - 1].visible[-1:] if index else ""
            after = spans[index + 1].visible[:1] if index + 1 < len(spans) else ""
            is_marked = node.type in MARKS or node.type == "code_inline"
            is_within_word = is_marked and (is_word(before) or is_word(after))
            texts.append(render_plain(span.visible).text if is_within_word else span.text)
        return MarkedText(text="".join(texts), visible="".join(each.visible for each in spans))


RENDERER: Final = WhatsAppRenderer(bullet="-", indent="  ")


@text_lru_cache(CACHE_SIZE)
def render(markdown: str) -> MarkedText:
    """Render Markdown for WhatsApp; marks that make a text too long are left out."""
    rendered = RENDERER.render(markdown)
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


def render_plain(text: str) -> MarkedText:
    """Render a text without marks, so that WhatsApp finds none in it."""
    return MarkedText(text=WORD.sub(lambda found: replace_marks(found[0]), text), visible=text)


def replace_marks(word: str) -> str:
    """Replace the characters of a word that might mark it; an address stays as it is."""
    if ADDRESS_SIGN in word:
        return word
    return OPENING_MARK.sub(lambda found: found[0].translate(LOOK_ALIKES), word)


def is_word(character: str) -> bool:
    """Tell whether there is a character, and one that belongs to words."""
    return character.isalnum() or character == "_"


def mark(content: MarkedText, character: str) -> MarkedText:
    """Mark each line of a content, since no mark goes beyond a line."""
    lines = [
        f"{character}{line}{character}" if line.strip() == line != "" else line
        for line in content.text.split("\n")
    ]
    return MarkedText(text="\n".join(lines), visible=content.visible)
