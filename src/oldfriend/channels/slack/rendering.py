"""Rendering: turns Markdown into the rich text that Slack's own editor makes.

Rich text is a tree, so nothing in a text is ever taken for markup, a mention or a link, and no
code block is left open. Markup that is still open at the end of a text is shown as it stands.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it.tree import SyntaxTreeNode as Node

from oldfriend.channels.markdown_parts import (
    BIDI_CONTROLS,
    RULE,
    build_markdown_parser,
    format_table,
)
from oldfriend.channels.splitting import ReplySplitter
from oldfriend.domain.buttons import Button
from oldfriend.domain.json import JsonValue
from oldfriend.domain.text_cache import text_lru_cache

Element = dict[str, JsonValue]
Style = frozenset[str]

STYLES: Final = {"strong": "bold", "em": "italic", "s": "strike"}
PLAIN: Final[Style] = frozenset()
LINK_SCHEMES: Final = ("http://", "https://", "mailto:")
MAX_LINK_CHARS: Final = 3_000
MAX_TEXT_UNITS: Final = 3_000
"""What one message shows; Slack recommends less than 4,000 characters and cuts at 40,000."""
MAX_LABEL_CHARS: Final = 75
MAX_NESTING: Final = 8
CACHE_SIZE: Final = 64
"""Texts; a reply is rendered when it is split and when it is sent."""


def build_blocks(text: str, *, is_markdown: bool, buttons: Sequence[Button]) -> list[JsonValue]:
    """Return a message as Slack's blocks: its text, and the buttons below it."""
    elements = render(text) if is_markdown else [section([text_element(text, PLAIN)])]
    blocks: list[JsonValue] = [{"type": "rich_text", "elements": list(elements)}]
    if buttons:
        blocks.append({"type": "actions", "elements": [*map(build_button, enumerate(buttons))]})
    return blocks


def build_button(numbered: tuple[int, Button]) -> JsonValue:
    """Return a button, whose id differs from those of the others beside it."""
    number, button = numbered
    label: JsonValue = {"type": "plain_text", "text": button.label[:MAX_LABEL_CHARS]}
    return {
        "type": "button",
        "action_id": f"press_{number}",
        "text": label,
        "value": button.command,
    }


def drop_buttons(blocks: Sequence[Element]) -> list[JsonValue]:
    """Return the blocks of a message without its buttons."""
    return [each for each in blocks if each.get("type") != "actions"]


