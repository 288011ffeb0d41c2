"""Who is who in an export? Speakers become the owner of the memory, its companion, or others.

Some formats tell. Where they do not, the owner's speaker is named by whoever imports, or bears
the owner's own name; else everybody is another, under their own name.
"""

import unicodedata
from collections import Counter
from dataclasses import dataclass

from oldfriend.domain.clock import Micros, place_in_zone
from oldfriend.domain.errors import ImportRefused, InvalidInput
from oldfriend.domain.messages import MAX_TEXT, Spoken
from oldfriend.domain.sayings import saying
from oldfriend.domain.trust import TRUST_OF_ROLE, Role
from oldfriend.transfer.formats.parsed import ParsedMessage

MOST_NAMES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who plays whom."""

    person: str  # the owner's name
    me: frozenset[str]  # the owner's speaker, in all spellings of the file
    is_clear: bool  # whether it is known which words are the owner's

    def role_for(self, speaker: str, told: Role | None) -> Role:
        """A speaker's role; naming the owner's speaker outweighs what the file tells."""
        if told == "system" or told == "companion":
            return told
        if self.me and speaker:
            return "person" if speaker in self.me else "other"
        return told or "other"

    def spoken(self, message: ParsedMessage, zone: str) -> Spoken:
        """A message of an export as something said. Raises ImportRefused."""
        role = self.role_for(message.speaker, message.role)
        at, its_zone = placed(message, zone)
        if len(message.text) > MAX_TEXT:
            raise ImportRefused(
                saying(
                    "import_message_long", f"this message has {len(message.text):,} characters.",
                    count=len(message.text), most=MAX_TEXT,
                ),
                line=message.line, expected=f"at most {MAX_TEXT:,}",
            )  # fmt: skip
        is_outside = message.outside or role == "system"  # a group's title is nobody's evidence
        return Spoken(
            role=role, speaker=message.speaker or (self.person if role == "person" else ""),
            text=message.text, at=at, zone=its_zone,
            trust="outside" if is_outside else TRUST_OF_ROLE[role],
            external_id=message.external_id, details=message.details,
            findable=role != "system" and not message.is_placeholder,
        )  # fmt: skip


@dataclass(slots=True)
class Roll:
    """Who spoke how often, and what the file says about them."""

    by_speaker: Counter[str]
    undecided: set[str]
    has_owner: bool = False

    def see(self, message: ParsedMessage) -> None:
        """Count one more message."""
        if message.role == "system":
            return
        self.by_speaker[message.speaker] += 1
        self.has_owner |= message.role == "person"
        if message.role is None:
            self.undecided.add(message.speaker)

    def cast(self, *, me: str | None, person: str) -> Cast:
        """Settle who is who. Raises ImportRefused when nobody is called as was said."""
        named = frozenset(
            speaker for speaker in self.by_speaker if speaker and same_name(speaker, me or person)
        )
        if me is not None and not named and not ("" in self.by_speaker and self.has_owner):
            raise ImportRefused(saying(
                "import_nobody_called", f"Nobody in this file is called {me!r}. {self.names()}",
                me=me, names=self.names(),
            ))  # fmt: skip
        if me is None and not self.undecided:
            named = frozenset()
        is_clear = bool(named) or self.has_owner or not self.undecided
        return Cast(person=person, me=named, is_clear=is_clear)

    def names(self) -> str:
        """The speakers, those who speak most first."""
        names = [name for name, _ in self.by_speaker.most_common() if name]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return f"Speakers: {', '.join(names[:MOST_NAMES])}{more}."


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same but for case, blanks and ways of writing accents."""
    return one == other or folded(one) == folded(other)


def folded(name: str) -> str:
    """A name as it is compared."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def placed(message: ParsedMessage, zone: str) -> tuple[Micros, str]:
    """The moment of a message and its zone; the given one where the file tells none.

    Raises ImportRefused.
    """
    try:
        at, its_zone = place_in_zone(message.at, zone)
    except InvalidInput as error:
        raise ImportRefused(error.says, line=message.line) from error
    return at, zone if its_zone == "UTC" else its_zone
