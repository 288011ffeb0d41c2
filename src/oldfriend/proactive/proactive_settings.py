"""Proactive settings: how readily a person wants to be spoken to unasked, and when never."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.proactive.policy import IMPULSE_KINDS, LEVELS, ImpulseKind, Level
from oldfriend.proactive.quiet_hours import QuietHours

Digest = Literal["off", "daily", "weekly"]
Recap = Literal["off", "weekly"]
DIGESTS: Final[Mapping[str, Digest]] = MappingProxyType({each: each for each in get_args(Digest)})
RECAPS: Final[Mapping[str, Recap]] = MappingProxyType({each: each for each in get_args(Recap)})
DEFAULT_LEVEL: Final[Level] = "shy"
"""It asks about what it was told and keeps what was promised, and nothing else (decision 0033)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProactiveSettings:
    """How a person wants to be spoken to unasked."""

    level: Level = DEFAULT_LEVEL
    quiet: QuietHours = field(default_factory=QuietHours)
    digest: Digest = "off"
    recap: Recap = "off"
    muted: frozenset[ImpulseKind] = frozenset()


async def load_proactive_settings(tx: Transaction, person: PersonId) -> ProactiveSettings:
    """Return a person's settings; the defaults if they have chosen nothing."""
    row = await tx.row(
        """SELECT level, quiet_begins, quiet_ends, digest, recap, muted FROM proactive_setting
           WHERE person = :person""",
        person=person,
    )
    if row is None:
        return ProactiveSettings()
    level, begins, ends, digest, recap, muted = row
    return ProactiveSettings(
        level=LEVELS.get(level, DEFAULT_LEVEL),
        quiet=QuietHours(begins=begins, ends=ends),
        digest=DIGESTS.get(digest, "off"),
        recap=RECAPS.get(recap, "off"),
        muted=frozenset(IMPULSE_KINDS[each] for each in json.loads(muted) if each in IMPULSE_KINDS),
    )


async def save_proactive_settings(
    tx: Transaction, person: PersonId, proactive_settings: ProactiveSettings, *, now: Micros
) -> None:
    """Store what a person has chosen."""
    await tx.run(
        """INSERT INTO proactive_setting (person, level, quiet_begins, quiet_ends, digest, recap,
             muted, changed_at)
           VALUES (:person, :level, :begins, :ends, :digest, :recap, :muted, :now)
           ON CONFLICT (person) DO UPDATE SET level = excluded.level,
             quiet_begins = excluded.quiet_begins, quiet_ends = excluded.quiet_ends,
             digest = excluded.digest, recap = excluded.recap, muted = excluded.muted,
             changed_at = excluded.changed_at""",
        person=person,
        level=proactive_settings.level,
        begins=proactive_settings.quiet.begins,
        ends=proactive_settings.quiet.ends,
        digest=proactive_settings.digest,
        recap=proactive_settings.recap,
        muted=json.dumps(sorted(proactive_settings.muted)),
        now=now,
    )
