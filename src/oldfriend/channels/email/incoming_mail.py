"""Incoming mail: reads a mail as its server keeps it, whatever is in it, in bounded time and space.

Attachments are named and never opened. Of a mail that is built like a trap (too many parts, too
deep) only the headers are read.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from hashlib import sha256
from html import unescape
from typing import Final

REPLY_PREFIX: Final = "Re: "
MAX_MAIL_BYTES: Final = 1 << 19
"""What is read of a mail; what comes after that is attached, or of no use to anybody."""
MAX_TEXT_CHARS: Final = 60_000
MAX_HTML_CHARS: Final = 200_000
MAX_HEADER_CHARS: Final = 4_000
MAX_HEADER_LINES: Final = 2_000
MAX_SUBJECT_CHARS: Final = 200
MAX_ID_CHARS: Final = 200
MAX_NESTED_PARTS: Final = 40
"""Parts that hold others; a mail has two or three."""
MAX_PARTS: Final = 400
MAX_NAMED_ATTACHMENTS: Final = 10
MAX_NAME_CHARS: Final = 80
SLOW_CODECS: Final = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape"})
"""Codecs of Python that are no character sets of mail, or take quadratic time."""

LONG_PARAMETERS: Final = re.compile(
    rb"^content-(?:type|disposition):(?=[^\n]{2000}|(?:[^\n]*\n[ \t]){20})"
    rb"[^\n]*+(?:\n[ \t][^\n]*+)*+",
    re.IGNORECASE | re.MULTILINE,
)
"""Parameters so long that the library takes minutes for them."""
BARE_RETURN: Final = re.compile(rb"\r(?!\n)")
NESTING_TYPE: Final = re.compile(rb"multipart/|message/", re.IGNORECASE)
MESSAGE_ID: Final = re.compile(r"<([!#-;=?-\[\]-~]{1,200})>")
QUOTED_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"')
ADDRESS: Final = re.compile(r"[A-Za-z0-9!#$%&'*+=?^_`{|}~.-]{1,64}@[A-Za-z0-9.-]{1,190}")
LINE_NOISE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMail:
    """A mail as it was received."""

    headers: Message
    message_id: str  # without its brackets
    references: tuple[str, ...]  # the mails before it in its thread, the first one first
    sender: str  # the one address in From, in lower case; empty if there is not exactly one
    sender_name: str
    subject: str
    text: str
    attachments: tuple[str, ...]  # their names

    @property
    def is_reply(self) -> bool:
        """Tell whether the mail names another one that came before it, or its subject says so."""
        return bool(self.references) or self.subject.lower().startswith(REPLY_PREFIX.lower())

    @property
    def thread(self) -> str:
        """Return the id of the mail that began the thread."""
        return self.references[0] if self.references else self.message_id


def parse_mail(raw: bytes) -> IncomingMail:
    """Parse a mail; never fails, whatever the bytes."""
    raw = LONG_PARAMETERS.sub(b"Content-Type: text/plain", cut_headers(raw[:MAX_MAIL_BYTES]))
    is_trap = len(NESTING_TYPE.findall(raw)) > MAX_NESTED_PARTS or raw.count(b"\n--") > MAX_PARTS
    message = BytesHeaderParser().parsebytes(raw) if is_trap else message_from_bytes(raw)
    text, attachments = ("", ()) if is_trap else read_parts(message)
    head = re.split(rb"\r?\n\r?\n", raw, maxsplit=1)[0]
    # A bare line end in a header may be one to us and none to the server that has checked it.
    sender, name = ("", "") if BARE_RETURN.search(head) else parse_sender(message)
    return IncomingMail(
        headers=message,
        message_id=find_message_id(message) or f"{sha256(raw).hexdigest()[:32]}@unnamed.invalid",
        references=parse_references(message),
        sender=sender,
        sender_name=name,
        subject=get_header(message, "Subject")[:MAX_SUBJECT_CHARS],
        text=text,
        attachments=attachments,
    )


def cut_headers(raw: bytes) -> bytes:
    """Return a mail without its text if it has more headers than any honest one."""
    lines = raw.split(b"\n", MAX_HEADER_LINES)
    is_cut = len(lines) > MAX_HEADER_LINES and not {b"", b"\r"} & set(lines[:-1])
    return b"\n".join(lines[:-1]) if is_cut else raw


def get_raw_header(message: Message, name: str) -> str:
    """Return a header on one line, not decoded; empty if there is none."""
    value = message.get(name)
    return "" if value is None else clean_line(str(value)[:MAX_HEADER_CHARS])


def get_header(message: Message, name: str) -> str:
    """Return a header on one line, decoded as far as that goes."""
    return decode_words(get_raw_header(message, name))


def clean_line(text: str) -> str:
    """Return a text on one line, without control characters."""
    return " ".join(LINE_NOISE.sub(" ", text).split())


def decode_words(value: str) -> str:
    """Decode the encoded words of a header."""
    try:
        pieces = decode_header(value)
    except ValueError:
        return value
    decoded = (
        piece if isinstance(piece, str) else decode_bytes(piece, charset or "ascii")
        for piece, charset in pieces
    )
    return clean_line("".join(decoded))


def decode_bytes(data: bytes, charset: str) -> str:
    """Decode bytes by the character set that a mail names; as UTF-8 if it names none that is."""
    try:
        codec = codecs.lookup(charset)
        if codec.name.replace("_", "-") in SLOW_CODECS:
            return data.decode("utf-8", "replace")
        return data.decode(codec.name, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


def find_message_id(message: Message) -> str | None:
    """Return the id of a mail without its brackets; None if it has none of use."""
    found = MESSAGE_ID.search(get_raw_header(message, "Message-ID"))
    return None if found is None else found[1]


def parse_references(message: Message) -> tuple[str, ...]:
    """Return the ids of the mails before this one in its thread, the one it replies to last."""
    before = MESSAGE_ID.findall(get_raw_header(message, "References"))
    replied = MESSAGE_ID.findall(get_raw_header(message, "In-Reply-To"))[:1]
    return tuple(dict.fromkeys([*[each for each in before if each not in replied], *replied]))


def parse_sender(message: Message) -> tuple[str, str]:
    """Return the address and the name in From; no address unless there is exactly one.

    Strict, so that nobody reads another address in it than the server has checked.
    """
    fields = message.get_all("From") or []
    if len(fields) != 1:
        return "", ""
    value = clean_line(str(fields[0])[:MAX_HEADER_CHARS])
    bare = QUOTED_STRING.sub(" ", value)
    name, bracket, rest = bare.rpartition("<")
    address = rest.removesuffix(">").strip() if bracket else bare.strip()
    is_closed = not bracket or (rest.endswith(">") and "<" not in name)
    if not is_closed or bare.count("@") != 1 or not ADDRESS.fullmatch(address):
        return "", ""
    shown = decode_words(value.rpartition("<")[0]).replace('"', "").strip()
    return address.lower(), shown[:MAX_NAME_CHARS]


def read_parts(message: Message) -> tuple[str, tuple[str, ...]]:
    """Return the text of a mail, plain if it comes so, and the names of what is attached."""
    plain: list[str] = []
    html: list[str] = []
    attachments: list[str] = []
    for part in list_leaves(message):
        kind = part.get_content_type()
        name = find_file_name(part)
        if kind == "text/plain" and name is None:
            plain.append(read_plain(part))
        elif kind == "text/html" and name is None:
            html.append(read_html(part))
        else:
            attachments.append(name or kind)
    text = "\n".join(each for each in plain if each.strip()) or "\n".join(html)
    return text[:MAX_TEXT_CHARS], tuple(attachments[:MAX_NAMED_ATTACHMENTS])


def list_leaves(message: Message) -> Iterator[Message]:
    """Yield the parts that hold no others; a mail within a mail is not opened."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        children = part.get_payload() if part.get_content_maintype() == "multipart" else None
        if isinstance(children, list):
            waiting += [each for each in reversed(children) if isinstance(each, Message)]
        else:
            yield part