def escape(text: str) -> str:
    """Escape a text for where Slack reads its markup language: in notifications."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def get_shown_text(markdown: str) -> str:
    """Return what people see of Markdown."""
    return "\n\n".join(get_visible_text(each) for each in render(markdown)).strip("\n")


def get_visible_text(element: Element) -> str:
    """Return what people see of a rich text element."""
    if element["type"] in {"text", "link"}:
        return str(element.get("text", ""))
    inner = element.get("elements")
    parts = (
        [get_visible_text(each) for each in inner if isinstance(each, dict)]
        if isinstance(inner, list)
        else []
    )
    return ("\n" if element["type"] == "rich_text_list" else "").join(parts)


SPLITTER: Final = ReplySplitter(get_shown_text, max_units=MAX_TEXT_UNITS)


@text_lru_cache(CACHE_SIZE)
def render(markdown: str) -> tuple[Element, ...]:
    """Render Markdown as rich text elements; never fails, whatever the text."""
    nodes = Node(build_markdown_parser().parse(markdown)).children
    return tuple(join_sections(each for node in nodes for each in render_block(node)))


def join_sections(elements: Iterator[Element]) -> Iterator[Element]:
    """Yield elements with an empty line between paragraphs, which Slack sets close together."""
    before = ""
    for each in elements:
        kind, inner = str(each["type"]), each["elements"]
        if kind == before == "rich_text_section" and isinstance(inner, list):
            each = section([text_element("\n", PLAIN), *inner])
        before = kind
        yield each


def render_block(node: Node, *, depth: int = 0) -> Iterator[Element]:
    """Yield the elements of a block; none of what shows nothing."""
    match node.type:
        case "bullet_list" | "ordered_list":
            yield from render_list(node, depth=depth)
        case "blockquote":
            yield from wrap("rich_text_quote", render_quoted(node))
        case "fence" | "code_block":
            yield from wrap("rich_text_preformatted", [text_element(node.content.rstrip("\n"))])
        case "table":
            yield from wrap(
                "rich_text_preformatted", [text_element(format_table(node, get_inline_text))]
            )
        case "hr":
            yield section([text_element(RULE)])
        case "heading":
            yield from wrap("rich_text_section", render_inline(node.children, frozenset({"bold"})))
        case "paragraph":
            yield from wrap("rich_text_section", render_inline(node.children))
        case _:
            yield from wrap("rich_text_section", render_inline([node]))


def render_list(node: Node, *, depth: int) -> Iterator[Element]:
    """Yield a list, cut where other lists or blocks stand in its items."""
    style = "ordered" if node.type == "ordered_list" else "bullet"
    first = int(node.attrs.get("start", 1)) if style == "ordered" else 1
    run: list[Element] = []
    begun = 0
    for number, item in enumerate(node.children):
        inline = [each for each in item.children if each.type in {"paragraph", "heading"}]
        words = [each for each in render_lines(inline) if get_visible_text(each)]
        if words or not item.children:
            run.append(section([*words] or [text_element(" ")]))
        nested = [each for each in item.children if each not in inline]
        if nested:
            yield from close_run(run, style, depth, first + begun - 1)
            run, begun = [], number + 1
        for each in nested:
            yield from render_block(each, depth=min(depth + 1, MAX_NESTING))
    yield from close_run(run, style, depth, first + begun - 1)


def close_run(items: list[Element], style: str, depth: int, offset: int) -> Iterator[Element]:
    """Yield the items of a list as one element; ``offset``: how many came before."""
    if items:
        numbered: Element = {"offset": offset} if style == "ordered" and offset > 0 else {}
        yield {
            "type": "rich_text_list",
            "style": style,
            "indent": depth,
            "elements": list(items),
            **numbered,
        }


def render_quoted(node: Node) -> Iterator[Element]:
    """Yield what stands in a quotation, in which Slack has no blocks."""
    texts = [
        [text_element(get_visible_text(each)) for each in render_block(block)]
        if block.type != "paragraph"
        else list(render_inline(block.children))
        for block in node.children
    ]
    yield from join_lines(texts)


def render_lines(blocks: Sequence[Node]) -> Iterator[Element]:
    """Yield the words of paragraphs, each on a line of its own."""
    yield from join_lines([list(render_inline(each.children)) for each in blocks])


def join_lines(texts: Sequence[Sequence[Element]]) -> Iterator[Element]:
    """Yield inline elements of several texts, with a line break between two."""
    for number, each in enumerate(texts):
        if number:
            yield text_element("\n")
        yield from each


def get_inline_text(nodes: Sequence[Node]) -> str:
    """Return what people see of inline elements."""
    return "".join(map(get_visible_text, render_inline(nodes)))


def render_inline(nodes: Sequence[Node], style: Style = PLAIN) -> Iterator[Element]:
    """Yield inline elements."""
    for node in nodes:
        match node.type:
            case "inline":
                yield from render_inline(node.children, style)
            case "softbreak" | "hardbreak":
                yield text_element("\n", style)
            case "code_inline":
                yield text_element(node.content, style | {"code"})
            case "image":
                yield text_element(node.content or str(node.attrs.get("src", "")), style)
            case "link":
                yield from render_link(node, style)
            case "strong" | "em" | "s" as kind:
                yield from render_inline(node.children, style | {STYLES[kind]})
            case _:
                yield text_element(node.content, style)


def render_link(node: Node, style: Style) -> Iterator[Element]:
    """Yield a web link; any other link is shown as it was written."""
    url = str(node.attrs.get("href", ""))
    inner = list(render_inline(node.children, style))
    words = "".join(map(get_visible_text, inner)).translate(BIDI_CONTROLS)
    if url.lower().startswith(LINK_SCHEMES) and len(url) <= MAX_LINK_CHARS and words.strip():
        yield {"type": "link", "url": url, "text": words, **build_style(style)}
    else:
        yield from [text_element("[", style), *inner, text_element(f"]({url})", style)]


def wrap(kind: str, inner: Iterator[Element] | Sequence[Element]) -> Iterator[Element]:
    """Yield an element of a kind, unless it would show nothing, which Slack refuses."""
    elements = [each for each in inner if get_visible_text(each)]
    if elements:
        yield {"type": kind, "elements": list(elements)}


def section(inner: Sequence[JsonValue]) -> Element:
    """Return a paragraph."""
    return {"type": "rich_text_section", "elements": list(inner)}


def text_element(text: str, style: Style = PLAIN) -> Element:
    """Return words."""
    return {"type": "text", "text": text, **build_style(style)}


def build_style(style: Style) -> Element:
    """Return a style as Slack takes it; none if it is plain."""
    return {"style": dict.fromkeys(sorted(style), True)} if style else {}
