"""Attribute resolution: decides facts and preferences, with one current value per key.

The value said later in the world counts, whenever it was read: importing an old chat overrides
nothing newer.

A value is valid from the time that was stated for it. Without one, the first known value of an
attribute is valid from an unknown start (None), and each further one from when it was first said.
So of two values that hold at different times only the earlier one has no start, and each ends where
the next one begins, in whichever order they are read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.clock import DAY, Micros, get_coarser
from oldfriend.domain.memories import MemoryState, ObjectLink, Status, StoredBelief
from oldfriend.domain.supersession import (
    get_valid_since,
    has_same_key,
)
from oldfriend.domain.unicode_text import normalize
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim
from oldfriend.learning.resolution.resolution_state import MIN_CONFIDENCE, ResolutionState
from oldfriend.learning.resolution.wording import refine
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, tokenize

RECENT: Final = 31 * DAY
"""A value that began so recently is not about the distant past."""

OPPOSITE_KEYS: Final = {"interests": "dislikes", "dislikes": "interests"}
"""A new dislike ends the liking, and the other way round."""


def resolve_fact(state: ResolutionState, claim: Claim) -> None:
    """Resolve a fact: known already, new, newer than the known value, or older."""
    values = [each for each in state.list_by_kind("fact") if is_about_same_key(each, claim)]
    if claim.ended_claim is not None:
        resolve_termination(state, claim, claim.ended_claim, values)
    elif twin := find_by_value(filter_live(values), claim.value):
        reinforce(state, twin, claim)
        extend_start(state, twin, claim, values)
        end_values_before(state, twin, claim, list_rivals(values, claim))
    elif is_single_valued(claim):
        resolve_single_value(state, claim, values)
    elif wrong := next((e for e in filter_live(values) if is_value_denied(e, claim)), None):
        resolve_conflict(state, wrong, claim, [wrong])
    elif namesake := find_by_text(state.list_live("fact"), claim):
        reinforce(state, namesake, claim)
    else:
        add_value(state, claim, values)


def resolve_preference(state: ResolutionState, claim: Claim) -> None:
    """Resolve a preference: known already, new, or the opposite of a known one."""
    known = [
        each for each in state.list_by_kind("preference") if each.memory.subject == claim.subject
    ]
    values = [each for each in known if is_about_same_key(each, claim)]
    if claim.ended_claim is not None:
        resolve_termination(state, claim, claim.ended_claim, values)
    elif twin := find_by_value(filter_live(values), claim.value) or next(
        (each for each in filter_live(values) if state.is_same(claim, each.memory)), None
    ):
        reinforce(state, twin, claim)
        extend_start(state, twin, claim, values)
        opposite = find_opposite(claim, known)
        rivals = list_rivals(values, claim)
        end_values_before(state, twin, claim, [*rivals, opposite] if opposite else rivals)
    elif is_single_valued(claim):
        resolve_single_value(state, claim, values)
    elif wrong := next((e for e in filter_live(values) if is_value_denied(e, claim)), None):
        resolve_conflict(state, wrong, claim, [wrong])
    elif not is_past_claim(state, claim) and (opposite := find_opposite(claim, known)) is not None:
        resolve_conflict(state, opposite, claim, [opposite, *list_past_values(opposite, known)])
    else:
        add_value(state, claim, values)


def add_value(state: ResolutionState, claim: Claim, values: Sequence[MemoryState]) -> None:
    """Add another value of a multi-valued key; as history if it was over when said."""
    if not is_past_claim(state, claim):
        state.learn(claim)
    elif twin := find_by_value(values, claim.value):
        state.add_evidence(twin, claim)
    else:
        state.learn(claim, status="superseded", is_over=True)


def resolve_single_value(
    state: ResolutionState, claim: Claim, values: Sequence[MemoryState]
) -> None:
    """Resolve a new value of a key with one value at a time."""
    if is_past_claim(state, claim):
        insert_into_history(state, claim, values)
    elif rivals := filter_live(values):
        again = [each for each in rivals if not state.is_unread_again(each)]
        resolve_conflict(state, select_newest(again or rivals), claim, values)
    elif not values:
        state.learn(claim)
    elif get_held_at(state, claim) < get_latest_end(values):
        insert_into_history(state, claim, values)
    else:
        held_at = get_held_at(state, claim)
        end_earlier_values(state, values, held_at)
        state.learn(replace(claim, holds_from=held_at))


def end_earlier_values(state: ResolutionState, values: Iterable[MemoryState], at: Micros) -> None:
    """End earlier values at the time another one held, even if a later end had been stated."""
    for each in values:
        if each.memory.ended_at is not None and was_valid_at(each, at):
            state.change(each, replace(each.memory, holds_until=at), "revised")


def resolve_conflict(
    state: ResolutionState, old: MemoryState, claim: Claim, values: Sequence[MemoryState]
) -> None:
    """Resolve two values where there can be one: the one said later in the world wins."""
    said_at = state.get_said_at(claim)
    if state.is_unread_again(old):
        state.learn(claim)
    elif is_about_earlier_time(state, claim, old):
        insert_into_history(state, claim, values)
    elif old.memory.is_by_person and claim.signal == "implicit":
        state.rejected["overruled by the person"] += 1
    elif claim.signal == "implicit" or claim.confidence < MIN_CONFIDENCE:
        add_contradiction(state, old, claim)
    elif is_value_denied(old, claim):
        replace_wrong_value(state, old, claim)
    else:
        state.learn(claim, supersedes=old.memory)
        until = max(claim.holds_from or said_at, get_valid_since(old))
        state.end(old, "superseded", "superseded", claim, until=until)


def list_rivals(values: Iterable[MemoryState], claim: Claim) -> list[MemoryState]:
    """Return the current values that cannot hold beside a claim, or that it denies."""
    is_single = is_single_valued(claim)
    return [each for each in filter_live(values) if is_single or is_value_denied(each, claim)]


def end_values_before(
    state: ResolutionState, known: MemoryState, claim: Claim, rivals: Iterable[MemoryState]
) -> None:
    """End what a claim that is known already had ended or put right.

    There is such a value where a conversation is read again: what was said first is learned anew
    beside what was said last.
    """
    if claim.signal == "implicit" or claim.confidence < MIN_CONFIDENCE:
        return
    for each in rivals:
        is_other = each.memory.id != known.memory.id and not each.memory.is_by_person
        if not is_other or is_about_earlier_time(state, claim, each):
            continue
        memory = state.known[known.memory.id].memory
        link = ObjectLink(kind="supersedes", target=each.memory.id)
        relations = tuple(dict.fromkeys((*memory.relations, link)))
        state.change(state.known[memory.id], replace(memory, relations=relations), "revised")
        if is_value_denied(each, claim):
            state.end(each, "rejected", "superseded", claim, until=None)
        else:
            until = max(claim.holds_from or state.get_said_at(claim), get_valid_since(each))
            state.end(each, "superseded", "superseded", claim, until=until)


def replace_wrong_value(state: ResolutionState, old: MemoryState, claim: Claim) -> None:
    """Replace a value that was never true; the right one takes over its time."""
    state.learn(replace(claim, holds_from=get_valid_since(old)), supersedes=old.memory)
    state.end(old, "rejected", "superseded", claim, until=None)


def link_replacement(state: ResolutionState, wrong: MemoryState, claim: Claim) -> None:
    """Let the value that the same quotes state supersede a value that was wrong."""
    quotes = {(quote.message, quote.text) for quote in claim.quotes}
    for each in state.list_live(claim.kind):
        decision = state.decisions.get(each.memory.id)
        evidence_quotes = (
            {(one.source.id, one.quote) for one in decision.evidence} if decision else set()
        )
        if (
            fold_value(each.memory.value) == fold_value(wrong.memory.value)
            and evidence_quotes & quotes
        ):
            link = ObjectLink(kind="supersedes", target=wrong.memory.id)
            relations = tuple(dict.fromkeys((*each.memory.relations, link)))
            state.change(each, replace(each.memory, relations=relations), "revised")


def is_value_denied(known: MemoryState, claim: Claim) -> bool:
    """Return whether a claim says that exactly this value was never true.

    No teacher means no maths teacher; but no head nurse may still be a nurse.
    """
    if not claim.denied_value or claim.holds_from is not None:
        return False
    denied, value = (get_content_words(each) for each in (claim.denied_value, known.memory.value))
    if not denied:
        return fold_value(claim.denied_value) == fold_value(known.memory.value)
    return denied <= value


def get_content_words(text: str) -> set[str]:
    """Return a text's content words: no stop words, no single Han characters.

    Stop words of all languages count, because the language of a few words is unclear.
    """
    return {
        word
        for word in tokenize(text)
        if not any(is_stop_word(word, each) for each in list_languages("rules"))
        and not (is_unspaced(word) and len(word) == 1)
    }


def resolve_termination(
    state: ResolutionState, claim: Claim, ended: Claim, values: Sequence[MemoryState]
) -> None:
    """Resolve the end of a value; ignored if another value holds by now."""
    current = filter_live(values)
    if twin := find_by_value(current, claim.value):
        reinforce(state, twin, claim)
        return
    ended_state = (
        find_by_value(current, ended.value)
        or next((each for each in current if state.is_same(ended, each.memory)), None)
        or find_by_value(values[::-1], ended.value)
    )
    others = [each for each in current if each is not ended_state]
    if ended_state is None or (others and is_single_valued(claim)):
        return
    if claim.denied_value:
        state.end(ended_state, "rejected", "superseded", claim, until=None)
        link_replacement(state, ended_state, claim)
    elif ended_state.memory.ended_at is not None:
        state.learn(claim, supersedes=ended_state.memory)
    elif is_about_earlier_time(state, claim, ended_state):
        state.rejected["not known"] += 1  # it was said again since
    else:
        resolve_conflict(state, ended_state, claim, values)


def is_about_earlier_time(state: ResolutionState, claim: Claim, known: MemoryState) -> bool:
    """Return whether a claim is about a time before the known value: said earlier, or over by then.

    A move "yesterday", mentioned on the same day, is about the current value.
    """
    said_at = state.get_said_at(claim)
    if said_at < get_last_confirmed_at(known) or is_past_claim(state, claim):
        return True
    return (claim.holds_from or said_at) < get_valid_since(known) - RECENT


def is_past_claim(state: ResolutionState, claim: Claim) -> bool:
    """Return whether a claim is about something that had ended when it was said."""
    return claim.holds_until is not None and claim.holds_until <= state.get_said_at(claim)


def get_held_at(state: ResolutionState, claim: Claim) -> Micros:
    """Return the first moment at which the claim surely held."""
    if claim.holds_from is not None:
        return claim.holds_from
    said_at = state.get_said_at(claim)
    return said_at if claim.holds_until is None else min(said_at, claim.holds_until - 1)


def insert_into_history(
    state: ResolutionState, claim: Claim, values: Sequence[MemoryState]
) -> None:
    """Insert a value from before the current one at its place in the history."""
    held_at = get_held_at(state, claim)
    if is_past_claim(state, claim):
        held_at = min([held_at, *(get_valid_since(each) - 1 for each in filter_live(values))])
    past = [each for each in values if each.memory.ended_at is not None]
    same = [each for each in past if was_valid_at(each, held_at) or has_same_end(each, claim)]
    if twin := find_by_value(same, claim.value):
        state.add_evidence(twin, claim)
        return
    earlier = [each for each in values if get_valid_since(each) <= held_at]
    later = [each for each in values if get_valid_since(each) > held_at]
    end_earlier_values(state, past, held_at)
    for each in later:
        if each.memory.holds_from is None:
            state.change(each, replace(each.memory, holds_from=get_valid_since(each)), "revised")
    ends = [get_valid_since(each) for each in later] or [
        get_last_confirmed_at(each) for each in filter_live(values)
    ]
    stated_ends = [] if claim.holds_until is None else [claim.holds_until]
    state.learn(
        replace(claim, holds_from=held_at if earlier else claim.holds_from),
        status="superseded",
        holds_until=min([*ends, *stated_ends], default=None),
        is_over=True,
    )


def extend_start(
    state: ResolutionState, known: MemoryState, claim: Claim, values: Sequence[MemoryState]
) -> None:
    """Move the start of a known value back to an earlier time at which it held.

    Unless another value was said to hold in between.
    """
    held_at, starts_at = get_held_at(state, claim), known.memory.holds_from
    if starts_at is None or held_at >= starts_at or not is_single_valued(claim):
        return
    others = [each for each in values if each.memory.id != known.memory.id]
    if any(
        (get_valid_since if claim.holds_from else get_last_confirmed_at)(each) > held_at
        for each in others
    ):
        return
    memory = state.known[known.memory.id].memory
    grain = get_coarser(memory.grain, claim.grain)
    state.change(known, replace(memory, holds_from=held_at, grain=grain), "revised")
    for each in others:
        if (each.memory.holds_until or held_at) > held_at:
            state.change(each, replace(each.memory, holds_until=held_at), "revised")


def was_valid_at(known: MemoryState, at: Micros) -> bool:
    """Return whether an earlier value held at a moment."""
    return get_valid_since(known) <= at < (known.memory.holds_until or at + 1)


def has_same_end(known: MemoryState, claim: Claim) -> bool:
    """Return whether a claim states the known end of an earlier value: the same value again."""
    return claim.holds_until is not None and known.memory.holds_until == claim.holds_until


def reinforce(state: ResolutionState, known: MemoryState, claim: Claim) -> None:
    """Add a claim's evidence and better wording to a belief; a tentative one becomes active."""
    state.add_evidence(known, claim)
    if known.memory.status == "tentative":
        state.change(known, with_status(known.memory, "active"), "revised")
    refine(state, known, claim)
    update_valid_until(state, known, claim)


