"""Claim resolution: reconciles all claims of a segment with what is believed, names first."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS, KINDS_BY_NAME
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import MemoryState, ObjectLink, StoredBelief
from oldfriend.domain.supersession import get_valid_since, list_superseders
from oldfriend.learning.critical_tokens import extract_critical_tokens
from oldfriend.learning.extraction import Claim, Extraction
from oldfriend.learning.resolution.attribute_resolution import (
    RECENT,
    add_contradiction,
    find_by_value,
    fold_value,
    get_last_confirmed_at,
    is_about_same_key,
    reinforce,
    resolve_fact,
    resolve_preference,
)
from oldfriend.learning.resolution.cascade import (
    end_if_pet_died,
    end_outdated,
    end_pet_beliefs,
    end_relation_if_pet_died,
    is_death_event,
)
from oldfriend.learning.resolution.claim_matching import (
    EVENT_WINDOW,
    find_best_match,
    find_merge_target,
    is_same_due_time,
)
from oldfriend.learning.resolution.entity_linking import resolve_mention, resolve_same_as
from oldfriend.learning.resolution.judged_claims import resolve_judged_claim
from oldfriend.learning.resolution.relation_resolution import (
    end_excluded_relations,
    resolve_relation,
)
from oldfriend.learning.resolution.resolution_state import MIN_CONFIDENCE, ResolutionState
from oldfriend.learning.resolution.wording import refine
from oldfriend.memory.restatement_detection import has_correction_words
from oldfriend.search.shared_topics import extract_content_terms

MIN_TOPIC_OVERLAP: Final = 0.75
"""Share of the shorter text's terms that both must contain to be on one topic."""
MIN_SHARED_TERMS: Final = 2
"""Minimum number of terms, lest a single word decide."""


def resolve_extraction(state: ResolutionState, extraction: Extraction) -> None:
    """Resolve everything that passed validation."""
    state.is_by_model = extraction.is_by_model
    for mention in extraction.mentions:
        resolve_mention(state, mention)
    for same_as in extraction.same_as_claims:
        resolve_same_as(state, same_as)
    for extracted in sorted(extraction.claims, key=may_repeat_another):
        claim = end_if_pet_died(
            state, convert_to_termination(state, extracted, extraction.claims), extraction.claims
        )
        if not resolve_judged_claim(state, claim):
            resolve_claim(state, claim)
    for claim in extraction.claims:  # a report of a death also repeats whose pet it was
        end_pet_beliefs(state, claim)
    for relation in extraction.relations:
        if not resolve_judged_claim(state, relation.claim):
            resolve_relation(state, end_relation_if_pet_died(state, relation, extraction.claims))


def may_repeat_another(claim: Claim) -> bool:
    """Return whether a claim joins a belief in the same words, so that it comes last."""
    return claim.kind == "fact" and not is_single_valued(claim)


def resolve_claim(state: ResolutionState, claim: Claim) -> None:
    """Resolve one claim."""
    if KINDS_BY_NAME[claim.kind].resolution == "topic":
        resolve_by_topic(state, claim)
        return
    target = None if claim.target is None else state.known.get(claim.target)
    if target is not None and target.memory.ended_at is None and claim.effect != "new":
        resolve_targeted_claim(state, claim, target)
        return
    if (merged_into := find_merge_target(state, claim)) is not None:
        reinforce(state, merged_into, claim)
    else:
        resolve_by_kind(state, claim)


def resolve_by_kind(state: ResolutionState, claim: Claim) -> None:
    """Resolve a claim that targets no known belief."""
    match KINDS_BY_NAME[claim.kind].resolution:
        case "fact":
            resolve_fact(state, claim)
            end_outdated(state, claim)
            end_excluded_relations(state, claim)
        case "preference":
            resolve_preference(state, claim)
            end_outdated(state, claim)
            end_excluded_relations(state, claim)
        case "event":
            resolve_event(state, claim)
        case "pattern":
            resolve_pattern(state, claim)
        case "due":
            resolve_commitment(state, claim)
        case "correction":
            state.rejected["not known"] += (
                1  # notes are made in a turn; learning only corrects them
            )


def convert_to_termination(state: ResolutionState, claim: Claim, others: Iterable[Claim]) -> Claim:
    """Convert a claim about an ended belief to its termination; others stay as they are.

    A claim stays, too, if one of ``others`` already says that it is over.
    """
    if claim.kind not in ATTRIBUTE_KINDS or claim.holds_until is None:
        return claim
    if any(states_termination(each, claim) for each in others):
        return claim
    known = next((e for e in list_still_live(state, claim) if has_same_value(e, claim)), None)
    if known is None or not has_reached_end(state, known, claim):
        return claim
    until = min(claim.holds_until, state.get_said_at(claim))
    ended = replace(
        claim,
        text=known.memory.text,
        value=known.memory.value,
        holds_from=None,
        holds_until=until,
        effect="new",
        target=None,
    )
    return state.build_termination(ended, state.get_language(claim)) or claim


