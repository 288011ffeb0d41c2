"""What does a stretch of talk come to be believed as? Read, checked, decided, written at once.

A generation of a segment is consumed once: whoever comes second finds it done. While a model
reads, no transaction is open; what it gave is decided anew when something has changed meanwhile.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from oldfriend.background.alikeness import Alikeness, weigh
from oldfriend.background.checking import Checked, check, holds_an_opinion, is_trivial
from oldfriend.background.deciding import Decision, Deliberation, decide_all
from oldfriend.background.extraction import Extraction, Material
from oldfriend.background.forgotten import IsForgotten, without_forgotten
from oldfriend.background.gathering import Gathered, gather
from oldfriend.background.likeness import Told
from oldfriend.background.rules.ending import told_over
from oldfriend.background.rules.stating import began_in, stated_in
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.ids import ObjectId, SummaryId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Memory, Summary
from oldfriend.domain.messages import Message
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.borrowing import borrow_again
from oldfriend.memory.changes import Ground, decide, revision_of
from oldfriend.memory.evidence import add_evidence, withdraw_evidence
from oldfriend.memory.meanings import save_meanings
from oldfriend.memory.moods import set_mood
from oldfriend.memory.people import lock_person
from oldfriend.memory.search.words import words_in
from oldfriend.memory.segments import UNREAD, Segment, SegmentStatus, find_segment, set_status
from oldfriend.memory.settling import end_what_was_made
from oldfriend.memory.shelf import Shelf
from oldfriend.memory.withdrawing import end_summaries, end_unsupported, reopen_overtaken
from oldfriend.turn.perceive import sentences_of

Read: TypeAlias = Callable[[Material], Awaitable[Extraction]]
Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Vectors | None]]
Adjudicate: TypeAlias = Callable[[Told, Told], Awaitable[bool]]

TRIES: Final = 3
"""So often it is decided anew because something has changed meanwhile."""


MOST_ASKED: Final = 12
"""So many unclear pairs of one segment a model is asked about; the rest counts as different."""


NOTHING: Final = [["none"], ["no"], ["nothing"], ["n"], ["ninguno"], ["ninguna"], ["nada"],
    ["keine"], ["keiner"], ["nichts"], ["aucun"], ["rien"], ["non"], ["无"], ["没"]]  # fmt: skip
"""So an answer begins which says that no peak was missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What consolidation works with."""

    db: Database
    shelf: Shelf
    clock: Clock
    read: Read
    read_small_talk: Read  # asks nobody
    embed: Embed
    embedder: str  # the name of the model that embeds
    adjudicate: Adjudicate | None = None  # None: what is unclear counts as different
    is_forgotten: IsForgotten = field(default=lambda _words, _at: False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What came of one segment."""

    segment: Segment
    outcome: Mapping[str, JsonValue]  # counts: learned by kind, joined, refused, peaks missed


async def consolidate(means: Means, segment: Segment) -> Consolidated | None:
    """Read a segment and believe what it tells; None when somebody else has read it meanwhile.

    Raises what reading raises, and StaleDecision when something keeps changing; nothing is
    written then.
    """
    read_of: Gathered | None = None
    extraction = Extraction(author="")
    for tries_left in reversed(range(TRIES)):
        gathered = await look(means, segment)
        if gathered is None:
            return None
        if read_of is None or not gathered.reads_like(read_of):
            read_of, extraction = gathered, await read(means, gathered.material)
        try:
            return await believe(means, gathered, extraction)
        except StaleDecision:
            if not tries_left:
                raise
    raise AssertionError("unreachable")


async def read(means: Means, material: Material) -> Extraction:
    """What there is to read; of small talk, which is not summed up, a model is asked for opinions.

    For nothing else: what somebody reads in it besides is mostly more than was said.
    """
    if not is_trivial(material.messages):
        return await means.read(material)
    little = replace(await means.read_small_talk(material), summary="", topics=())
    if not holds_an_opinion(material.messages):
        return little
    found = await means.read(material)
    opinions = tuple(each for each in found.claims if each.kind == "opinion")
    if not opinions:
        return little
    return replace(
        little, claims=(*little.claims, *opinions), author=found.author,
        beside_opinions=little.author,
    )  # fmt: skip


def asks_somebody(messages: Sequence[Message]) -> bool:
    """Whether a model is asked about a talk, where there is one."""
    return not is_trivial(messages) or holds_an_opinion(messages)


async def look(means: Means, segment: Segment) -> Gathered | None:
    """What the reading of a segment needs, as it is now; None when it needs no reading."""
    async with means.db.reading() as tx:
        now = await find_segment(tx, segment.person, segment.id)
        if now is None or now.status not in UNREAD:
            return None
        return await gather(tx, now, shelf=means.shelf, now=means.clock())


