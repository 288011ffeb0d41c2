"""How does the journal lose what is forgotten, so that folding it still gives the views?

The one place where decisions are taken out or rewritten: whole objects with all that was ever
decided about them, earlier decisions that hold words of what goes, and what points to either.
The last decision about whatever stays remains, so that the fold stays sound.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import (
    CHANGE_VERSION,
    Believed,
    Change,
    Entity,
    Memory,
    Summary,
)
from oldfriend.memory.changes import Ground, decide, folded, list_changes
from oldfriend.memory.forgetting.foreseeing import Foreseen
from oldfriend.memory.forgetting.holding import Version
from oldfriend.memory.rows import to_json
from oldfriend.memory.views import remove_view, write_view
from oldfriend.memory.withdrawing import hold_again

ORPHANED = "forget/orphan"
"""Who decided about a belief that stays although what it rested on was forgotten."""
FORGOT = "forget/1"
"""Who decided about what follows otherwise from a forgetting."""


async def purge_journal(tx: Transaction, plan: Foreseen, *, now: Micros) -> None:
    """Take out of the journal and the views what goes, and every pointer to it."""
    await remove_objects(tx, plan.person, plan.objects)
    await tx.run_many(
        "DELETE FROM change WHERE person = :person AND seq = :seq",
        [{"person": plan.person, "seq": seq} for seq in sorted(plan.outdated)],
    )
    going = {each.key for each in plan.wordless}
    changes = await list_changes(tx, plan.person)
    pairs = [(change, clean(change, plan, going)) for change in changes]
    for before, after in pairs:
        if after != before:
            await rewrite(tx, after)
    newest = folded(after for _, after in pairs)
    touched = {before.object for before, after in pairs if after.after != before.after}
    for each in sorted(touched):
        await write_view(tx, newest[each].after, seq=newest[each].seq)
    for orphan in plan.orphans:
        await note(tx, newest[orphan], newest[orphan].after, author=ORPHANED, now=now)
    for before in plan.freed.values():
        ground = Ground(author=FORGOT)
        await hold_again(tx, cleaned(before.after, plan), ground=ground, now=now)
    for summary in plan.unfolded:
        change = newest[summary.id]
        assert isinstance(change.after, Summary)
        await note(tx, change, replace(change.after, is_active=True), author=FORGOT, now=now)


async def remove_objects(
    tx: Transaction, person: PersonId, objects: Iterable[ObjectId]
) -> None:  # fmt: skip
    """Take beliefs out with all that was ever decided about them."""
    for each in sorted(objects):
        await tx.run(
            "DELETE FROM change WHERE person = :person AND object = :object",
            person=person,
            object=each,
        )
        await tx.run(
            "DELETE FROM memory_vector WHERE person = :person AND memory = :object",
            person=person,
            object=each,
        )
        await remove_view(tx, person, each)


def clean(change: Change, plan: Foreseen, going: Collection[Version]) -> Change:
    """A decision that points to nothing that goes."""
    causes = tuple(
        each for each in change.causes
        if (each.message, each.version) not in going and each.message not in plan.gone
    )  # fmt: skip
    return replace(change, causes=causes, after=cleaned(change.after, plan))


def cleaned(after: Believed, plan: Foreseen) -> Believed:
    """A belief that points to nothing that goes, and names nobody as only that did."""
    gone = plan.gone
    if isinstance(after, Memory):
        return replace(
            after,
            entities=tuple(each for each in after.entities if each not in gone),
            relations=tuple(each for each in after.relations if each.other not in gone),
        )
    if isinstance(after, Entity):
        is_undescribed = after.id in plan.undescribed and not after.is_by_person
        return replace(
            after,
            description="" if is_undescribed else after.description,
            aliases=tuple(each for each in after.aliases if each not in plan.unsaid),
            same_as=None if after.same_as in gone else after.same_as,
        )
    return replace(after, sources=tuple(each for each in after.sources if each not in gone))


async def rewrite(tx: Transaction, change: Change) -> None:
    """Let a decision say something else than it did."""
    await tx.run(
        """UPDATE change SET after = :after, cause = :cause, v = :v
           WHERE person = :person AND seq = :seq""",
        after=to_json(change.after),
        cause=json.dumps([[cause.message, cause.version] for cause in change.causes]),
        v=CHANGE_VERSION,
        person=change.person,
        seq=change.seq,
    )


async def note(tx: Transaction, last: Change, after: Believed, *, author: str, now: Micros) -> None:
    """Write down what forgetting decides about a belief that stays."""
    ground = Ground(author=author)
    await decide(tx, after, op="reopened", base=last.seq, ground=ground, now=now)
