"""Checklist: what a person wants looked at again and again, and when it is looked at.

It is a text of a few lines, kept like the core blocks, and stands in no prompt but its own. Looks
are aligned to the clock of the person; without a line there are none, and no model is asked.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros, from_micros, get_zone, to_micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.memory.core_blocks import CHECKLIST, list_block_versions, write_block
from oldfriend.proactive.policy import Impulse
from oldfriend.proactive.quiet_hours import LOOK_MINUTES

DEFAULT_MINUTES: Final = 30
MAX_MINUTES: Final = 24 * 60
MAX_LINES: Final = 20
MAX_LINE_CHARS: Final = 200
MAX_DIGITS: Final = 3
BULLETS: Final = frozenset("-*•")
DAYS_AHEAD: Final = 2
"""So many days of looks are known: one of them comes behind whatever keeps it waiting."""
URGENCY: Final = 0.1
"""Less than anything else has at the end of its time: a look comes again, the others do not."""
EVERY: Final = re.compile(r"every: ?(\d{1,4})", re.ASCII)
"""The line that says how often, in minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """The lines of a person, and how often they are looked at."""

    lines: tuple[str, ...] = ()
    minutes: int = DEFAULT_MINUTES

    @property
    def text(self) -> str:
        """Return it as it is kept."""
        every = () if self.minutes == DEFAULT_MINUTES else (f"every: {self.minutes}",)
        return "\n".join([*every, *self.lines])

    @property
    def pause(self) -> int:
        """Return the minutes between two looks: those of the planned looks are the fewest."""
        return max(self.minutes, LOOK_MINUTES)

    def find(self, words: str) -> int | None:
        """Return which line a number or its words name; None unless just one is."""
        if words.isascii() and words.isdigit():
            is_number = len(words) <= MAX_DIGITS and 0 < int(words) <= len(self.lines)
            return int(words) - 1 if is_number else None
        known = [each.casefold() for each in self.lines]
        named = [at for at, each in enumerate(known) if words.casefold() == each]
        named = named or [at for at, each in enumerate(known) if words.casefold() in each]
        return named[0] if words and len(named) == 1 else None


def parse_checklist(text: str) -> Checklist:
    """Parse a text that somebody may have written by hand.

    Signs of a list and of a heading stand by themselves: "-5 degrees" and "#1" are words.
    """
    found = Checklist()
    for line in text.splitlines():
        every = EVERY.fullmatch(line.strip().lower())
        words = " ".join(line.split())
        sign, _, rest = words.partition(" ")
        if every is not None:
            minutes = min(max(int(every[1]), 1), MAX_MINUTES)
            found = replace(found, minutes=minutes)
            continue
        if BULLETS.issuperset(sign):
            words = rest
        if words and sign.strip("#"):
            found = replace(found, lines=(*found.lines, words[:MAX_LINE_CHARS]))
    return replace(found, lines=found.lines[:MAX_LINES])


def is_line(text: str) -> bool:
    """Whether a text is one line of a checklist, with words, and nothing else that one may hold."""
    return len(parse_checklist(text).lines) == 1 == len(text.strip().splitlines())


async def load_checklist(tx: Transaction, person: PersonId) -> Checklist:
    """Return the checklist of a person; without lines if they have none."""
    versions = await list_block_versions(tx, person, CHECKLIST)
    return parse_checklist(versions[-1].text) if versions else Checklist()


async def save_checklist(
    tx: Transaction, person: PersonId, checklist: Checklist, *, now: Micros
) -> None:
    """Keep a checklist as a person has changed it."""
    await write_block(tx, person, CHECKLIST, checklist.text, now=now)


def collect_checklist(person: Person, checklist: Checklist, *, now: Micros) -> Iterator[Impulse]:
    """Yield the look whose time it is, and those to come; none without a line."""
    if not checklist.lines:
        return
    today = from_micros(now, person.zone).date()
    for days in range(DAYS_AHEAD):
        midnight = datetime.combine(today + timedelta(days=days), time(), get_zone(person.zone))
        for minute in range(0, MAX_MINUTES, checklist.pause):
            begins = midnight + timedelta(minutes=minute)  # by the clock, also where it is changed
            not_before = to_micros(begins)
            expires_at = not_before + min(checklist.pause, MAX_MINUTES - minute) * MINUTE
            if expires_at > now:
                yield Impulse(
                    person=person.id,
                    kind="checklist",
                    key=f"checklist:{begins:%Y-%m-%dT%H:%M}",
                    sources=(),
                    not_before=not_before,
                    expires_at=expires_at,
                    urgency=URGENCY,
                )
