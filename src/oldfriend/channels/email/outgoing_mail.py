"""Outgoing mail: writes replies into their thread, and remembers which the server has accepted.

The id of a mail follows from its address and send key. So a mail of ours is known wherever it turns
up again, and a second attempt is the same mail. What is remembered for a week are hashes with a key
of our own and times, no words: before a mail is handed over, and once it is accepted.
"""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from functools import cache, cached_property
from hashlib import blake2b, scrypt, sha256
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

from oldfriend.channels.email.email_settings import LONGEST_TEXT, RECORD_FILE
from oldfriend.channels.email.incoming_mail import (
    MAX_SUBJECT_CHARS,
    REPLY_PREFIX,
    IncomingMail,
    clean_line,
)
from oldfriend.channels.locked_file import locked_file

FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
MAX_REFERENCES: Final = 8
POLICY: Final = SMTP.clone(max_line_length=998, cte_type="7bit")
"""Headers on one line: Python would encode a long id in References, and break the thread."""

RECORD_BYTES: Final = 64
RECORD_LINE: Final = re.compile(r"[0-9a-f]{32} [0-9a-f]{16} \d{1,12} *")
NO_THREAD: Final = "0" * 16
"""In a line about a mail that is handed over, of which nobody knows yet whether it is accepted."""
KEEP_S: Final = 7 * 24 * 60 * 60.0
"""A reply is retried for a day."""
MAX_RECORDS: Final = 4_000
DIGEST_CHARS: Final = 32
THREAD_CHARS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAddress:
    """Where a reply goes: to somebody, in a thread."""

    recipient: str
    thread: str = ""  # the id of the mail that began it; empty: none

    @property
    def as_text(self) -> str:
        """Return the address as the log has it: "ana@example.org/<id>"."""
        return f"{self.recipient}/{self.thread}" if self.thread else self.recipient


def parse_address(text: str) -> MailAddress:
    """Parse an address as the log has it."""
    recipient, _, thread = text.partition("/")
    return MailAddress(recipient=recipient, thread=thread)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadPosition:
    """The mail that is replied to."""

    subject: str = ""
    message_id: str = ""
    references: tuple[str, ...] = ()  # before it
    is_reply: bool = False


def build_position(mail: IncomingMail) -> ThreadPosition:
    """Return what a reply to a mail must name."""
    return ThreadPosition(
        subject=mail.subject,
        message_id=mail.message_id,
        references=mail.references,
        is_reply=mail.is_reply,
    )


def build_message_id(sender: str, address: str, send_key: str) -> str:
    """Return the id of a mail of ours, the same for the same part of a reply."""
    digest = sha256(f"{sender}\0{address}\0{send_key}".encode()).hexdigest()[:DIGEST_CHARS]
    return f"oldfriend.{digest}@{sender.rpartition('@')[2]}"


def build_mail(
    sender: str,
    recipient: str,
    text: str,
    *,
    message_id: str,
    thread_position: ThreadPosition,
    is_markdown: bool,
) -> bytes:
    """Write a mail as it is sent; marked as automatic, so that no machine answers it."""
    mail = EmailMessage(policy=POLICY)
    mail["From"], mail["To"] = sender, recipient
    mail["Subject"] = build_subject(thread_position)
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{message_id}>"
    mail["Auto-Submitted"] = "auto-replied"
    if thread_position.message_id:
        mail["In-Reply-To"] = f"<{thread_position.message_id}>"
        mail["References"] = " ".join(f"<{each}>" for each in list_references(thread_position))
    mail.set_content(text)
    if is_markdown:
        mail.add_alternative(render_html(text), subtype="html")
    return mail.as_bytes()


def build_subject(thread_position: ThreadPosition) -> str:
    """Return the subject of a reply: that of the thread, marked as a reply once."""
    # Python would decode an encoded word in it once more, line breaks and all.
    subject = clean_line(thread_position.subject)[:MAX_SUBJECT_CHARS].replace("=?", "= ?")
    subject = subject.encode("utf-8", "replace").decode()
    is_marked = thread_position.is_reply or subject.lower().startswith(REPLY_PREFIX.lower())
    return (
        subject
        if is_marked or not thread_position.message_id
        else f"{REPLY_PREFIX}{subject}".strip()
    )


def list_references(thread_position: ThreadPosition) -> Sequence[str]:
    """List the mails of a thread that a reply names: the first and the last ones."""
    before = thread_position.references
    kept = before if len(before) < MAX_REFERENCES else (before[0], *before[2 - MAX_REFERENCES :])
    return (*kept, thread_position.message_id)


@cache
def build_renderer() -> MarkdownIt:
    """Build a renderer of what models write: no HTML of theirs, no pictures from elsewhere."""
    markdown = MarkdownIt("commonmark", {"html": False})
    return markdown.enable(["table", "strikethrough"]).disable("image")


def render_html(markdown: str) -> str:
    """Render Markdown as HTML in which nothing runs and nothing is loaded."""
    return f"<!DOCTYPE html><html><body>{build_renderer().render(markdown)}</body></html>\n"