def update_valid_until(state: ResolutionState, known: MemoryState, claim: Claim) -> None:
    """Update until when a fact holds: the last statement counts; one after the end prolongs it."""
    said_at, before, until = state.get_said_at(claim), known.memory.holds_until, claim.holds_until
    if until is None:
        is_changed = before is not None and said_at >= before
    else:
        is_changed = claim.kind == "fact" and get_last_confirmed_at(known) <= said_at < until
    if is_changed:
        current = state.known[known.memory.id].memory
        grain = get_coarser(current.grain, claim.grain)
        state.change(known, replace(current, holds_until=until, grain=grain), "revised")


def add_contradiction(state: ResolutionState, known: MemoryState, claim: Claim) -> None:
    """Add evidence against a belief; it becomes disputed once its confidence is low.

    The person's own statement is not disputed by implicit evidence, nor by what they had said
    before.
    """
    is_by_person = known.memory.is_by_person
    if is_by_person and (
        claim.signal == "implicit" or state.get_said_at(claim) < get_last_confirmed_at(known)
    ):
        state.rejected["overruled by the person"] += 1
        return
    state.add_evidence(known, claim, stance="contradicts")
    if known.stats.confidence < MIN_CONFIDENCE + 0.2 and known.memory.status == "active":
        state.change(known, with_status(known.memory, "disputed"), "disputed")


