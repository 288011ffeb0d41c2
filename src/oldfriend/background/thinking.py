"""How does the companion come to a thought? A model is asked, what it says is sifted and written.

For reflection, the slow tick and descriptions alike. While a model thinks no transaction is open;
what was taken away meanwhile is thought of no more. Nothing here calls a tool, writes a core block,
or has itself done again.
"""

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from oldfriend.background.gates.ideas import IdeaFault, Rules, Sifted, sift
from oldfriend.background.ideas import Idea, IdeaKind, Ideas, ideas_from
from oldfriend.background.rationing import Rationed, say_again
from oldfriend.background.retrospect import Retrospect
from oldfriend.background.rewording import PROMPT, reworded, wish_for
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    Cause,
    Known,
    Memory,
    MemoryKind,
    Relation,
    RelationKind,
    Signal,
)
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.model import Model, Request
from oldfriend.memory.beliefs import get_known
from oldfriend.memory.borrowing import borrow
from oldfriend.memory.changes import Ground, decide
from oldfriend.memory.correcting import named_in
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.forgetting.overtaking import all_are_kept
from oldfriend.memory.meanings import save_meanings
from oldfriend.memory.people import lock_person
from oldfriend.memory.suggestions import Proposal, suggest
from oldfriend.memory.thoughts import QUESTION
from oldfriend.memory.ticks import (
    Tick,
    TickKind,
    TickWhy,
    Transcript,
    thinking_since,
    write_tick,
)
from oldfriend.prompts.prompt import joined
from oldfriend.turn.structured import ask_for

OVERTAKEN: Final = "overtaken"
"""What counts a time of thinking of which something was forgotten meanwhile."""


KINDS: Final[Mapping[IdeaKind, MemoryKind]] = {
    "thought": "thought", "question": "thought", "expectation": "expectation",
    "pattern": "pattern",
}  # fmt: skip
"""As what ideas are believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the companion thinks with."""

    db: Database
    clock: Clock
    model: Callable[
        [str], Awaitable[Model]
    ]  # for what is asked: a call that was finished is not made twice
    embed: Callable[[Sequence[str]], Awaitable[Vectors | None]]
    embedder: str  # the name of the model that embeds
    is_forgotten: Callable[[str, Micros], bool] = field(default=lambda _words, _at: False)
    zone: str = "UTC"  # whose midnight ends a day


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be thought about, why now, and how much it may take."""

    kind: TickKind
    why: TickWhy
    person: PersonId
    request: Request
    brief: tuple[str, ...]  # what is shown, a line each
    most_in: int  # tokens, with the one time that an answer may be mended
    most_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One time of thinking that is over."""

    task: Task
    transcript: Transcript
    tokens_in: int
    tokens_out: int

    @property
    def author(self) -> str:
        """The prompt with its version."""
        return self.task.request.prompt

    def author_of(self, idea: Idea) -> str:
        """The same, of one idea; with that of the wish, where it was said in other words."""
        return joined(self.author, idea.said_again)


T = TypeVar("T")


async def ask(
    means: Means, task: Task, parse: Callable[[JsonValue], T],
    mend: Callable[[T, Rationed], Awaitable[T]] | None = None,
) -> tuple[T, Run]:  # fmt: skip
    """What a model answers, and makes of it when it is asked once more; what was of no use, too.

    Raises BrokenOutput, and what the model raises.
    """
    model = await means.model(await name_of(means, task))
    heard = Rationed(model=model, tokens_in=task.most_in, tokens_out=task.most_out)
    try:
        found = await ask_for(heard, task.request, parse)
    except BrokenOutput as error:
        await keep_failed(means, run_of(task, heard), error)
        raise
    if mend is not None and len(heard.heard) == 1:
        found = await mend(found, heard)
    return found, run_of(task, heard)


async def name_of(means: Means, task: Task) -> str:
    """By what a call is known again that was finished before a crash: the same, about the same."""
    async with means.db.reading() as tx:
        before = await thinking_since(tx, task.person, task.kind, 0)
    shown = hashlib.sha256(" ".join(task.request.shown).encode()).hexdigest()
    return f"{task.kind} {before.cycles} {shown[:16]}"


async def think_over(
    means: Means, task: Task, retrospect: Retrospect, wanted: Sequence[str], rules: Rules
) -> Tick:
    """Have a model think, and believe what may be believed of it.

    Raises BrokenOutput, and what the model raises.
    """

    def parse(answer: JsonValue) -> Ideas:
        return ideas_from(answer, wanted, zone=retrospect.person.zone)

    def sifted(found: Ideas) -> Sifted:
        return sift(found.ideas, retrospect, rules, malformed=found.malformed)

    async def mend(found: Ideas, heard: Rationed) -> Ideas:
        first = sifted(found)
        wish = wish_for(first, retrospect)
        again = await say_again(heard, task.request, wish, PROMPT, parse) if wish else None
        return found if again is None else reworded(found, first, again)

    found, run = await ask(means, task, parse, mend)
    return await keep(means, run, retrospect, sifted(found))


def run_of(task: Task, heard: Rationed) -> Run:
    """What was thought, for the record."""
    answered = tuple(each.text for each in heard.heard)
    return Run(
        task=task, transcript=Transcript(shown=task.brief, answered=answered),
        tokens_in=heard.took_in, tokens_out=heard.took_out,
    )  # fmt: skip