def find_file_name(part: Message) -> str | None:
    """Return the name of an attached file, shortened; None if the part is no attachment."""
    if part.get_content_disposition() != "attachment" and "name" not in str(
        part.get("Content-Disposition", "")
    ):
        return None
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError):
        name = None
    return decode_words(clean_line(name or ""))[:MAX_NAME_CHARS] or part.get_content_type()


def read_text(part: Message) -> str:
    """Return the decoded text of a part."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        charset = part.get_content_charset("utf-8")
    except (ValueError, LookupError):
        charset = "utf-8"
    return decode_bytes(data, charset).replace("\r\n", "\n").replace("\r", "\n")


def read_plain(part: Message) -> str:
    """Return a plain text, with the lines joined that were only broken for transport (RFC 3676)."""
    text = read_text(part)[:MAX_TEXT_CHARS]
    if str(part.get_param("format", "")).lower() != "flowed":
        return text
    joiner = "" if str(part.get_param("delsp", "")).lower() == "yes" else " "
    lines: list[str] = []
    is_open = False
    for line in text.split("\n"):
        if is_open and lines and get_quote_depth(line) == get_quote_depth(lines[-1]):
            lines[-1] = f"{lines[-1].rstrip(' ')}{joiner}{line.lstrip('> ')}"
        else:
            lines.append(line.removeprefix(" "))
        is_open = line.endswith(" ") and line != "-- "
    return "\n".join(lines)


def get_quote_depth(line: str) -> int:
    """Return how deep a line is quoted."""
    return len(line) - len(line.lstrip(">"))


def read_html(part: Message) -> str:
    """Return the text of an HTML part."""
    return TextExtractor().extract(read_text(part)[:MAX_HTML_CHARS])


BLOCK_TAGS: Final = frozenset(
    {"address", "article", "blockquote", "div", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5"}
    | {"h6", "header", "footer", "hr", "li", "ol", "p", "pre", "section", "table", "tr", "ul"}
)
SPACED_TAGS: Final = frozenset({"p", "h1", "h2", "h3", "blockquote"})
HIDDEN_TAGS: Final = frozenset({"head", "script", "style", "template", "title"})
TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,20})(?![A-Za-z0-9])[^<>]*+>|<[!?][^<>]*+>")
COMMENT_START, COMMENT_END = "<!--", "-->"
MAX_QUOTE_DEPTH: Final = 5


class TextExtractor:
    """Takes the text out of HTML: blocks on lines of their own, quotations behind ">".

    In one pass: the standard library's parser takes minutes for markup that never ends.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lines: list[str] = []
        self._line: list[str] = []
        self._hidden = 0
        self._quoted = 0

    def extract(self, html: str) -> str:
        """Return the text, with at most one empty line in a row."""
        at = 0
        while at < len(html):
            start = html.find("<", at)
            end = len(html) if start < 0 else start
            self._add_words(html[at:end])
            at = end if end == len(html) else self._skip_markup(html, end)
        self._end_line()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip()

    def _skip_markup(self, html: str, start: int) -> int:
        """Take what begins with a "<", and return where it ends."""
        if html.startswith(COMMENT_START, start):
            end = html.find(COMMENT_END, start)
            return len(html) if end < 0 else end + len(COMMENT_END)
        found = TAG.match(html, start)
        if found is None:
            self._add_words("<")
            return start + 1
        if found[2]:
            (self._close_tag if found[1] else self._open_tag)(found[2].lower())
        return found.end()

    def _open_tag(self, tag: str) -> None:
        """Begin a line for a block, and a quotation."""
        self._hidden += tag in HIDDEN_TAGS
        if tag in BLOCK_TAGS or tag == "br":
            self._end_line()
        if tag in SPACED_TAGS:
            self._lines.append(self._quote_mark.strip())
        self._quoted += tag == "blockquote"
        if tag == "li":
            self._line.append("- ")

    def _close_tag(self, tag: str) -> None:
        """End a line after a block, and a quotation."""
        self._hidden -= tag in HIDDEN_TAGS and self._hidden > 0
        if tag in BLOCK_TAGS:
            self._end_line()
        self._quoted -= tag == "blockquote" and self._quoted > 0

    def _add_words(self, words: str) -> None:
        """Take the words that are shown."""
        if not self._hidden:
            self._line.append(words)

    @property
    def _quote_mark(self) -> str:
        return "> " * min(self._quoted, MAX_QUOTE_DEPTH)

    def _end_line(self) -> None:
        words = " ".join(unescape_words("".join(self._line)).split())
        self._line = []
        if words:
            self._lines.append(self._quote_mark + words)


def unescape_words(text: str) -> str:
    """Return a text with its character references replaced; as it is if one is no number."""
    try:
        return unescape(text)
    except ValueError:  # a number of thousands of digits
        return text