def states_termination(other: Claim, claim: Claim) -> bool:
    """Return whether another claim says that what this one says is over."""
    ended = other.ended_claim
    return ended is not None and (ended.kind, ended.key, fold_value(ended.value)) == (
        claim.kind,
        claim.key,
        fold_value(claim.value),
    )


def list_still_live(state: ResolutionState, claim: Claim) -> list[MemoryState]:
    """Return the current beliefs of a kind, as if the segment's earlier reading did not exist."""
    stale = [each.memory for each in state.known.values() if each.memory.id in state.context.stale]
    return [
        each
        for each in state.list_by_kind(claim.kind)
        if each.memory.ended_at is None or any(list_superseders(each.memory, stale))
    ]


def has_same_value(known: MemoryState, claim: Claim) -> bool:
    """Return whether a claim has the value of a known belief."""
    return is_about_same_key(known, claim) and fold_value(known.memory.value) == fold_value(
        claim.value
    )


def has_reached_end(state: ResolutionState, known: MemoryState, claim: Claim) -> bool:
    """Return whether a claim surely says that a known belief has ended.

    Claims said before the belief was last confirmed do not count, nor do those about an earlier
    period of the same value.
    """
    said_at = state.get_said_at(claim)
    if claim.holds_until is None or claim.signal == "implicit" or claim.confidence < MIN_CONFIDENCE:
        return False
    is_current_period = claim.holds_until >= get_valid_since(known) - RECENT
    return (
        is_current_period
        and claim.holds_until - DAY < said_at
        and said_at > get_last_confirmed_at(known)
    )


def resolve_by_topic(state: ResolutionState, claim: Claim) -> None:
    """Resolve a claim on a topic: the first on it, the same again, a change of mind, or refused."""
    old = next((each for each in state.list_live(claim.kind) if has_same_topic(each, claim)), None)
    if old is None:
        state.learn(claim)
    elif claim.effect == "supersedes":
        replace_on_topic(state, old, claim)
    elif claim.effect == "reinforces" or state.is_same(claim, old.memory):
        reinforce(state, old, claim)
    else:
        state.rejected[f"contradicts its {claim.kind}"] += 1


def replace_on_topic(state: ResolutionState, old: MemoryState, claim: Claim) -> None:
    """Replace a belief on a topic; both are written, with the words that changed it."""
    if state.get_said_at(claim) < old.stats.last_seen:
        state.rejected["not known"] += 1  # the known belief was stated again since
        return
    state.learn(claim, supersedes=old.memory)
    until = max(state.get_said_at(claim), old.stats.first_seen)
    state.end(old, "superseded", "superseded", claim, until=until)


def has_same_topic(known: MemoryState, claim: Claim) -> bool:
    """Return whether a belief is on a claim's topic, whatever the word forms."""
    memory = known.memory
    if fold_value(memory.key) == fold_value(claim.key):
        return True
    old, new = (extract_content_terms(key, memory.language) for key in (memory.key, claim.key))
    return bool(old) and (old == new or is_contradiction(memory, claim))


def is_contradiction(memory: StoredBelief, claim: Claim) -> bool:
    """Return whether one of two denies what the other says, whatever their topics are called."""
    one, other = (
        extract_critical_tokens(text, memory.language) for text in (memory.text, claim.text)
    )
    if one.is_negated == other.is_negated:
        return False
    old, new = (extract_content_terms(text, memory.language) for text in (memory.text, claim.text))
    return len(old & new) >= MIN_TOPIC_OVERLAP * max(min(len(old), len(new)), MIN_SHARED_TERMS)


def resolve_event(state: ResolutionState, claim: Claim) -> None:
    """Resolve an event: known already, or new.

    One told without a time happened when it was told; but a death is told years later, too.
    """
    is_timeless = claim.happened_at is None and is_death_event(state, claim)
    at = claim.happened_at or state.get_said_at(claim)
    claim = claim if is_timeless else replace(claim, happened_at=at)
    near = (
        each
        for each in state.list_live("event")
        if is_timeless or abs(get_event_time(each) - at) <= EVENT_WINDOW
    )
    known = find_best_match(state, claim, near)
    if known is None:
        state.learn(claim)
    else:
        state.add_evidence(known, claim)
        state.change(
            known, merge_event_details(known.memory, claim, state.get_zone(claim)), "revised"
        )
        refine(state, known, claim)


def resolve_pattern(state: ResolutionState, claim: Claim) -> None:
    """Resolve a pattern: known already, or new."""
    known = find_best_match(state, claim, list_same_subject(state, claim))
    if known is None:
        state.learn(claim)
    else:
        reinforce(state, known, claim)


