"""Kind filter: keeps recalled beliefs of the kinds that a question names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.belief_kinds import list_kinds
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import MemoryKind
from oldfriend.turn.recalled import RecalledBelief, RecalledItem

MESSAGE_KIND: Final = "message"
NOTE_KIND: Final = "note"  # found as the message it quotes
RECALLED_KINDS: Final = list_kinds(lambda kind: kind.name != NOTE_KIND)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFilter:
    """Which messages and beliefs are wanted."""

    has_messages: bool
    # Empty: all, or no belief at all if ``has_beliefs`` is false.
    belief_kinds: tuple[MemoryKind, ...]
    has_beliefs: bool

    def select(self, items: Sequence[RecalledItem]) -> list[RecalledItem]:
        """Return the wanted items, in their order."""
        return [
            each
            for each in items
            if (self.has_beliefs if isinstance(each, RecalledBelief) else self.has_messages)
        ]


def parse_kinds(names: Collection[str]) -> KindFilter:
    """Parse kind names into a filter; no names: everything. Raises InvalidInput."""
    unknown = sorted(set(names).difference(RECALLED_KINDS, [MESSAGE_KIND]))
    if unknown:
        known = ", ".join((MESSAGE_KIND, *RECALLED_KINDS))
        raise InvalidInput(f"{unknown[0]!r} cannot be recalled. There are: {known}.")
    beliefs = tuple(kind for kind in RECALLED_KINDS if kind in names)
    return KindFilter(
        has_messages=not names or MESSAGE_KIND in names,
        belief_kinds=beliefs,
        has_beliefs=not names or bool(beliefs),
    )
