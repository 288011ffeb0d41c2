"""What was decided about something, when, by whom, because of which words, and until when?"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Believed, Cause, Change, Evidence, Memory
from oldfriend.domain.messages import Message
from oldfriend.memory.beliefs import find_object, list_overtaking
from oldfriend.memory.changes import list_changes_of
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.log import get_message

FAR = 20
"""So many values of one thing are followed back and forth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One decision, with the words it rests on, and when the next one was made."""

    change: Change
    until: Micros | None  # None: it holds
    because: tuple[Message, ...]  # as they read then; what was forgotten is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Everything that was decided about one thing, and about what it overtook or gave way to."""

    object: ObjectId
    steps: tuple[Step, ...]  # oldest first
    words: tuple[Evidence, ...]  # for and against it now, oldest first

    @property
    def what(self) -> Believed:
        """It, as it was decided last."""
        own = [step for step in self.steps if step.change.object == self.object]
        return own[-1].change.after


async def history_of(tx: Transaction, person: PersonId, name: str) -> History:
    """The history of the one thing whose id begins or ends so. Raises NotFound, InvalidInput."""
    object_id, _ = await find_object(tx, person, name)
    steps: list[Step] = []
    for each in await same_matter(tx, person, ObjectId(object_id)):
        steps += await steps_of(tx, person, await list_changes_of(tx, person, each))
    words = await list_evidence_of(tx, person, [ObjectId(object_id)])
    return History(
        object=ObjectId(object_id),
        steps=tuple(sorted(steps, key=lambda step: step.change.seq)),
        words=tuple(words.get(ObjectId(object_id), ())),
    )


async def same_matter(tx: Transaction, person: PersonId, object_id: ObjectId) -> list[ObjectId]:
    """It, and what it has overtaken or was overtaken by, and so on."""
    found = [object_id]
    for each in found:
        if len(found) > FAR:
            break
        linked = await list_overtaken_by(tx, person, each) + await list_overtaking(tx, person, each)
        found += [other for other in linked if other not in found]
    return found


async def list_overtaken_by(
    tx: Transaction, person: PersonId, object_id: ObjectId
) -> list[ObjectId]:
    """What something has put an end to."""
    after = (await list_changes_of(tx, person, object_id))[-1].after
    if not isinstance(after, Memory):
        return []
    return [link.other for link in after.relations if link.kind == "supersedes"]


async def steps_of(tx: Transaction, person: PersonId, changes: Sequence[Change]) -> list[Step]:
    """The decisions about one thing."""
    return [
        Step(
            change=change,
            until=None if after is None else after.decided_at,
            because=tuple(
                [
                    message
                    for cause in change.causes
                    if (message := await find_cause(tx, person, cause)) is not None
                ]
            ),
        )
        for change, after in zip(changes, [*changes[1:], None], strict=True)
    ]


async def find_cause(tx: Transaction, person: PersonId, cause: Cause) -> Message | None:
    """The words that a decision rests on; None when they were taken out since."""
    try:
        return await get_message(tx, person, cause.message, version=cause.version)
    except NotFound:
        return None
