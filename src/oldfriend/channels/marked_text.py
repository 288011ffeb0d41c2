"""Marked text: Markdown as text with a platform's own marks, where a platform knows a few."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from markdown_it.tree import SyntaxTreeNode as Node

from oldfriend.channels.markdown_parts import RULE, build_markdown_parser, format_table


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text with marks, and as people see it."""

    text: str
    visible: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an element stands."""

    indent: str = ""
    is_quoted: bool = False
    is_marked: bool = False  # inside other marks


class MarkedTextRenderer(ABC):
    """Renders blocks, lists and spans; a platform adds its marks."""

    def __init__(self, *, bullet: str, indent: str) -> None:
        """Take what stands before the items of a list, and before each line of a nested one."""
        self._bullet, self._indent = bullet, indent

    def render(self, markdown: str) -> MarkedText:
        """Render Markdown; never fails, whatever the text."""
        root = Node(build_markdown_parser().parse(markdown))
        return self.render_blocks(root.children, Place())

    @abstractmethod
    def render_plain(self, text: str) -> MarkedText:
        """Render a text so that no marks are found in it."""

    @abstractmethod
    def render_heading(self, node: Node) -> MarkedText:
        """Render a heading."""

    @abstractmethod
    def render_quote(self, node: Node, place: Place) -> MarkedText:
        """Render a quotation."""

    @abstractmethod
    def render_code(self, code: str, language: str, place: Place) -> MarkedText:
        """Render a block of code; the language may be empty."""

    @abstractmethod
    def render_code_span(self, code: str, place: Place) -> MarkedText:
        """Render code within a line."""

    @abstractmethod
    def render_emphasis(self, node: Node, place: Place) -> MarkedText:
        """Render what is strong, emphasized or struck through."""

    @abstractmethod
    def render_link(self, node: Node, url: str, place: Place) -> MarkedText:
        """Render a link."""

    def render_blocks(self, nodes: Sequence[Node], place: Place) -> MarkedText:
        """Render block elements, separated by empty lines."""
        blocks = [self.render_block(node, place) for node in nodes]
        return join_marked((each for each in blocks if each.visible), "\n\n")

    def render_block(self, node: Node, place: Place) -> MarkedText:
        """Render a block."""
        match node.type:
            case "paragraph":
                return self.render_inline(node.children, place)
            case "heading":
                return self.render_heading(node)
            case "bullet_list" | "ordered_list":
                return self.render_list(node, place)
            case "blockquote":
                return self.render_quote(node, place)
            case "fence" | "code_block":
                language = "".join(node.info.split()[:1]) if node.type == "fence" else ""
                return self.render_code(node.content.rstrip("\n"), language, place)
            case "table":
                return self.render_code(format_table(node, self.get_inline_text), "", place)
            case "hr":
                return self.render_plain(RULE)
            case _:
                return self.render_inline([node], Place())

    def render_list(self, node: Node, place: Place) -> MarkedText:
        """Render a list, each item after its marker; what is nested in an item is indented."""
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        inner = replace(place, indent=place.indent + self._indent)
        items: list[MarkedText] = []
        for index, item in enumerate(node.children):
            marker = self._bullet if first is None else f"{first + index}."
            blocks = [self.render_block(each, inner) for each in item.children]
            parts = [
                self.indent_paragraph(block, inner) if nth and each.type == "paragraph" else block
                for nth, (each, block) in enumerate(zip(item.children, blocks, strict=True))
                if block.visible
            ]
            begin = self.render_plain(f"{place.indent}{marker} ")
            items.append(join_marked([begin, join_marked(parts, "\n")], ""))
        return join_marked(items, "\n")

    def indent_paragraph(self, paragraph: MarkedText, place: Place) -> MarkedText:
        """Indent a further paragraph of an item, whose later lines are indented already."""
        return join_marked([self.render_plain(place.indent), paragraph], "")

    def get_inline_text(self, nodes: Sequence[Node]) -> str:
        """Return what people see of inline elements."""
        return self.render_inline(nodes, Place()).visible

    def render_inline(self, nodes: Sequence[Node], place: Place) -> MarkedText:
        """Render inline elements."""
        return join_marked((self.render_span(node, place) for node in nodes), "")

    def render_span(self, node: Node, place: Place) -> MarkedText:
        """Render an inline element."""
        match node.type:
            case "inline":
                return self.render_inline(node.children, place)
            case "softbreak" | "hardbreak":
                return self.render_plain(f"\n{place.indent}")
            case "code_inline":
                return self.render_code_span(node.content, place)
            case "image":
                return self.render_plain(node.content or str(node.attrs.get("src", "")))
            case "link":
                return self.render_link(node, str(node.attrs.get("href", "")), place)
            case "strong" | "em" | "s":
                return self.render_emphasis(node, place)
            case _:
                return self.render_plain(node.content)


def join_marked(parts: Iterable[MarkedText], separator: str) -> MarkedText:
    """Join texts with marks."""
    joined = [*parts]
    return MarkedText(
        text=separator.join(part.text for part in joined),
        visible=separator.join(part.visible for part in joined),
    )
