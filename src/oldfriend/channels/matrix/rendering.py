"""Rendering: turns Markdown into the HTML that Matrix clients show, beside its plain words."""

import json
from collections.abc import Sequence
from html import escape
from typing import Final

from markdown_it.token import Token

from oldfriend.channels.markdown_parts import BIDI_CONTROLS, build_markdown_parser
from oldfriend.channels.message_details import reword_commands
from oldfriend.channels.splitting import ReplySplitter
from oldfriend.domain.json import JsonValue
from oldfriend.domain.text_cache import text_lru_cache

LONGEST_TEXT: Final = 4_000
"""UTF-16 code units: with its HTML, written as JSON and encrypted, never too large for an event."""
MAX_CONTENT_BYTES: Final = 44_000
"""Of an event's content before it is encrypted; an event may have 65,536 bytes."""
HTML_FORMAT: Final = "org.matrix.custom.html"
COMMAND_FORM: Final = "!{name}"
"""How a command is written here: clients keep "/help" to themselves."""
LINK_SCHEMES: Final = ("http://", "https://")
CACHE_SIZE: Final = 64


@text_lru_cache(CACHE_SIZE)
def render(markdown: str) -> str:
    """Render Markdown as HTML; never fails, whatever the text."""
    parser = build_markdown_parser()
    tokens = parser.parse(markdown)
    for token in tokens:
        token.children = None if token.children is None else list_shown(token.children)
    html = str(parser.renderer.render(tokens, parser.options, {})).strip()
    return html.translate(BIDI_CONTROLS) if "<a " in html else html


def list_shown(spans: Sequence[Token]) -> list[Token]:
    """Return inline elements with the words of pictures, and without links that are not web links.

    Clients load no picture from elsewhere; a link of another kind could mention people.
    """
    shown: list[Token] = []
    is_web: list[bool] = []
    for span in spans:
        if span.type == "link_open":
            is_web.append(str(span.attrGet("href") or "").lower().startswith(LINK_SCHEMES))
        if span.type == "image":
            shown.append(Token("text", "", 0, content=span.content or str(span.attrGet("src"))))
        elif span.type not in {"link_open", "link_close"} or is_web[-1]:
            shown.append(span)
        if span.type == "link_close":
            is_web.pop()
    return shown


@text_lru_cache(CACHE_SIZE)
def get_shown_text(markdown: str) -> str:
    """Return the words that people see of Markdown."""
    lines: list[str] = []
    for token in build_markdown_parser().parse(markdown):
        if token.type in {"fence", "code_block"}:
            lines.append(token.content)
        elif token.type == "inline":
            lines.append("".join(map(show_span, token.children or ())))
    return "\n".join(lines)


def show_span(token: Token) -> str:
    """Return the words of an inline element."""
    return "\n" if token.type in {"softbreak", "hardbreak"} else token.content


SPLITTER: Final = ReplySplitter(get_shown_text=get_shown_text, max_units=LONGEST_TEXT)


def build_content(text: str, *, is_markdown: bool) -> dict[str, JsonValue]:
    """Return the content of a message; it mentions nobody, and shows commands as "!help"."""
    text = reword_commands(text, COMMAND_FORM)
    content: dict[str, JsonValue] = {"msgtype": "m.text", "body": text, "m.mentions": {}}
    html = render(text) if is_markdown else ""
    if not html or html == f"<p>{escape(text)}</p>":
        return content
    formatted = {**content, "format": HTML_FORMAT, "formatted_body": html}
    if len(json.dumps(formatted)) <= MAX_CONTENT_BYTES:
        return formatted
    return {**content, "body": get_shown_text(text)}


def build_edit(event_id: str, content: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the content of an event that replaces another one's."""
    return {
        **content,
        "body": f"* {content['body']}",
        "m.new_content": content,
        "m.relates_to": {"rel_type": "m.replace", "event_id": event_id},
    }
