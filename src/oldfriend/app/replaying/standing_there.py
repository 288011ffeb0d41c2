"""What is or was believed in the second database? Read once; then only what has changed since.

Knows one person's, and nothing of what corresponds to what.
"""

from dataclasses import dataclass, field

from oldfriend.app.believing.looking import Belief
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Believed, Known, Memory
from oldfriend.memory.at_hand import Counters, counters_of
from oldfriend.memory.beliefs import (
    list_decided_since,
    list_entities,
    list_memories,
    list_weighed_since,
)
from oldfriend.memory.evidence import list_evidence, list_evidence_of

FEW = 500
"""Of more memories than these the evidence is read whole."""


@dataclass(slots=True)
class Standing:
    """All memories of one person as they were when one looked last, with their words."""

    person: PersonId
    seen: Counters | None = None
    beliefs: dict[ObjectId, Belief] = field(default_factory=dict)

    async def everything(self, tx: Transaction) -> list[Belief]:
        """All that is or was believed as of this transaction, but for summaries; oldest first."""
        await self.read_on(tx)
        names = await list_entities(tx, self.person, live=False)
        memories = sorted(self.beliefs.values(), key=lambda each: place_of(each.what))
        return [*memories, *(Belief(what=each) for each in names)]

    async def read_on(self, tx: Transaction) -> None:
        """Take in what was decided and what words were found since; all, where any were taken."""
        now = await counters_of(tx, self.person)
        if self.seen is None or self.seen.rewritten != now.rewritten:
            self.beliefs = {}
            await self.take_in(tx, await list_memories(tx, self.person, live=False))
        elif self.seen != now:
            await self.take_in(
                tx, await list_decided_since(tx, self.person, self.seen.last_change),
                *await list_weighed_since(tx, self.person, self.seen.weighed),
            )  # fmt: skip
        self.seen = now

    async def take_in(self, tx: Transaction, decided: list[Known], *weighed: ObjectId) -> None:
        """Know these as they were decided, and these with the words that they have by now."""
        changed = list(dict.fromkeys((*(each.memory.id for each in decided), *weighed)))
        if len(changed) > FEW:
            words = await list_evidence(tx, self.person)
        else:
            words = await list_evidence_of(tx, self.person, changed)
        for known in decided:
            self.beliefs[known.memory.id] = Belief(what=known.memory)
        for each in self.beliefs.keys() & {*changed}:
            self.beliefs[each] = Belief(
                what=self.beliefs[each].what, words=tuple(words.get(each, ()))
            )

    def forget(self) -> None:
        """Look at all of it anew the next time, for what was seen last was not written."""
        self.seen = None


def place_of(what: Believed) -> tuple[int, str, str]:
    """Where a memory stands among all: by when it was learned, then by what it says."""
    text = what.text if isinstance(what, Memory) else ""
    return what.learned_at, text, what.id
