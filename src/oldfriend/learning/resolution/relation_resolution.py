"""Relation resolution: decides whether a relation is known, new, a replacement, or history.

Both ends are the entities that their names currently resolve to. What was said later in the world
wins: of relations that allow one at a time, the newer one; a dislike ends a like. A relation that
a fact already states gives that fact more evidence, and no relation is added.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.belief_kinds import list_kinds
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import EntityKind, MemoryState, ObjectLink
from oldfriend.domain.relations import (
    DATED,
    USUAL_TARGET_KIND,
    Edge,
    EntityResolver,
    Node,
    build_edge,
)
from oldfriend.domain.supersession import get_valid_since
from oldfriend.learning.extraction import Claim, EntityMention, RelationClaim
from oldfriend.learning.resolution.attribute_resolution import (
    RECENT,
    add_contradiction,
    end_values_before,
    filter_live,
    get_last_confirmed_at,
    is_past_claim,
    reinforce,
)
from oldfriend.learning.resolution.entity_linking import find_entity, resolve_mention
from oldfriend.learning.resolution.resolution_state import MIN_CONFIDENCE, ResolutionState

FACT_KINDS: Final = list_kinds(lambda kind: kind.is_attribute)


def resolve_relation(state: ResolutionState, relation: RelationClaim) -> None:
    """Resolve a relation; refused if an end is unknown."""
    edge = resolve_edge(state, relation)
    if edge is None:
        state.rejected["not known"] += 1
        return
    claim = replace(
        relation.claim,
        key=edge.relation,
        value=state.entities[edge.second].name,
        subject="person" if edge.first is None else "other",
    )
    if was_edge_rejected(state, edge, claim):
        state.rejected["rejected by the person"] += 1
        return
    names = state.names
    if (fact := find_fact_with_edge(state, edge, names)) is not None:
        if not is_past_claim(state, claim):
            reinforce(state, fact, claim)
        return
    if is_excluded_by_fact(state, edge, names):
        state.rejected["not known"] += 1  # only a fact can change what a fact says
        return
    known = [(each, names.find_edge(each.memory)) for each in state.list_by_kind("triple")]
    twins = [each for each, other in known if other == edge and is_overlapping(each, claim)]
    rivals = filter_live(
        each for each, other in known if other is not None and edge.excludes(other)
    )
    if twin := next(iter(filter_live(twins)), None):
        reinforce_relation(state, twin, claim)
        end_values_before(state, twin, claim, rivals)
    else:
        resolve_rivals(state, edge, claim, rivals, past=twins)
    if edge.relation == "visited":
        fulfil_plans(state, edge, claim, known)


def resolve_edge(state: ResolutionState, relation: RelationClaim) -> Edge | None:
    """Return the edge between the entities that are named; new names become entities."""
    ends: list[Node] = []
    second_kind = USUAL_TARGET_KIND.get(relation.kind, "other")
    first_kind: EntityKind = "other" if relation.kind == "part_of" else "person"
    kinds: tuple[tuple[str, EntityKind], ...] = (
        (relation.first, first_kind),
        (relation.second, second_kind),
    )
    for name, kind in kinds:
        mention = EntityMention(name=name, kind=kind, quotes=relation.quotes)
        if name and find_entity(state, [name]) is None:
            resolve_mention(state, mention)
        known = find_entity(state, [name]) if name else None
        if name and known is None:
            return None
        ends.append(None if known is None else state.names.resolve(known.id))
    return build_edge(relation.kind, ends[0], ends[1])


def find_fact_with_edge(
    state: ResolutionState, edge: Edge, names: EntityResolver
) -> MemoryState | None:
    """Return the fact or preference that states an edge."""
    known = iter_edges(iter_facts(state), names)
    return next((each for each, other in known if other == edge), None)


def is_excluded_by_fact(state: ResolutionState, edge: Edge, names: EntityResolver) -> bool:
    """Return whether a current fact or preference excludes an edge."""
    return any(edge.excludes(other) for _, other in iter_edges(iter_facts(state), names))


def iter_facts(state: ResolutionState) -> Iterator[MemoryState]:
    """Yield the current facts and preferences."""
    return (each for kind in FACT_KINDS for each in state.list_live(kind))


def iter_edges(
    beliefs: Iterable[MemoryState], names: EntityResolver
) -> Iterator[tuple[MemoryState, Edge]]:
    """Yield the beliefs that state a relation, each with its edge."""
    for each in beliefs:
        edge = names.find_edge(each.memory)
        if edge is not None:
            yield each, edge


def end_excluded_relations(state: ResolutionState, claim: Claim) -> None:
    """End the relations that a believed claim excludes, and that were said before it."""
    if claim.signal == "implicit" or is_past_claim(state, claim):
        return
    names, said_at = state.names, state.get_said_at(claim)
    stating = (each for each in iter_facts(state) if each.memory.text == claim.text)
    new_edges = [edge for _, edge in iter_edges(stating, names)]
    for each in state.list_live("triple") if new_edges else ():
        edge = names.find_edge(each.memory)
        is_excluded = edge is not None and any(new.excludes(edge) for new in new_edges)
        if is_excluded and get_last_confirmed_at(each) <= said_at:
            until = max(claim.holds_from or said_at, get_valid_since(each))
            state.end(each, "superseded", "superseded", claim, until=until)


def resolve_rivals(
    state: ResolutionState,
    edge: Edge,
    claim: Claim,
    rivals: Sequence[MemoryState],
    *,
    past: Sequence[MemoryState],
) -> None:
    """Resolve a relation beside those that it excludes: what was said later holds."""
    said_at = state.get_said_at(claim)
    newer = [each for each in rivals if is_before_known(claim, each, said_at)]
    fresh_rivals = [each for each in rivals if not state.is_unread_again(each)]
    if newer or (is_past_claim(state, claim) and edge.relation not in DATED):
        add_past_relation(state, edge, claim, newer, past)
    elif any(each.memory.is_by_person for each in fresh_rivals) and claim.signal == "implicit":
        state.rejected["overruled by the person"] += 1
    elif fresh_rivals and (claim.signal == "implicit" or claim.confidence < MIN_CONFIDENCE):
        for each in fresh_rivals:
            add_contradiction(state, each, claim)
    else:
        replace_rivals(state, edge, claim, fresh_rivals)


def replace_rivals(
    state: ResolutionState, edge: Edge, claim: Claim, rivals: Sequence[MemoryState]
) -> None:
    """Learn a relation, and end the ones that it excludes."""
    oldest = rivals[0].memory if rivals else None
    learned = state.learn(claim, supersedes=oldest, entity_ids=list_end_ids(edge))
    links = tuple(ObjectLink(kind="supersedes", target=each.memory.id) for each in rivals)
    state.change(state.known[learned.id], replace(learned, relations=links), "revised")
    for each in rivals:
        until = max(claim.holds_from or state.get_said_at(claim), get_valid_since(each))
        state.end(each, "superseded", "superseded", claim, until=until)


def add_past_relation(
    state: ResolutionState,
    edge: Edge,
    claim: Claim,
    newer: Sequence[MemoryState],
    past: Sequence[MemoryState],
) -> None:
    """Add a relation to history; known history only gets more evidence."""
    if past:
        state.add_evidence(past[0], claim)
        return
    until = min((get_valid_since(each) for each in newer), default=claim.holds_until)
    state.learn(
        claim,
        status="superseded",
        is_over=True,
        holds_until=claim.holds_until or until,
        entity_ids=list_end_ids(edge),
    )


def fulfil_plans(
    state: ResolutionState,
    edge: Edge,
    claim: Claim,
    known: Sequence[tuple[MemoryState, Edge | None]],
) -> None:
    """Mark a plan as fulfilled by a later visit."""
    plan = Edge("plans_for", edge.first, edge.second)
    said_at = state.get_said_at(claim)
    for each in filter_live(each for each, other in known if other == plan):
        begins = each.memory.holds_from or get_valid_since(each)
        if begins <= said_at and (claim.holds_until or said_at) >= begins:
            state.end(each, "fulfilled", "fulfilled", claim, until=None)


def reinforce_relation(state: ResolutionState, known: MemoryState, claim: Claim) -> None:
    """Add a claim to a known relation: more evidence, its end, or its date."""
    is_dated = known.memory.key in DATED
    if is_past_claim(state, claim) and not is_dated:
        if state.get_said_at(claim) >= get_last_confirmed_at(known):
            state.end(known, "superseded", "superseded", claim, until=claim.holds_until)
        return
    reinforce(state, known, claim)
    memory = state.known[known.memory.id].memory
    if memory.holds_from is None and claim.holds_from is not None and is_dated:
        after = replace(
            memory,
            holds_from=claim.holds_from,
            holds_until=claim.holds_until,
            grain=claim.grain,
            zone=state.get_zone(claim),
        )
        state.change(known, after, "revised")


def is_overlapping(known: MemoryState, claim: Claim) -> bool:
    """Return whether both may be about one time: undated, or overlapping."""
    memory = known.memory
    if memory.key not in DATED or memory.holds_from is None or claim.holds_from is None:
        return True
    begins = max(memory.holds_from, claim.holds_from)
    ends = min(memory.holds_until or memory.holds_from, claim.holds_until or claim.holds_from)
    return begins <= ends


def is_before_known(claim: Claim, known: MemoryState, heard_at: Micros) -> bool:
    """Return whether a claim is about a time before what is known."""
    if heard_at < get_last_confirmed_at(known):
        return True
    return (claim.holds_from or heard_at) < get_valid_since(known) - RECENT


def was_edge_rejected(state: ResolutionState, edge: Edge, claim: Claim) -> bool:
    """Return whether the person has rejected this relation after saying it."""
    said_at = state.get_said_at(claim)
    return any(
        said_at <= (memory.ended_at or memory.learned_at)
        for memory in state.context.rejected
        if memory.kind == "triple" and state.names.find_edge(memory) == edge
    )


def list_end_ids(edge: Edge) -> tuple[EntityId, ...]:
    """Return the ends of an edge that are entities, in order."""
    return (edge.second,) if edge.first is None else (edge.first, edge.second)
