"""What becomes of a tie between two? Known already, new, in the place of another, or history.

Both ends are whoever their names mean by now. What was said later in the world holds: of what one
has at a time, the newer; who dislikes something likes it no longer. What a fact says already gets
more words for it, and no tie beside it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.background.deciding.attributes import (
    JUST_NOW,
    is_over,
    last_word,
    live,
    oppose,
    strengthen,
)
from oldfriend.background.deciding.deliberation import SURE_ENOUGH, Deliberation
from oldfriend.background.deciding.names import decide_name, find
from oldfriend.background.extraction import Claim, Named, Tied
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import EntityKind, Known, MemoryKind, Relation
from oldfriend.domain.ties import DATED, USUAL_KIND, Edge, Names, Node, edge_between
from oldfriend.memory.overtaking import since

FACTS: Final[tuple[MemoryKind, ...]] = ("fact", "preference")


def decide_tie(thinking: Deliberation, tied: Tied) -> None:
    """Decide about a tie; between whom nobody knows, about none."""
    edge = edge_told(thinking, tied)
    if edge is None:
        thinking.refused["not known"] += 1
        return
    claim = replace(
        tied.claim, key=edge.tie, value=thinking.entities[edge.second].name,
        subject="person" if edge.first is None else "other",
    )  # fmt: skip
    if was_rejected(thinking, edge, claim):
        thinking.refused["rejected by the person"] += 1
        return
    names = thinking.names
    if (fact := fact_saying(thinking, edge, names)) is not None:
        if not is_over(thinking, claim):
            strengthen(thinking, fact, claim)
        return
    if contradicts_a_fact(thinking, edge, names):
        thinking.refused["not known"] += 1  # what a fact says, a fact changes
        return
    known = [(each, names.edge_of(each.memory)) for each in thinking.of_kind("triple")]
    twins = [each for each, other in known if other == edge and is_of_that_time(each, claim)]
    rivals = live(each for each, other in known if other is not None and edge.excludes(other))
    if twin := next(iter(live(twins)), None):
        say_again(thinking, twin, claim)
    else:
        compare(thinking, edge, claim, rivals, past=twins)
    if edge.tie == "visited":
        come_true(thinking, edge, claim, known)


def edge_told(thinking: Deliberation, tied: Tied) -> Edge | None:
    """The tie between those whom its names mean; who is named for the first time becomes known."""
    ends: list[Node] = []
    usual = USUAL_KIND.get(tied.tie, "other")
    first: EntityKind = "other" if tied.tie == "part_of" else "person"
    kinds: tuple[tuple[str, EntityKind], ...] = ((tied.first, first), (tied.second, usual))
    for name, kind in kinds:
        named = Named(name=name, kind=kind, quotes=tied.quotes)
        if name and find(thinking, [name]) is None:
            decide_name(thinking, named)
        known = find(thinking, [name]) if name else None
        if name and known is None:
            return None
        ends.append(None if known is None else thinking.names.meant_by(known.id))
    return edge_between(tied.tie, ends[0], ends[1])


def fact_saying(thinking: Deliberation, edge: Edge, names: Names) -> Known | None:
    """The fact or preference that says what a tie says."""
    known = tying(facts(thinking), names)
    return next((each for each, other in known if other == edge), None)


def contradicts_a_fact(thinking: Deliberation, edge: Edge, names: Names) -> bool:
    """Whether a fact or preference that is believed says otherwise."""
    return any(edge.excludes(other) for _, other in tying(facts(thinking), names))


def facts(thinking: Deliberation) -> Iterator[Known]:
    """The facts and preferences that are believed now."""
    return (each for kind in FACTS for each in thinking.live(kind))


def tying(some: Iterable[Known], names: Names) -> Iterator[tuple[Known, Edge]]:
    """Those of some beliefs that tie two, each with its tie."""
    for each in some:
        edge = names.edge_of(each.memory)
        if edge is not None:
            yield each, edge


def outdate_ties(thinking: Deliberation, claim: Claim) -> None:
    """End the ties that cannot hold beside what a claim has made believed, and were said before."""
    if claim.signal == "implicit" or is_over(thinking, claim):
        return
    names, heard_at = thinking.names, thinking.heard_at(claim)
    saying_it = (each for each in facts(thinking) if each.memory.text == claim.text)
    told = [edge for _, edge in tying(saying_it, names)]
    for each in thinking.live("triple") if told else ():
        edge = names.edge_of(each.memory)
        is_excluded = edge is not None and any(new.excludes(edge) for new in told)
        if is_excluded and last_word(each) <= heard_at:
            until = max(claim.holds_from or heard_at, since(each))
            thinking.end(each, "superseded", "superseded", claim, until=until)


def compare(
    thinking: Deliberation, edge: Edge, claim: Claim, rivals: Sequence[Known], *,
    past: Sequence[Known],
) -> None:  # fmt: skip
    """Something new beside what cannot hold at the same time: what was said later holds."""
    heard_at = thinking.heard_at(claim)
    newer = [each for each in rivals if is_of_before(claim, each, heard_at)]
    rests = [each for each in rivals if each.memory.id not in thinking.scene.fading]
    if newer or (is_over(thinking, claim) and edge.tie not in DATED):
        remember(thinking, edge, claim, newer, past)
    elif any(each.memory.is_by_person for each in rests) and claim.signal == "implicit":
        thinking.refused["overruled by the person"] += 1
    elif rests and (claim.signal == "implicit" or claim.confidence < SURE_ENOUGH):
        for each in rests:
            oppose(thinking, each, claim)
    else:
        overtake(thinking, edge, claim, rests)


def overtake(thinking: Deliberation, edge: Edge, claim: Claim, rivals: Sequence[Known]) -> None:
    """Believe it, and that what it excludes held until then."""
    oldest = rivals[0].memory if rivals else None
    learned = thinking.learn(claim, supersedes=oldest, entities=ends_of(edge))
    links = tuple(Relation(kind="supersedes", other=each.memory.id) for each in rivals)
    thinking.change(
        thinking.known[learned.id], replace(learned, relations=links), "revised"
    )  # fmt: skip
    for each in rivals:
        until = max(claim.holds_from or thinking.heard_at(claim), since(each))
        thinking.end(each, "superseded", "superseded", claim, until=until)


def remember(
    thinking: Deliberation, edge: Edge, claim: Claim, newer: Sequence[Known],
    past: Sequence[Known],
) -> None:  # fmt: skip
    """Know that it was so once; already known history only gets more words."""
    if past:
        thinking.bear(past[0], claim)
        return
    until = min((since(each) for each in newer), default=claim.holds_until)
    thinking.learn(
        claim, status="superseded", is_over=True, holds_until=claim.holds_until or until,
        entities=ends_of(edge),
    )  # fmt: skip


def come_true(
    thinking: Deliberation, edge: Edge, claim: Claim, known: Sequence[tuple[Known, Edge | None]]
) -> None:
    """Let a plan be fulfilled by having been there since."""
    plan = Edge("plans_for", edge.first, edge.second)
    heard_at = thinking.heard_at(claim)
    for each in live(each for each, other in known if other == plan):
        begins = each.memory.holds_from or since(each)
        if begins <= heard_at and (claim.holds_until or heard_at) >= begins:
            thinking.end(each, "fulfilled", "fulfilled", claim, until=None)


def say_again(thinking: Deliberation, known: Known, claim: Claim) -> None:
    """A tie that is known: more words for it, or the end of it, or when it was."""
    is_dated = known.memory.key in DATED
    if is_over(thinking, claim) and not is_dated:
        if thinking.heard_at(claim) >= last_word(known):
            thinking.end(known, "superseded", "superseded", claim, until=claim.holds_until)
        return
    strengthen(thinking, known, claim)
    memory = thinking.known[known.memory.id].memory
    if memory.holds_from is None and claim.holds_from is not None and is_dated:
        after = replace(memory, holds_from=claim.holds_from, holds_until=claim.holds_until)
        thinking.change(known, after, "revised")


def is_of_that_time(known: Known, claim: Claim) -> bool:
    """Whether both may tell of one time: of what is dated, none is known, or they overlap."""
    memory = known.memory
    if memory.key not in DATED or memory.holds_from is None or claim.holds_from is None:
        return True
    begins = max(memory.holds_from, claim.holds_from)
    ends = min(memory.holds_until or memory.holds_from, claim.holds_until or claim.holds_from)
    return begins <= ends


def is_of_before(claim: Claim, known: Known, heard_at: Micros) -> bool:
    """Whether a claim tells of a time before what is known."""
    if heard_at < last_word(known):
        return True
    return (claim.holds_from or heard_at) < since(known) - JUST_NOW


def was_rejected(thinking: Deliberation, edge: Edge, claim: Claim) -> bool:
    """Whether the person has said that this is not so, after these words."""
    heard_at = thinking.heard_at(claim)
    return any(
        heard_at <= (memory.ended_at or memory.learned_at)
        for memory in thinking.scene.rejected
        if memory.kind == "triple" and thinking.names.edge_of(memory) == edge
    )


def ends_of(edge: Edge) -> tuple[EntityId, ...]:
    """The ends of a tie that have a name, the first of them first."""
    return (edge.second,) if edge.first is None else (edge.first, edge.second)