def split_text(text: str, *, is_markdown: bool, longest: int = LONGEST_TEXT) -> list[str]:
    """Split a text that is too long for one mail between lines; code that is cut goes on as code.

    None for a text that shows nothing.
    """
    if len(text) <= longest:
        return [text] if text.strip() else []
    parts: list[str] = []
    lines: list[str] = []
    fence, size = "", 0
    for line in list_short_lines(text, longest // 2):
        if lines and size + len(line) + len(fence) + 2 > longest:
            parts.append("\n".join([*lines, *([fence] if fence else [])]))
            lines = [fence] if fence else []
            size = len(fence) + 1
        found = FENCE.match(line) if is_markdown else None
        if found is not None:
            fence = "" if fence and line.strip().startswith(fence) else fence or found[1]
        lines.append(line)
        size += len(line) + 1
    parts.append("\n".join(lines))
    return [each for each in (part.strip("\n") for part in parts) if each.strip()]


def list_short_lines(text: str, longest: int) -> Iterator[str]:
    """Yield the lines of a text; one that is too long, in pieces."""
    for line in text.split("\n"):
        for start in range(0, len(line) or 1, longest):
            yield line[start : start + longest]


class SentRecord:
    """A file of the mails that were handed over and accepted lately, for all processes here."""

    def __init__(self, folder: Path, *, password: str, salt: str) -> None:
        """Take the folder, and from what the key is derived; nothing is written yet."""
        self._path = folder / RECORD_FILE
        self._password, self._salt = password.encode(), salt.encode()

    def has(self, message_id: str) -> bool:
        """Tell whether a mail was accepted."""
        return any(line[1] != NO_THREAD for line in self._list_lines(message_id))

    def count(self, message_id: str) -> int:
        """Return how often a mail was handed over or accepted."""
        return len(self._list_lines(message_id))

    def find_begun(self, message_id: str) -> float | None:
        """Return when a mail was handed over last, in seconds since 1970."""
        begun = [line for line in self._list_lines(message_id) if line[1] == NO_THREAD]
        return float(begun[-1][2]) if begun else None

    def begin(self, message_id: str, *, seen: int) -> bool:
        """Record that a mail is handed over from now on; False: somebody else was faster.

        ``seen`` is the count when the attempt began. Without a file, nobody can be.
        """
        try:
            with locked_file(self._path) as file:
                if self.count(message_id) != seen:
                    return False
                self._write(file, message_id, NO_THREAD)
        except OSError:
            return True
        return True

    def find_last_time(self, address: str) -> float | None:
        """Return when the last mail of a thread was accepted, in seconds since 1970."""
        thread = self._hash(address)[:THREAD_CHARS]
        found = (line.split() for line in reversed(self._read()))
        return next((float(each[2]) for each in found if each[1] == thread), None)

    def add(self, message_id: str, address: str) -> None:
        """Record a mail; where no file can be written, the server's folder of sent mails tells."""
        with suppress(OSError), locked_file(self._path) as file:
            self._write(file, message_id, self._hash(address)[:THREAD_CHARS])
            self._trim()

    def _write(self, file: int, message_id: str, thread: str) -> None:
        line = f"{self._hash(message_id)} {thread} {time.time():.0f}"
        os.write(file, line.ljust(RECORD_BYTES - 1).encode() + b"\n")

    def _list_lines(self, message_id: str) -> list[list[str]]:
        digest = self._hash(message_id)
        return [line.split() for line in self._read() if line.startswith(digest)]

    def _trim(self) -> None:
        """Remove what is old or too much; the caller holds the lock. Raises OSError."""
        lines = self._read()
        earliest = time.time() - KEEP_S
        is_old = bool(lines) and float(lines[0].split()[2]) < earliest
        if is_old or self._path.stat().st_size > MAX_RECORDS * RECORD_BYTES:
            kept = [each for each in lines if float(each.split()[2]) >= earliest]
            new = self._path.with_suffix(".new")
            new.unlink(missing_ok=True)
            new.touch(mode=0o600)
            new.write_text("".join(f"{each}\n" for each in kept[-MAX_RECORDS // 2 :]), "ascii")
            new.replace(self._path)

    def _read(self) -> list[str]:
        try:
            lines = self._path.read_bytes().decode("ascii", "replace").split("\n")
        except OSError:
            return []
        return [
            each for each in lines if len(each) == RECORD_BYTES - 1 and RECORD_LINE.fullmatch(each)
        ]

    def _hash(self, text: str) -> str:
        """Return the digest of an id or an address, which nobody can guess without the key."""
        content = text.encode("utf-8", "replace")
        return blake2b(content, key=self._key, digest_size=DIGEST_CHARS // 2).hexdigest()

    @cached_property
    def _key(self) -> bytes:
        """Return the key, from our password; slow, lest the file help to guess it."""
        return scrypt(self._password, salt=self._salt, n=2**14, r=8, p=1, dklen=32)
