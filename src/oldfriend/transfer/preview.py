"""Import preview: reads and checks a whole file without writing anything.

What the memory already contains is not known here.
"""

import hashlib
import heapq
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from oldfriend.domain.clock import Clock, Micros, from_micros, is_misdated, system_clock
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import SESSION_IDLE_GAP, Role, UnloggedMessage, estimate_tokens
from oldfriend.transfer.formats.format_detection import (
    detect_format,
    report_legacy_encodings,
    report_unread_files,
)
from oldfriend.transfer.formats.parsed_message import ChatFormat, ParsedMessage
from oldfriend.transfer.formats.source import (
    CHUNK_BYTES,
    FileStamp,
    check_unchanged,
    get_stamp,
    wrap_read_errors,
)
from oldfriend.transfer.speaker_mapping import SpeakerRoles, SpeakerTally

SAMPLES_PER_CHAT = 500
"""Enough messages of a chat to recognize it under another name."""
REDUCED_SAMPLES = 20
MAX_FULLY_SAMPLED = 1_000
"""Up to this many chats keep all samples; with more chats, each keeps fewer."""
MAX_CHATS = MAX_SPEAKERS = 100_000
PROGRESS_EVERY = 10_000
MAX_NOTICES = 20

OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class MessageSample:
    """One message of a chat, to be looked up in the memory."""

    rank: int  # the smallest are kept, so every export of a chat has the same samples
    external_id: str
    has_own_id: bool
    speaker: str
    text_hash: int
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerPreview:
    """A speaker in the file."""

    name: str
    role: Role
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPreview:
    """A chat in the file."""

    key: str
    title: str
    messages: int
    samples: tuple[MessageSample, ...]  # only for formats whose chats have no ids


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """The contents of a file; ``first`` and ``last`` are the times of the outermost messages."""

    path: Path
    format: ChatFormat
    file_stamp: FileStamp
    sha256: str
    zone: str
    speaker_roles: SpeakerRoles
    messages: int
    speakers: tuple[SpeakerPreview, ...]  # those with most messages first
    chats: tuple[ChatPreview, ...]
    sessions: int
    tokens: int  # estimated
    first: datetime
    last: datetime
    notices: tuple[str, ...]


def build_preview(
    path: Path,
    *,
    me: str | None,
    person: str,
    zone: str,
    on_progress: OnProgress | None = None,
    clock: Clock = system_clock,
) -> ImportPreview:
    """Check a whole file and build its preview. Raises ImportRefused.

    ``me`` is the speaker who is the owner, ``person`` the owner's name. ``on_progress`` receives at
    intervals how many messages were checked.
    """
    detected = detect_format(path)
    file_stamp = get_stamp(path)
    notices = NoticeList()
    report_unread_files(detected, notices.add)
    report_legacy_encodings(detected, notices.add)
    stats = FileStats(
        now=clock(), speakers=SpeakerTally(messages_by_speaker=Counter(), undecided=set())
    )
    provisional_roles = SpeakerRoles(person=person, me=frozenset(), is_clear=False)
    for number, message in enumerate(detected.parse(notices.add), start=1):
        stats.add(
            message,
            provisional_roles.to_spoken(message, zone),
            samples=not detected.format.chats_have_ids,
        )
        if on_progress is not None and number % PROGRESS_EVERY == 0:
            on_progress(number)
    if stats.messages == 0:
        raise ImportRefused(
            localizable(
                "import_without_message", f"{path.name} contains no messages.", name=path.name
            )
        )
    report_misdated(stats.misdated, notices.add)
    roles = stats.speakers.assign_roles(me=me, person=person)
    if roles.assistant:
        notices.add(format_inferred_roles(roles))
    sha256 = compute_sha256(path)
    check_unchanged(path, file_stamp)
    return ImportPreview(
        path=path,
        format=detected.format,
        file_stamp=file_stamp,
        sha256=sha256,
        zone=zone,
        speaker_roles=roles,
        messages=stats.messages,
        speakers=build_speaker_previews(stats.messages_by_role, roles),
        chats=stats.build_chat_previews(),
        sessions=stats.sessions,
        tokens=stats.tokens,
        first=from_micros(stats.first, zone),
        last=from_micros(stats.last, zone),
        notices=notices.format_all(),
    )


def format_inferred_roles(roles: SpeakerRoles) -> str:
    """Say who is taken for an assistant and who for the owner, and how to put that right."""
    me = ", ".join(sorted(roles.me))
    return localizable(
        "notice_inferred_roles",
        f"No roles are given here. {roles.assistant} answers at length, and is taken for an "
        f"assistant; {me} is taken for you. If that is wrong, say who you are: --me NAME",
        assistant=roles.assistant,
        me=me,
    )


def report_misdated(count: int, add_notice: Callable[[str], None]) -> None:
    """Report messages that are dated ahead of now."""
    if count:
        add_notice(
            localizable(
                "notice_misdated",
                f"Messages dated in the future: {count:,}. They count as said the day before the "
                "import. If there are many, check the clock and the order of day and month.",
                count=count,
            )
        )