def with_status(memory: StoredBelief, status: Status) -> StoredBelief:
    """Return the memory with another status."""
    return replace(memory, status=status)


def get_last_confirmed_at(known: MemoryState) -> Micros:
    """Return when it was last said or confirmed."""
    return max(known.stats.last_seen, known.memory.vouched_at or 0)


def select_newest(known: list[MemoryState]) -> MemoryState:
    """Return the value that was said last."""
    return max(known, key=lambda each: (get_last_confirmed_at(each), each.memory.id))


def filter_live(known: Iterable[MemoryState]) -> list[MemoryState]:
    """Return the beliefs that are current."""
    return [each for each in known if each.memory.ended_at is None]


def is_about_same_key(known: MemoryState, claim: Claim) -> bool:
    """Return whether a memory has the key and subject of a claim."""
    return (known.memory.key, known.memory.subject) == (claim.key, claim.subject)


def list_past_values(current: MemoryState, known: Iterable[MemoryState]) -> list[MemoryState]:
    """Return the earlier values of a belief's key."""
    return [
        each
        for each in known
        if each.memory.ended_at is not None and has_same_key(each.memory, current.memory)
    ]


def get_latest_end(values: Iterable[MemoryState]) -> Micros:
    """Return until when the last value surely held: a stated future end may not have come."""
    return max(
        min(each.memory.holds_until or get_last_confirmed_at(each), get_last_confirmed_at(each))
        for each in values
    )


