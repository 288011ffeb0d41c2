"""What becomes of a claim about how somebody is, or what they like? One value for each key.

What was said later in the world counts, whenever it was read: importing old talk overrules
nothing that is newer.

Since when does a value hold? Since the time that was told; where none was, the first value that is
known of something holds as far back as one knows (None), and each further one since it was first
said. So of two values that hold at different times only the earlier one has no beginning, and each
ends where the next begins, in whichever order they are read.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.background.deciding.deliberation import SURE_ENOUGH, Deliberation
from oldfriend.background.extraction import Claim
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Known, Memory, Relation, Status
from oldfriend.memory.overtaking import MANY, SINGLE, has_one_value, is_same_key, since
from oldfriend.memory.search.words import is_stop_word, is_unspaced, words_in
from oldfriend.prompts.phrasebook import SPOKEN

JUST_NOW: Final = 31 * DAY
"""What began so shortly before is no story of old times."""

OPPOSITE: Final = {"interests": "dislikes", "dislikes": "interests"}
"""Who begins to dislike something no longer likes it."""


def decide_fact(thinking: Deliberation, claim: Claim) -> None:
    """A fact: known already, new, newer than what is known, or older."""
    values = [each for each in thinking.of_kind("fact") if is_about(each, claim)]
    if claim.ends is not None:
        decide_ending(thinking, claim, claim.ends, values)
    elif twin := with_value(live(values), claim.value):
        strengthen(thinking, twin, claim)
        reach_back(thinking, twin, claim, values)
    elif claim.key.rpartition(":")[2] in MANY:
        learn_beside(thinking, claim, values)
    else:
        decide_value(thinking, claim, values)


def decide_preference(thinking: Deliberation, claim: Claim) -> None:
    """A preference: known already, new, or the opposite of one that is known."""
    known = [
        each for each in thinking.of_kind("preference") if each.memory.subject == claim.subject
    ]
    values = [each for each in known if is_about(each, claim)]
    if claim.ends is not None:
        decide_ending(thinking, claim, claim.ends, values)
    elif twin := with_value(live(values), claim.value) or next(
        (each for each in live(values) if thinking.same(claim, each.memory)), None
    ):
        strengthen(thinking, twin, claim)
        reach_back(thinking, twin, claim, values)
    elif claim.key in SINGLE:
        decide_value(thinking, claim, values)
    elif not is_over(thinking, claim) and (opposite := opposite_of(claim, known)) is not None:
        compare(thinking, opposite, claim, [opposite, *past_beside(opposite, known)])
    else:
        learn_beside(thinking, claim, values)


def learn_beside(thinking: Deliberation, claim: Claim, values: Sequence[Known]) -> None:
    """Another value of something that may have many; history, where it was over when told."""
    if not is_over(thinking, claim):
        thinking.learn(claim)
    elif twin := with_value(values, claim.value):
        thinking.bear(twin, claim)
    else:
        thinking.learn(claim, status="superseded", is_over=True)


def decide_value(thinking: Deliberation, claim: Claim, values: Sequence[Known]) -> None:
    """A new value of something that has one at a time."""
    if is_over(thinking, claim):
        recount(thinking, claim, values)
    elif rivals := live(values):
        compare(thinking, newest(rivals), claim, values)
    elif not values:
        thinking.learn(claim)
    elif held_when(thinking, claim) < latest_end(values):
        recount(thinking, claim, values)
    else:
        held = held_when(thinking, claim)
        end_by(thinking, values, held)
        thinking.learn(replace(claim, holds_from=held))


def end_by(thinking: Deliberation, values: Iterable[Known], at: Micros) -> None:
    """Values of before held no longer than until something else did, whatever was told ahead."""
    for each in values:
        if each.memory.ended_at is not None and held_at(each, at):
            thinking.change(each, replace(each.memory, holds_until=at), "revised")


def compare(thinking: Deliberation, old: Known, claim: Claim, values: Sequence[Known]) -> None:
    """Two values where there can be one: what was said later in the world holds."""
    heard_at = thinking.heard_at(claim)
    if old.memory.id in thinking.scene.fading:
        thinking.learn(claim)
    elif is_of_before(thinking, claim, old):
        recount(thinking, claim, values)
    elif old.memory.is_by_person and claim.signal == "implicit":
        thinking.refused["overruled by the person"] += 1
    elif claim.signal == "implicit" or claim.confidence < SURE_ENOUGH:
        oppose(thinking, old, claim)
    elif is_denied(old, claim):
        put_right(thinking, old, claim)
    else:
        thinking.learn(claim, supersedes=old.memory)
        until = max(claim.holds_from or heard_at, since(old))
        thinking.end(old, "superseded", "superseded", claim, until=until)


def put_right(thinking: Deliberation, old: Known, claim: Claim) -> None:
    """A value was wrong, and never so: as when the person corrects it, another has its time."""
    thinking.learn(replace(claim, holds_from=since(old)), supersedes=old.memory)
    thinking.end(old, "rejected", "superseded", claim, until=None)


def put_in_its_place(thinking: Deliberation, wrong: Known, claim: Claim) -> None:
    """What the same words tell instead of something that was wrong takes its place."""
    quotes = {(quote.message, quote.text) for quote in claim.quotes}
    for each in thinking.live(claim.kind):
        told = thinking.decided.get(each.memory.id)
        words = {(one.source.id, one.quote) for one in told.words} if told else set()
        if folded(each.memory.value) == folded(wrong.memory.value) and words & quotes:
            link = Relation(kind="supersedes", other=wrong.memory.id)
            relations = tuple(dict.fromkeys((*each.memory.relations, link)))
            thinking.change(each, replace(each.memory, relations=relations), "revised")


def is_denied(known: Known, claim: Claim) -> bool:
    """Whether the words of a claim say that a value was never so: that one, and no other.

    Who is no teacher is no maths teacher; who is no head nurse may be a nurse.
    """
    if not claim.denied or claim.holds_from is not None:
        return False
    denied, value = (telling_in(each) for each in (claim.denied, known.memory.value))
    if not denied:
        return folded(claim.denied) == folded(known.memory.value)
    return denied <= value


def telling_in(text: str) -> set[str]:
    """The words of a text that tell something by themselves: no articles, no single Han signs.

    Few words do not tell in which language they are.
    """
    return {
        word
        for word in words_in(text)
        if not any(is_stop_word(word, each) for each in SPOKEN)
        and not (is_unspaced(word) and len(word) == 1)
    }


def decide_ending(
    thinking: Deliberation, claim: Claim, was: Claim, values: Sequence[Known]
) -> None:
    """Something is so no more. That is worth knowing, unless something else is so by now."""
    current = live(values)
    if twin := with_value(current, claim.value):
        strengthen(thinking, twin, claim)
        return
    over = (
        with_value(current, was.value)
        or next((each for each in current if thinking.same(was, each.memory)), None)
        or with_value(values[::-1], was.value)
    )
    others = [each for each in current if each is not over]
    if over is None or (others and has_one_value(claim.kind, claim.key)):
        return
    if claim.denied:
        thinking.end(over, "rejected", "superseded", claim, until=None)
        put_in_its_place(thinking, over, claim)
    elif over.memory.ended_at is not None:
        thinking.learn(claim, supersedes=over.memory)
    elif is_of_before(thinking, claim, over):
        thinking.refused["not known"] += 1  # it was said since that it is so
    else:
        compare(thinking, over, claim, values)


def is_of_before(thinking: Deliberation, claim: Claim, known: Known) -> bool:
    """Whether a claim tells of a time before what is known: told earlier, or over by then.

    Who says on the same day that they have moved the day before means what holds now.
    """
    heard_at = thinking.heard_at(claim)
    if heard_at < last_word(known) or is_over(thinking, claim):
        return True
    return (claim.holds_from or heard_at) < since(known) - JUST_NOW


def is_over(thinking: Deliberation, claim: Claim) -> bool:
    """Whether a claim tells of what was so, and had ended when it was told."""
    return claim.holds_until is not None and claim.holds_until <= thinking.heard_at(claim)


def held_when(thinking: Deliberation, claim: Claim) -> Micros:
    """The first moment at which something surely was so, as it was told."""
    if claim.holds_from is not None:
        return claim.holds_from
    heard_at = thinking.heard_at(claim)
    return heard_at if claim.holds_until is None else min(heard_at, claim.holds_until - 1)


def recount(thinking: Deliberation, claim: Claim, values: Sequence[Known]) -> None:
    """What was so before what is known: it finds its place among what was so then."""
    held = held_when(thinking, claim)
    if is_over(thinking, claim):
        held = min([held, *(since(each) - 1 for each in live(values))])
    past = [each for each in values if each.memory.ended_at is not None]
    same = [each for each in past if held_at(each, held) or ends_with(each, claim)]
    if twin := with_value(same, claim.value):
        thinking.bear(twin, claim)
        return
    earlier = [each for each in values if since(each) <= held]
    later = [each for each in values if since(each) > held]
    end_by(thinking, past, held)
    for each in later:
        if each.memory.holds_from is None:
            thinking.change(each, replace(each.memory, holds_from=since(each)), "revised")
    ends = [since(each) for each in later] or [last_word(each) for each in live(values)]
    told = [] if claim.holds_until is None else [claim.holds_until]
    thinking.learn(
        replace(claim, holds_from=held if earlier else claim.holds_from),
        status="superseded", holds_until=min([*ends, *told], default=None), is_over=True,
    )  # fmt: skip


def reach_back(thinking: Deliberation, known: Known, claim: Claim, values: Sequence[Known]) -> None:
    """What was so earlier than it is known to have been has been so since then.

    Unless another value was said to hold meanwhile.
    """
    held, began = held_when(thinking, claim), known.memory.holds_from
    if began is None or held >= began or not has_one_value(claim.kind, claim.key):
        return
    others = [each for each in values if each.memory.id != known.memory.id]
    if any((since if claim.holds_from else last_word)(each) > held for each in others):
        return
    thinking.change(
        known, replace(thinking.known[known.memory.id].memory, holds_from=held), "revised"
    )
    for each in others:
        if (each.memory.holds_until or held) > held:
            thinking.change(each, replace(each.memory, holds_until=held), "revised")


def held_at(known: Known, at: Micros) -> bool:
    """Whether a value of before held at a moment."""
    return since(known) <= at < (known.memory.holds_until or at + 1)


def ends_with(known: Known, claim: Claim) -> bool:
    """Whether a value of before is told to have ended when it is known to have: the same, again."""
    return claim.holds_until is not None and known.memory.holds_until == claim.holds_until


def strengthen(thinking: Deliberation, known: Known, claim: Claim) -> None:
    """The same again: more words for it, and what was not sure yet becomes so."""
    thinking.bear(known, claim)
    if known.memory.status == "tentative":
        thinking.change(known, with_status(known.memory, "active"), "revised")
    hold_as_told(thinking, known, claim)


def hold_as_told(thinking: Deliberation, known: Known, claim: Claim) -> None:
    """Until when a fact holds is what was told last; said again after that, it goes on."""
    heard_at, before, until = thinking.heard_at(claim), known.memory.holds_until, claim.holds_until
    if until is None:
        is_told = before is not None and heard_at >= before
    else:
        is_told = claim.kind == "fact" and last_word(known) <= heard_at < until
    if is_told:
        as_is = thinking.known[known.memory.id].memory
        thinking.change(known, replace(as_is, holds_until=until), "revised")


def oppose(thinking: Deliberation, known: Known, claim: Claim) -> None:
    """Words against it: less sure, and disputed when it has become doubtful.

    The person's own word no sign makes doubtful, nor what they had said before it.
    """
    is_theirs = known.memory.is_by_person
    if is_theirs and (claim.signal == "implicit" or thinking.heard_at(claim) < last_word(known)):
        thinking.refused["overruled by the person"] += 1
        return
    thinking.bear(known, claim, stance="contradicts")
    if known.standing.confidence < SURE_ENOUGH + 0.2 and known.memory.status == "active":
        thinking.change(known, with_status(known.memory, "disputed"), "disputed")


def with_status(memory: Memory, status: Status) -> Memory:
    """The same memory in another state."""
    return replace(memory, status=status)


def last_word(known: Known) -> Micros:
    """When it was said last that it is so, by whatever way: in talk, or by confirming it."""
    return max(known.standing.last_seen, known.memory.vouched_at or 0)


def newest(rivals: list[Known]) -> Known:
    """The one that was said last."""
    return max(rivals, key=lambda each: (last_word(each), each.memory.id))


def live(known: Iterable[Known]) -> list[Known]:
    """Those that are believed now."""
    return [each for each in known if each.memory.ended_at is None]


def is_about(known: Known, claim: Claim) -> bool:
    """Whether a memory is a value of what a claim gives a value of."""
    return (known.memory.key, known.memory.subject) == (claim.key, claim.subject)


def past_beside(current: Known, known: Iterable[Known]) -> list[Known]:
    """The values of before of what a memory is a value of."""
    return [
        each
        for each in known
        if each.memory.ended_at is not None and is_same_key(each.memory, current.memory)
    ]


def latest_end(values: Iterable[Known]) -> Micros:
    """Until when the last of some values surely held: an end told ahead may not have come."""
    return max(min(each.memory.holds_until or last_word(each), last_word(each)) for each in values)


def with_value(known: Iterable[Known], value: str) -> Known | None:
    """The one with a value."""
    wanted = folded(value)
    return next((each for each in known if folded(each.memory.value) == wanted), None)


def opposite_of(claim: Claim, known: Sequence[Known]) -> Known | None:
    """The preference that says the opposite: a liking, a dislike, or that it is so no more."""
    opposing = [each for each in live(known) if each.memory.key == OPPOSITE.get(claim.key)]
    return with_value(opposing, claim.value) or that_ended(claim, known)


def that_ended(claim: Claim, known: Sequence[Known]) -> Known | None:
    """The memory by which what is claimed was so no more."""
    was_so = {
        each.memory.id
        for each in known
        if each.memory.ended_at is not None
        and is_about(each, claim)
        and folded(each.memory.value) == folded(claim.value)
    }
    return next(
        (
            each
            for each in live(known)
            if is_about(each, claim)
            and any(link.kind == "supersedes" and link.other in was_so
                    for link in each.memory.relations)
        ),
        None,
    )  # fmt: skip


def folded(value: str) -> str:
    """A value with case, width, spacing and what surrounds it ignored."""
    text = unicodedata.normalize("NFKC", value).casefold()
    return " ".join(text.split()).strip(" .,!?;:\"'。，！？")