def resolve_commitment(state: ResolutionState, claim: Claim) -> None:
    """Resolve a promise or expectation: known already, perhaps with another due time, or new."""
    known = find_best_match(state, claim, list_same_subject(state, claim))
    if known is None:
        state.learn(claim)
        return
    state.add_evidence(known, claim)
    refine(state, known, claim)
    current = state.known[known.memory.id]
    if claim.due_at is not None and not is_same_due_time(claim.due_at, current.memory.due_at):
        moved = replace(
            current.memory, due_at=claim.due_at, grain=claim.grain, zone=state.get_zone(claim)
        )
        state.change(current, moved, "revised")


def list_same_subject(state: ResolutionState, claim: Claim) -> list[MemoryState]:
    """Return the current beliefs of a claim's kind and subject."""
    return [e for e in state.list_live(claim.kind) if e.memory.subject == claim.subject]


def resolve_targeted_claim(state: ResolutionState, claim: Claim, target: MemoryState) -> None:
    """Resolve a claim that targets a known belief."""
    match claim.effect:
        case "reinforces":
            reinforce(state, target, claim)
        case "contradicts":
            add_contradiction(state, target, claim)
        case "fulfils":
            state.add_evidence(target, claim)
            state.end(target, "fulfilled", "fulfilled", claim, until=None)
        case "cancels":
            state.add_evidence(target, claim)
            state.end(target, "expired", "expired", claim, until=None)
        case _ if is_later_event(state, target, claim):
            resolve_event(state, claim)
        case _:
            supersede(state, target, claim)


def is_later_event(state: ResolutionState, target: MemoryState, claim: Claim) -> bool:
    """Return whether a claim tells what came of an event, which has happened all the same.

    Told as a correction, or without a later time of its own, it says what really happened then.
    """
    if target.memory.kind != "event" or claim.kind != "event" or "correction" in claim.relational:
        return False
    if claim.happened_at is None:
        return False
    words = [state.context.messages.get(each.message) for each in claim.quotes]
    if any(each and has_correction_words(each.text, each.language) for each in words):
        return False
    return claim.happened_at - get_event_time(target) > DAY


def supersede(state: ResolutionState, old: MemoryState, claim: Claim) -> None:
    """Supersede a belief by a claim; both are written."""
    said_at = state.get_said_at(claim)
    if said_at < get_last_confirmed_at(old):
        state.rejected["not known"] += 1  # the known belief is newer
    elif old.memory.is_by_person and claim.signal == "implicit":
        state.rejected["overruled by the person"] += 1
    else:
        claim = inherit_event_time(old, claim)
        twin = find_equivalent(state, old, claim)
        if twin is None:
            state.learn(claim, supersedes=old.memory)
        else:
            reinforce(state, twin, claim)
            twin = state.known[twin.memory.id]
            link = ObjectLink(kind="supersedes", target=old.memory.id)
            relations = tuple(dict.fromkeys((*twin.memory.relations, link)))
            state.change(twin, replace(twin.memory, relations=relations), "revised")
        state.end(old, "superseded", "superseded", claim, until=claim.holds_from or said_at)


def inherit_event_time(old: MemoryState, claim: Claim) -> Claim:
    """Return a claim of what really happened with the time of the event, if it tells none."""
    is_event = old.memory.kind == claim.kind == "event"
    if not is_event or claim.happened_at is not None:
        return claim
    return replace(
        claim,
        happened_at=old.memory.happened_at,
        happened_until=old.memory.happened_until,
        grain=old.memory.grain,
    )


def find_equivalent(state: ResolutionState, old: MemoryState, claim: Claim) -> MemoryState | None:
    """Return a known belief that already says what supersedes another one."""
    others = [
        each
        for each in state.list_live(claim.kind)
        if each.memory.id != old.memory.id and each.memory.subject == claim.subject
    ]
    if claim.key:
        return find_by_value([each for each in others if each.memory.key == claim.key], claim.value)
    return next((each for each in others if state.is_same(claim, each.memory)), None)


def merge_event_details(memory: StoredBelief, claim: Claim, zone: str) -> StoredBelief:
    """Merge the details of another report into an event: impact, tags and cues, a missing time.

    A good event does not become bad by it, nor the other way round.
    """
    if memory.happened_at is None and claim.happened_at is not None:
        memory = replace(
            memory,
            happened_at=claim.happened_at,
            happened_until=claim.happened_until,
            grain=claim.grain,
            zone=zone,
        )
    is_stronger = abs(claim.impact) > abs(memory.impact) and claim.impact * memory.impact >= 0
    return replace(
        memory,
        impact=claim.impact if is_stronger else memory.impact,
        arousal=max_known(memory.arousal, claim.arousal),
        cues=tuple(dict.fromkeys((*memory.cues, *claim.cues)))[:3],
        tags=tuple(dict.fromkeys((*memory.tags, *claim.tags)))[:4],
        relational=tuple(dict.fromkeys((*memory.relational, *claim.relational)))[:3],
    )


def max_known(*values: int | None) -> int | None:
    """Return the greatest of the known values."""
    return max((each for each in values if each is not None), default=None)


def get_event_time(known: MemoryState) -> Micros:
    """Return when an event happened."""
    return known.memory.happened_at or known.stats.first_seen