def find_by_value(known: Iterable[MemoryState], value: str) -> MemoryState | None:
    """Return the belief with a value, ignoring case and punctuation."""
    wanted = fold_value(value)
    return next((each for each in known if fold_value(each.memory.value) == wanted), None)


def find_by_text(known: Iterable[MemoryState], claim: Claim) -> MemoryState | None:
    """Return the belief about the same subject in the same words, whatever its key."""
    return next(
        (
            each
            for each in known
            if each.memory.subject == claim.subject
            and fold_value(each.memory.text) == fold_value(claim.text)
        ),
        None,
    )


def find_opposite(claim: Claim, known: Sequence[MemoryState]) -> MemoryState | None:
    """Return the preference that says the opposite: like, dislike, or that it is over."""
    opposing = [
        each for each in filter_live(known) if each.memory.key == OPPOSITE_KEYS.get(claim.key)
    ]
    return find_by_value(opposing, claim.value) or find_termination(claim, known)


def find_termination(claim: Claim, known: Sequence[MemoryState]) -> MemoryState | None:
    """Return the belief that ended what a claim says."""
    past_ids = {
        each.memory.id
        for each in known
        if each.memory.ended_at is not None
        and is_about_same_key(each, claim)
        and fold_value(each.memory.value) == fold_value(claim.value)
    }
    return next(
        (
            each
            for each in filter_live(known)
            if is_about_same_key(each, claim)
            and any(
                link.kind == "supersedes" and link.target in past_ids
                for link in each.memory.relations
            )
        ),
        None,
    )


def fold_value(value: str) -> str:
    """Normalize a value: ignore case, width, spacing and surrounding punctuation."""
    text = normalize("NFKC", value).casefold()
    return " ".join(text.split()).strip(" .,!?;:\"'。，！？")
