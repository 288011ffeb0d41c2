"""What is left of an import that was undone? Beliefs that have ended with it, as history.

Its messages went without being forgotten, and their quotes with them. So nothing that is kept
speaks for these beliefs, and no words lead to them: they are known by that.
"""

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import Believed, Change, Summary
from oldfriend.memory.forgetting.holding import Holding, text_of
from oldfriend.memory.forgetting.resting import Beliefs, is_by_hand, newest_of


def leftovers_in(holding: Holding) -> dict[ObjectId, Change]:
    """The beliefs that have ended and of whose words none is kept, each as decided last."""
    said = {each.id for each in holding.messages}
    segments = {each.id for each in holding.segments}
    witnessed = {each.object for each in holding.witnesses}
    sources: dict[ObjectId, set[str]] = {}
    for change in holding.changes:
        sources.setdefault(change.object, set()).update(each.message for each in change.causes)

    def is_left(each: ObjectId, after: Believed) -> bool:
        if isinstance(after, Summary):
            return segments.isdisjoint(after.segments)
        return each not in witnessed and bool(sources[each]) and said.isdisjoint(sources[each])

    return {
        each: change
        for each, change in newest_of(holding).items()
        if change.after.ended_at is not None and not is_by_hand(change)
        and is_left(each, change.after)
    }  # fmt: skip


def on_nothing(holding: Holding) -> dict[ObjectId, Change]:
    """The leftovers, and what the person has rejected: it is not learned anew from other words."""
    newest = newest_of(holding).items()
    return leftovers_in(holding) | {each: c for each, c in newest if c.op == "rejected"}


def learned_between(
    holding: Holding, leftovers: Beliefs, since: Micros, until: Micros
) -> frozenset[ObjectId]:
    """Those of some leftovers that were learned in a span of time."""
    first: dict[ObjectId, Micros] = {}
    for change in holding.changes:
        first.setdefault(change.object, change.decided_at)
    return frozenset(each for each in leftovers if since <= first[each] <= until)


def going_along(leftovers: Beliefs, going: Beliefs) -> dict[ObjectId, Change]:
    """Those of some leftovers that go, and those that say the same as something that does."""
    said = {what_is_said(change) for change in going.values()}
    return {
        each: change
        for each, change in leftovers.items()
        if each in going or what_is_said(change) in said
    }


def what_is_said(change: Change) -> tuple[str, str]:
    """The kind of a belief and its words."""
    return type(change.after).__name__, text_of(change).casefold()