async def believe(means: Means, gathered: Gathered, extraction: Extraction) -> Consolidated:
    """Decide about what was read, and write it down."""
    checked = check(extraction, gathered.material)
    messages = gathered.material.messages
    checked = replace(
        checked, extraction=without_forgotten(checked.extraction, messages, means.is_forgotten)
    )
    vectors = await means.embed([claim.text for claim in checked.extraction.claims])
    alike = weigh(checked.extraction.claims, gathered, vectors, embedder=means.embedder)
    if means.adjudicate is not None:
        await settle(alike, means.adjudicate)
    thinking = Deliberation(
        scene=gathered.scene, believed=gathered.known,
        entities={each.id: each for each in gathered.entities}, bases=gathered.bases,
        same=alike.is_same, stated=lambda each: stated_in(each.text, each.language),
        began=lambda each: began_in(each.text, each.language), over=told_over,
    )  # fmt: skip
    decide_all(thinking, checked.extraction)
    outcome = counted(thinking, checked)
    await write(means, gathered, thinking, checked.extraction, alike, outcome)
    return Consolidated(segment=gathered.segment, outcome=outcome)


async def settle(alike: Alikeness, adjudicate: Adjudicate) -> None:
    """Have it decided by a model whether those mean the same of which it is not clear."""
    for pair in alike.unclear[:MOST_ASKED]:
        if await adjudicate(pair.claim, pair.other):
            alike.settle(pair)


async def write(
    means: Means, gathered: Gathered, thinking: Deliberation, extraction: Extraction,
    alike: Alikeness, outcome: Mapping[str, JsonValue],
) -> None:  # fmt: skip
    """Write everything that was decided, at once.

    Raises StaleDecision, and writes nothing, when anything was decided or forgotten since it was
    looked at: what is new would else be learned beside what is known.
    """
    segment, now = gathered.segment, means.clock()
    ground = Ground(author=extraction.author, segment=segment.id)
    async with means.db.writing() as tx:
        await lock_person(tx, segment.person)
        if await revision_of(tx, segment.person) != gathered.revision:
            raise StaleDecision(f"Something was decided while segment {segment.id} was read.")
        status: SegmentStatus = "done" if thinking.decided or extraction.summary else "trivial"
        if not await set_status(
            tx, segment, status, author=extraction.author, outcome=outcome, now=now
        ):
            raise StaleDecision(f"Segment {segment.id} was changed while it was being read.")
        await set_mood(tx, segment, extraction.mood)
        doubtful = await take_back(tx, segment, ground, now=now)
        for decision in thinking.decided.values():
            author = extraction.author_of(decision.after)
            await write_decision(tx, segment, decision, author=author, now=now)
        await borrow_again(tx, segment.person, doubtful, now=now)
        await end_unsupported(tx, segment.person, ground=ground, now=now, only=doubtful)
        if segment.generation > 1:
            await reopen_overtaken(tx, segment.person, segment.id, ground=ground, now=now)
            await end_what_was_made(tx, segment.person, now=now)
        if extraction.summary:
            summary = summary_of(segment, thinking, extraction, now=now)
            await decide(tx, summary, op="learned", base=0, ground=ground, now=now)
        vectors = alike.vectors_of(thinking.decided.values())
        await save_meanings(tx, segment.person, means.embedder, vectors)


async def write_decision(
    tx: Transaction, segment: Segment, decision: Decision, *, author: str, now: Micros
) -> None:
    """Write one decision, and the words for it."""
    ground = Ground(author=author, segment=segment.id, causes=decision.causes)
    if decision.op is not None:
        await decide(
            tx, decision.after, op=decision.op, base=decision.base, ground=ground, now=now
        )  # fmt: skip
    if decision.words:
        await add_evidence(
            tx, segment.person, decision.after.id, decision.words, extractor=author, now=now,
            segment=segment.id,
        )  # fmt: skip


async def take_back(
    tx: Transaction, segment: Segment, ground: Ground, *, now: Micros
) -> list[ObjectId]:
    """Withdraw what an earlier reading of a segment has found; what rested on it, among others."""
    if segment.generation == 1:
        return []
    await end_summaries(tx, segment.person, [segment.id], ground=ground, now=now)
    return await withdraw_evidence(tx, segment.person, segment.id, now=now)


def summary_of(
    segment: Segment, thinking: Deliberation, extraction: Extraction, *, now: Micros
) -> Summary:
    """What was said in a segment, in short."""
    return Summary(
        id=SummaryId(ObjectId(new_id(now))), person=segment.person, level=1,
        text=extraction.summary, language=thinking.scene.language, topics=extraction.topics,
        segments=(segment.id,), from_at=segment.from_at, until_at=segment.until_at,
        learned_at=now,
    )  # fmt: skip


def counted(thinking: Deliberation, checked: Checked) -> dict[str, JsonValue]:
    """What came of a segment, in numbers."""
    learned: Counter[str] = Counter()
    joined = 0
    for decision in thinking.decided.values():
        if decision.op == "learned":
            kind = decision.after.kind if isinstance(decision.after, Memory) else "entity"
            learned[kind] += 1
        elif decision.words:
            joined += 1
    refusals: dict[str, JsonValue] = {str(reason): n for reason, n in thinking.refused.items()}
    rejections: dict[str, JsonValue] = {
        str(reason): n for reason, n in checked.rejected.items()
    }  # fmt: skip
    return {
        "learned": dict(learned), "joined": joined, "rejected": rejections, "refused": refusals,
        "missed_peak": int(has_missed_a_peak(checked.extraction)),
    }  # fmt: skip


def has_missed_a_peak(extraction: Extraction) -> bool:
    """Whether looking once more, something heavy or happy was found that no event tells of."""
    found = sentences_of(extraction.self_check.get("missed_peak", ""))
    return any(words_in(sentence)[:1] not in NOTHING for sentence in found)
