"""Which kinds of things are wanted of what came to mind? As somebody has named them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import MemoryKind
from oldfriend.turn.recall import Remembered, Thing

MESSAGE: Final = "message"
NOTE: Final = "note"  # found as the words that it is
KINDS: Final = tuple(kind for kind in get_args(MemoryKind) if kind != NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of messages and beliefs is wanted."""

    messages: bool
    beliefs: tuple[MemoryKind, ...]  # none: all, or no belief at all where ``any_belief`` is not
    any_belief: bool

    def among(self, things: Sequence[Thing]) -> list[Thing]:
        """Those that are wanted, in their order."""
        return [
            each
            for each in things
            if (self.any_belief if isinstance(each, Remembered) else self.messages)
        ]


def kinds_wanted(names: Collection[str]) -> Wanted:
    """What these names want; none: everything. Raises InvalidInput for what is no kind."""
    unknown = sorted(set(names).difference(KINDS, [MESSAGE]))
    if unknown:
        known = ", ".join((MESSAGE, *KINDS))
        raise InvalidInput(f"{unknown[0]!r} cannot be recalled. There are: {known}.")
    beliefs = tuple(kind for kind in KINDS if kind in names)
    return Wanted(
        messages=not names or MESSAGE in names, beliefs=beliefs,
        any_belief=not names or bool(beliefs),
    )  # fmt: skip
