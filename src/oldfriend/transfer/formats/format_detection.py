"""Format detection: recognizes a file by its first bytes, and only then by its name."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import sanitize_text
from oldfriend.transfer.formats.apple_health import APPLE_HEALTH
from oldfriend.transfer.formats.chatgpt import CHATGPT
from oldfriend.transfer.formats.claude import CLAUDE
from oldfriend.transfer.formats.csv_table import TABLE
from oldfriend.transfer.formats.day_one import DAY_ONE
from oldfriend.transfer.formats.documents import NOTES
from oldfriend.transfer.formats.json_stream import probe_keys
from oldfriend.transfer.formats.jsonl import JSONL
from oldfriend.transfer.formats.measurement_table import MEASUREMENT_TABLE
from oldfriend.transfer.formats.parsed_message import AddNotice, ChatFormat, ParsedMessage
from oldfriend.transfer.formats.source import (
    FormatProbe,
    SourceFile,
    detect_encoding,
    find_bom_encoding,
    list_sources,
    list_unread_members,
    read_head,
)
from oldfriend.transfer.formats.telegram import TELEGRAM
from oldfriend.transfer.formats.whatsapp import WHATSAPP

FORMATS: Final = (
    TELEGRAM,
    CHATGPT,
    CLAUDE,
    DAY_ONE,
    APPLE_HEALTH,
    JSONL,
    WHATSAPP,
    MEASUREMENT_TABLE,
    TABLE,
    NOTES,
)
"""In the order in which they are tried, the most specific first."""
MAX_UNREAD_LISTED: Final = 5
MAX_UNREAD_CHARS: Final = 80
FORMATS_BY_NAME: Final = {each.name: each for each in FORMATS}


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedFile:
    """A file whose format is known."""

    path: Path
    format: ChatFormat
    sources: tuple[SourceFile, ...]

    def parse(self, add_notice: AddNotice) -> Iterator[ParsedMessage]:
        """Yield all messages in the order of the file. Raises ImportRefused."""
        for source in self.sources:
            yield from self.format.parse(source, add_notice)


def detect_format(path: Path) -> DetectedFile:
    """Detect the format of a file. Raises ImportRefused for one that cannot be imported."""
    sources_by_format: dict[str, list[SourceFile]] = {}
    damage: ImportRefused | None = None
    for source in list_sources(path):
        probe = probe_source(source)  # not kept, because those of many files would fill the memory
        damage = damage or probe.damage
        for candidate in FORMATS:
            if candidate.can_parse(probe):
                sources_by_format.setdefault(candidate.name, []).append(source)
    for candidate in FORMATS:
        if candidate.name in sources_by_format:
            sources = tuple(sources_by_format[candidate.name])
            return DetectedFile(path=path, format=candidate, sources=sources)
    if damage is not None:
        raise damage
    raise ImportRefused(
        localizable(
            "import_unknown_kind",
            f"{path.name} cannot be imported{build_hint(path)}.\n{format_supported()}",
            name=path.name,
            hint=build_hint(path),
        )
    )


def format_supported() -> str:
    """List the formats that can be imported, one a line."""
    titles = [entry.title for entry in FORMATS]
    return "These files can be imported:\n" + "\n".join(f"  - {title}" for title in titles)


def build_hint(path: Path) -> str:
    """Return what to do about a file that is close to a supported one; else empty."""
    if path.suffix.lower() in {".html", ".htm"}:
        return localizable(
            "import_html_hint",
            " (from Telegram, export machine-readable JSON instead of HTML)",
        )
    return ""


def probe_source(source: SourceFile) -> FormatProbe:
    """Probe the beginning of a source."""
    head = read_head(source)
    text = decode_head(head)
    is_json = text is not None and text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}
    keys, damage = probe_keys(source) if is_json else (frozenset[str](), None)
    return FormatProbe(source=source, text=text or "", is_text=bool(text), keys=keys, damage=damage)


def decode_head(head: bytes) -> str | None:
    """Decode the beginning of a text; None if it is not text."""
    marked = find_bom_encoding(head)
    if marked is None and b"\x00" in head:
        return None
    for encoding in (marked or "utf-8", "cp1252"):
        try:
            return codecs.getincrementaldecoder(encoding)().decode(head)
        except UnicodeDecodeError:
            continue
    return None


def report_legacy_encodings(detected: DetectedFile, add_notice: AddNotice) -> None:
    """Add a notice for each text that is in no Unicode encoding."""
    for source in detected.sources:
        if source.suffix != ".json" and detect_encoding(source) == "cp1252":
            add_notice(
                localizable(
                    "notice_no_utf8",
                    f"{source.name} is not UTF-8; it is read as Windows-1252.",
                    name=source.name,
                )
            )


def report_unread_files(detected: DetectedFile, add_notice: AddNotice) -> None:
    """Add a notice about the files of a zip that are not read."""
    unread = list_unread_members(detected.sources)
    if not unread:
        return
    names = ", ".join(sanitize_text(name)[:MAX_UNREAD_CHARS] for name in unread[:MAX_UNREAD_LISTED])
    count, unlisted = len(unread), len(unread) - MAX_UNREAD_LISTED
    add_notice(
        localizable(
            "notice_unread",
            f"Of this zip, {count:,} {'file is' if count == 1 else 'files are'} not read: "
            f"{names}{f' and {unlisted:,} more' if unlisted > 0 else ''}.",
            count=count,
            names=names + (", …" if unlisted > 0 else ""),
        )
    )
