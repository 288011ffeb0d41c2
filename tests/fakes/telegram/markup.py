"""How does Telegram read HTML? Tag by tag; what it does not understand it refuses."""

from html.parser import HTMLParser

TAGS = {
    "b",
    "strong",
    "i",
    "em",
    "u",
    "ins",
    "s",
    "strike",
    "del",
    "a",
    "code",
    "pre",
    "blockquote",
    "tg-spoiler",
    "tg-emoji",
    "span",
}
LONGEST = 4_096


class MarkupError(ValueError):
    """It is refused, with Telegram's words."""


class Reader(HTMLParser):
    """Takes the tags out of a text, and refuses what Telegram refuses."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            raise MarkupError(f'Unsupported start tag "{tag}" at byte offset {self.place}')
        if tag == "blockquote" and "blockquote" in self.open:
            raise MarkupError("Blockquotes can't be nested")
        if tag == "a" and not dict(attrs).get("href"):
            raise MarkupError('Tag "a" must have attribute "href"')
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            raise MarkupError(f'Unmatched end tag at byte offset {self.place}, found "</{tag}>"')
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise MarkupError(f"Unsupported start tag at byte offset {self.place}")

    handle_decl = handle_pi = unknown_decl = handle_comment

    @property
    def place(self) -> int:
        """How far it has read."""
        return len(self.text.encode())


def seen(text: str, parse_mode: str | None) -> str:
    """What people see of a text. Raises MarkupError."""
    if not parse_mode:
        return text.strip()
    if parse_mode.upper() != "HTML":
        raise MarkupError(f"Unsupported parse_mode {parse_mode}")
    if (stray := stray_bracket(text)) is not None:
        raise MarkupError(f'Unsupported start tag "{stray}" at byte offset 0')
    reader = Reader()
    reader.feed(text)
    reader.close()
    if reader.open:
        raise MarkupError(f'Can\'t find end tag corresponding to start tag "{reader.open[-1]}"')
    return reader.text.strip()


def stray_bracket(text: str) -> str | None:
    """What stands behind a bracket that begins no tag; the library would let it pass."""
    for behind in text.split("<")[1:]:
        name = behind.lstrip("/")[:1]
        if not (name.isascii() and name.isalpha()) or ">" not in behind:
            return behind[:10]
    return None


def units(text: str) -> int:
    """Its length as Telegram counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
