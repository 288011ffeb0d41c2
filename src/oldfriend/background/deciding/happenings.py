"""What becomes of a claim about what happened, keeps happening, or is to come?"""

from dataclasses import replace

from oldfriend.background.deciding.attributes import last_word, oppose, strengthen, with_value
from oldfriend.background.deciding.deliberation import Deliberation
from oldfriend.background.deciding.joining import MENTIONED_AGAIN, is_same_time, nearest
from oldfriend.background.extraction import Claim
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Known, Memory, Relation


def decide_event(thinking: Deliberation, claim: Claim) -> None:
    """An event: told before, or new."""
    at = claim.happened_at or thinking.heard_at(claim)
    claim = replace(claim, happened_at=at)
    near = (e for e in thinking.live("event") if abs(time_of(e) - at) <= MENTIONED_AGAIN)
    known = nearest(thinking, claim, near)
    if known is None:
        thinking.learn(claim)
    else:
        thinking.bear(known, claim)
        thinking.change(known, felt_more(known.memory, claim), "revised")


def decide_pattern(thinking: Deliberation, claim: Claim) -> None:
    """A pattern: seen before, or new."""
    known = nearest(thinking, claim, of_subject(thinking, claim))
    if known is None:
        thinking.learn(claim)
    else:
        strengthen(thinking, known, claim)


def decide_coming(thinking: Deliberation, claim: Claim) -> None:
    """A promise or an expectation: made before, perhaps for another time, or new."""
    known = nearest(thinking, claim, of_subject(thinking, claim))
    if known is None:
        thinking.learn(claim)
        return
    thinking.bear(known, claim)
    if claim.due_at is not None and not is_same_time(claim.due_at, known.memory.due_at):
        thinking.change(known, replace(known.memory, due_at=claim.due_at), "revised")


def of_subject(thinking: Deliberation, claim: Claim) -> list[Known]:
    """What is believed of the same kind about the same."""
    return [e for e in thinking.live(claim.kind) if e.memory.subject == claim.subject]


def decide_about_target(thinking: Deliberation, claim: Claim, target: Known) -> None:
    """A claim that names what it bears on."""
    match claim.bearing:
        case "reinforces":
            strengthen(thinking, target, claim)
        case "contradicts":
            oppose(thinking, target, claim)
        case "fulfils":
            thinking.bear(target, claim)
            thinking.end(target, "fulfilled", "fulfilled", claim, until=None)
        case _:
            supersede(thinking, target, claim)


def supersede(thinking: Deliberation, old: Known, claim: Claim) -> None:
    """Something else holds now: both are written."""
    heard_at = thinking.heard_at(claim)
    if heard_at < last_word(old):
        thinking.refused["not known"] += 1  # what is known is newer
    elif old.memory.is_by_person and claim.signal == "implicit":
        thinking.refused["overruled by the person"] += 1
    else:
        twin = twin_of(thinking, old, claim)
        if twin is None:
            thinking.learn(claim, supersedes=old.memory)
        else:
            strengthen(thinking, twin, claim)
            twin = thinking.known[twin.memory.id]
            link = Relation(kind="supersedes", other=old.memory.id)
            relations = tuple(dict.fromkeys((*twin.memory.relations, link)))
            thinking.change(twin, replace(twin.memory, relations=relations), "revised")
        thinking.end(old, "superseded", "superseded", claim, until=claim.holds_from or heard_at)


def twin_of(thinking: Deliberation, old: Known, claim: Claim) -> Known | None:
    """What says the same as that which takes the place of something, where it is known already."""
    others = [
        each
        for each in thinking.live(claim.kind)
        if each.memory.id != old.memory.id and each.memory.subject == claim.subject
    ]
    if claim.key:
        return with_value([each for each in others if each.memory.key == claim.key], claim.value)
    return next((each for each in others if thinking.same(claim, each.memory)), None)


def felt_more(memory: Memory, claim: Claim) -> Memory:
    """An event with what a further telling adds: how strongly it was felt, and its tags.

    What was good does not become bad by it, nor the other way round.
    """
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
    """The greatest of those that were told."""
    return max((each for each in values if each is not None), default=None)


def time_of(known: Known) -> Micros:
    """When an event happened."""
    return known.memory.happened_at or known.standing.first_seen