@dataclass(slots=True)
class NoticeList:
    """Notices about the file; only the first few are kept."""

    kept: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, notice: str) -> None:
        """Keep a notice, or only count it."""
        if len(self.kept) < MAX_NOTICES:
            self.kept.append(notice)
        else:
            self.more += 1

    def format_all(self) -> tuple[str, ...]:
        """Return the notices as they are shown."""
        return (
            *self.kept,
            *(
                [
                    localizable(
                        "notice_more", f"… and {self.more:,} more like these.", count=self.more
                    )
                ]
                if self.more
                else []
            ),
        )


@dataclass(slots=True)
class ChatStats:
    """The statistics of one chat so far."""

    title: str
    messages: int = 0
    last_at: Micros | None = None
    sessions: set[str] = field(default_factory=set)
    # A heap of negated ranks, so that the sample with the greatest rank is dropped first.
    samples: list[tuple[int, MessageSample]] = field(default_factory=list)

    def start_message(self, session: str | None, at: Micros) -> bool:
        """Record one more message; return whether it begins a session."""
        last_at, self.last_at = self.last_at, at
        if session is None:
            return last_at is None or abs(at - last_at) > SESSION_IDLE_GAP
        is_new = session not in self.sessions
        self.sessions.add(session)
        return is_new

    def sample(self, parsed: ParsedMessage, spoken: UnloggedMessage) -> None:
        """Keep the message as a sample if its rank is among the smallest."""
        rank = zlib.crc32(parsed.external_id.encode())
        if len(self.samples) >= SAMPLES_PER_CHAT and -rank <= self.samples[0][0]:
            return
        sample = MessageSample(
            rank=rank,
            external_id=parsed.external_id,
            has_own_id=parsed.has_own_id,
            speaker=spoken.speaker,
            text_hash=hash_text(parsed.text),
            at=spoken.at,
        )
        add = heapq.heappush if len(self.samples) < SAMPLES_PER_CHAT else heapq.heappushpop
        add(self.samples, (-rank, sample))


@dataclass(slots=True)
class FileStats:
    """The statistics of a file so far."""

    now: Micros
    speakers: SpeakerTally
    chats: dict[str, ChatStats] = field(default_factory=dict)
    messages_by_role: Counter[tuple[str, Role | None]] = field(default_factory=Counter)
    messages: int = 0
    misdated: int = 0  # in the future
    sessions: int = 0
    tokens: int = 0
    first: Micros = 0
    last: Micros = 0

    def add(self, parsed: ParsedMessage, spoken: UnloggedMessage, *, samples: bool) -> None:
        """Count one more message."""
        at = spoken.at
        self.first = min(self.first, at) if self.messages else at
        self.last = max(self.last, at) if self.messages else at
        self.messages += 1
        self.misdated += is_misdated(at, self.now)
        self.tokens += estimate_tokens(parsed.text)
        self.speakers.add(parsed)
        self.messages_by_role[parsed.speaker, parsed.role] += 1
        check_count("chats", len(self.chats), MAX_CHATS)
        check_count("speakers", len(self.messages_by_role), MAX_SPEAKERS)
        chat = self.chats.setdefault(parsed.chat, ChatStats(title=parsed.chat_title))
        chat.messages += 1
        self.sessions += chat.start_message(parsed.session, at)
        if samples:
            chat.sample(parsed, spoken)

    def build_chat_previews(self) -> tuple[ChatPreview, ...]:
        """Return the chats in the order of the file."""
        sample_count = SAMPLES_PER_CHAT if len(self.chats) <= MAX_FULLY_SAMPLED else REDUCED_SAMPLES
        return tuple(
            ChatPreview(
                key=key,
                title=chat.title,
                messages=chat.messages,
                samples=tuple(sample for _, sample in heapq.nlargest(sample_count, chat.samples)),
            )
            for key, chat in self.chats.items()
        )


def check_count(what: str, count: int, most: int) -> None:
    """Raise ImportRefused where a file names more than anybody plausibly has."""
    if count > most:
        raise ImportRefused(
            localizable(
                "import_too_many_names",
                f"The file names more than {most:,} {what}.",
                what=what,
                most=most,
            )
        )


def hash_text(text: str) -> int:
    """Return a 64-bit hash of a text that is the same in every process."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def build_speaker_previews(
    counted: Counter[tuple[str, Role | None]], roles: SpeakerRoles
) -> tuple[SpeakerPreview, ...]:
    """Return the speakers with the roles they will have, without the system."""
    counts: Counter[tuple[str, Role]] = Counter()
    for (speaker, stated_role), messages in counted.items():
        role = roles.resolve_role(speaker, stated_role)
        if role != "system":
            counts[speaker or roles.person, role] += messages
    return tuple(
        SpeakerPreview(name=name, role=role, messages=messages)
        for (name, role), messages in counts.most_common()
    )


def compute_sha256(path: Path) -> str:
    """Compute the SHA-256 of a file, by which it is recognized."""
    digest = hashlib.sha256()
    with wrap_read_errors(path), path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
