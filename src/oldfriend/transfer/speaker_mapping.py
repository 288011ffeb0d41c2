"""Speaker mapping: maps the speakers of an export to the owner, the companion or others.

Some formats say who is who. Where they do not, whoever imports names the owner's speaker, or the
speaker bears the owner's own name, or one of two writes like an assistant; everybody else is
another person under their own name.
"""

from collections import Counter
from dataclasses import dataclass, field

from oldfriend.domain.clock import Micros, to_micros_with_zone
from oldfriend.domain.errors import ImportRefused, InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import MAX_TEXT_CHARS, TRUST_BY_ROLE, Role, UnloggedMessage
from oldfriend.domain.unicode_text import normalize
from oldfriend.transfer.formats.parsed_message import ParsedMessage
from oldfriend.transfer.role_inference import TurnTally

MAX_NAMES_LISTED = 20
MAX_NAME_CHARS = 2_000
MAX_DETAIL_CHARS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerRoles:
    """Which speakers of an export have which role."""

    person: str  # the owner's name
    me: frozenset[str]  # the owner as a speaker, in all spellings of the file
    is_clear: bool  # whether it is known which messages are the owner's
    assistant: str = ""  # the speaker who writes like an assistant, where no role is stated

    def resolve_role(self, speaker: str, stated: Role | None) -> Role:
        """Return a speaker's role; naming the owner's speaker overrides what the file states."""
        if stated == "system" or stated == "companion":
            return stated
        if self.assistant and speaker == self.assistant:
            return "companion"
        if self.me and speaker:
            return "person" if speaker in self.me else "other"
        return stated or "other"

    def to_spoken(self, parsed: ParsedMessage, zone: str) -> UnloggedMessage:
        """Convert a message of an export. Raises ImportRefused."""
        role = self.resolve_role(parsed.speaker, parsed.role)
        check_lengths(parsed)
        at, message_zone = resolve_time(parsed, zone)
        return UnloggedMessage(
            role=role,
            speaker=parsed.speaker or (self.person if role == "person" else ""),
            text=parsed.text,
            at=at,
            zone=message_zone,
            trust="outside" if parsed.outside else TRUST_BY_ROLE[role],
            external_id=parsed.external_id,
            details=parsed.details,
            is_searchable=role != "system" and not parsed.is_placeholder,
        )


@dataclass(slots=True)
class SpeakerTally:
    """How often each speaker spoke, and what the file states about them."""

    messages_by_speaker: Counter[str]
    undecided: set[str]
    has_owner: bool = False
    turns: TurnTally = field(default_factory=TurnTally)

    def add(self, parsed: ParsedMessage) -> None:
        """Count one more message."""
        if parsed.role == "system":
            return
        self.messages_by_speaker[parsed.speaker] += 1
        self.has_owner |= parsed.role == "person"
        if parsed.role is None:
            self.undecided.add(parsed.speaker)
            session = f"{parsed.chat}\n{parsed.session or ''}"
            self.turns.add(session, parsed.speaker, parsed.text)

    def assign_roles(self, *, me: str | None, person: str) -> SpeakerRoles:
        """Assign roles to all speakers; nothing is inferred if ``me`` says who the owner is.

        Raises ImportRefused if nobody has the name given by ``me``.
        """
        named = frozenset(
            speaker
            for speaker in self.messages_by_speaker
            if speaker and is_same_name(speaker, me or person)
        )
        if me is not None and not named and not ("" in self.messages_by_speaker and self.has_owner):
            raise ImportRefused(
                localizable(
                    "import_nobody_called",
                    f"Nobody in this file is called {me!r}. {self.format_names()}",
                    me=me,
                    names=self.format_names(),
                )
            )
        if me is None and not self.undecided:
            named = frozenset()
        assistant = None if me is not None else self.find_assistant()
        if assistant is not None and assistant not in named:
            owner = frozenset({*self.messages_by_speaker} - {assistant})
            return SpeakerRoles(person=person, me=owner, is_clear=True, assistant=assistant)
        is_clear = bool(named) or self.has_owner or not self.undecided
        return SpeakerRoles(person=person, me=named, is_clear=is_clear)

    def find_assistant(self) -> str | None:
        """Return the speaker who writes like an assistant; None where any role is stated."""
        is_none_stated = self.undecided == {*self.messages_by_speaker} and not self.has_owner
        return self.turns.find_assistant() if is_none_stated else None

    def format_names(self) -> str:
        """Format the speakers, those with most messages first."""
        names = [name for name, _ in self.messages_by_speaker.most_common() if name]
        rest = f" and {len(names) - MAX_NAMES_LISTED} more" if len(names) > MAX_NAMES_LISTED else ""
        return f"Speakers: {', '.join(names[:MAX_NAMES_LISTED])}{rest}."


def check_lengths(parsed: ParsedMessage) -> None:
    """Raise ImportRefused where the text, a name, an id or a detail of a message is too long."""
    if len(parsed.text) > MAX_TEXT_CHARS:
        raise ImportRefused(
            localizable(
                "import_message_long",
                f"this message has {len(parsed.text):,} characters.",
                count=len(parsed.text),
                most=MAX_TEXT_CHARS,
            ),
            line=parsed.line,
            expected=f"at most {MAX_TEXT_CHARS:,}",
        )
    names = (
        parsed.speaker,
        parsed.chat,
        parsed.chat_title,
        parsed.session or "",
        parsed.external_id,
    )
    longest = max(map(len, names))
    detail = max(map(len, parsed.details.values()), default=0)
    if longest > MAX_NAME_CHARS or detail > MAX_DETAIL_CHARS:
        count, most = (
            (longest, MAX_NAME_CHARS) if longest > MAX_NAME_CHARS else (detail, MAX_DETAIL_CHARS)
        )
        raise ImportRefused(
            localizable(
                "import_name_long",
                f"a name or an id here has {count:,} characters.",
                count=count,
                most=most,
            ),
            line=parsed.line,
            expected=f"at most {most:,}",
        )


def is_same_name(one: str, other: str) -> bool:
    """Return whether two names are equal apart from case, whitespace and Unicode form."""
    return one == other or normalize_name(one) == normalize_name(other)


def normalize_name(name: str) -> str:
    """Normalize a name for comparison."""
    return " ".join(normalize("NFKC", name).casefold().split())


def resolve_time(parsed: ParsedMessage, zone: str) -> tuple[Micros, str]:
    """Return the time of a message and its zone; the given zone where the file states none.

    Raises ImportRefused.
    """
    try:
        at, message_zone = to_micros_with_zone(parsed.at, zone)
    except InvalidInput as error:
        raise ImportRefused(error.user_text, line=parsed.line) from error
    return at, zone if message_zone == "UTC" else message_zone