async def keep_failed(means: Means, run: Run, error: BrokenOutput) -> None:
    """Keep that it thought in vain, and what it said."""
    async with means.db.writing() as tx:
        await lock_person(tx, run.task.person)
        await keep_run(tx, run, {}, now=means.clock(), error=type(error).__name__)


async def keep(means: Means, run: Run, retrospect: Retrospect, sifted: Sifted) -> Tick:
    """Believe what may be believed, and keep the record of the thinking, at once."""
    vectors = await means.embed([idea.text for idea, _ in sifted.ideas])
    now = means.clock()
    async with means.db.writing() as tx:
        await lock_person(tx, run.task.person)
        learned: Counter[str] = Counter()
        rejected = Counter(sifted.rejected)
        if await all_are_kept(tx, run.task.person, run.task.request.shown):
            for number, (idea, cited) in enumerate(sifted.ideas):
                outcome = await think(tx, run, retrospect, idea, cited, now=now)
                if outcome is not None and not isinstance(outcome, Memory):
                    rejected[outcome] += 1
                    continue
                learned[idea.kind] += 1
                if vectors is not None and outcome is not None:
                    meaning = {outcome.id: vectors[number]}
                    await save_meanings(tx, run.task.person, means.embedder, meaning)
        counts: dict[str, JsonValue] = {
            "learned": dict(learned), "rejected": {str(why): n for why, n in rejected.items()},
            "noticed": {str(what): n for what, n in sifted.noticed.items()},
        }  # fmt: skip
        return await keep_run(tx, run, counts, now=now)


async def keep_run(
    tx: Transaction, run: Run, outcome: Mapping[str, JsonValue], *, now: Micros,
    error: str | None = None,
) -> Tick:  # fmt: skip
    """Keep the record; without its transcript, where something it was shown is forgotten by now."""
    shown = run.task.request.shown
    is_kept = await all_are_kept(tx, run.task.person, shown)
    tick = Tick(
        id=new_id(now), person=run.task.person, kind=run.task.kind, why=run.task.why, ran_at=now,
        tokens_in=run.tokens_in, tokens_out=run.tokens_out,
        outcome=outcome if is_kept else {OVERTAKEN: 1}, error=error,
        shown=shown if is_kept else (), transcript=run.transcript if is_kept else None,
    )  # fmt: skip
    await write_tick(tx, tick)
    return tick


async def think(
    tx: Transaction, run: Run, retrospect: Retrospect, idea: Idea, cited: Sequence[Known], *,
    now: Micros,
) -> Memory | IdeaFault | None:  # fmt: skip
    """Believe an idea, on the words of what it cites as they are now; or why not.

    What is suggested is put before the person, and not believed (None).
    """
    held = [await get_known(tx, run.task.person, each.memory.id) for each in cited]
    if any(
        not now_held.memory.is_live or now_held.memory.text != then.memory.text
        for now_held, then in zip(held, cited, strict=True)
    ):
        return "no longer believed"
    lenders = [ObjectId(each.memory.id) for each in held]
    causes = await words_behind(tx, run.task.person, lenders)
    if not causes:
        return "no words"
    if idea.kind == "suggestion":
        return await put_forward(tx, run, idea, lenders, now=now)
    names = await named_in(tx, run.task.person, idea.text)
    thought = replace(memory_of(idea, run, retrospect, lenders, now=now), entities=names)
    author = run.author_of(idea)
    ground = Ground(author=author, causes=causes)
    await decide(tx, thought, op="learned", base=0, ground=ground, now=now)
    signal: Signal | None = None if idea.kind == "pattern" else "implicit"
    await borrow(
        tx, run.task.person, thought.id, lenders, extractor=author, now=now, signal=signal
    )  # fmt: skip
    return thought


async def put_forward(
    tx: Transaction, run: Run, idea: Idea, lenders: Sequence[ObjectId], *, now: Micros
) -> IdeaFault | None:
    """Suggest words for a core block; why not, where the person knows them already."""
    proposal = Proposal(
        block=idea.block, text=idea.text, reason=idea.reason, author=run.author_of(idea),
        cites=tuple(lenders),
    )  # fmt: skip
    made = await suggest(tx, run.task.person, proposal, now=now)
    return "thought already" if made is None else None


async def words_behind(
    tx: Transaction, person: PersonId, lenders: Sequence[ObjectId]
) -> tuple[Cause, ...]:
    """The messages that speak for some beliefs now."""
    evidence = await list_evidence_of(tx, person, lenders)
    causes = (
        Cause(message=words.message, version=words.version)
        for each in evidence.values()
        for words in each
        if words.stance == "supports"
    )
    return tuple(dict.fromkeys(causes))


def memory_of(
    idea: Idea, run: Run, retrospect: Retrospect, lenders: Sequence[ObjectId], *, now: Micros
) -> Memory:
    """An idea as it is believed.

    What nobody has said, but the companion expects, is unsure until somebody says it.
    """
    link: RelationKind = "parent_of" if idea.kind == "pattern" else "rests_on"
    return Memory(
        id=MemoryId(ObjectId(new_id(now))),
        person=run.task.person,
        kind=KINDS[idea.kind],
        text=idea.text,
        language=retrospect.language,
        subject=idea.about,
        trust="companion",
        key=QUESTION if idea.kind == "question" else "",
        pattern=idea.pattern,
        impact=idea.impact,
        tags=idea.tags,
        status="tentative" if idea.kind == "expectation" else "active",
        due_at=idea.due_at,
        relations=tuple(Relation(kind=link, other=each) for each in lenders),
        learned_at=now,
    )
