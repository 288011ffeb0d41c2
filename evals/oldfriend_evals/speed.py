"""Speed of finding, writing and answering, beside the plainest code for the same, in one process.

F is an FTS5 query and a matrix-vector product over the same messages (``references``). Texts are
made up and vectors are random (``corpus``): right for speed, worthless for quality.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import parse_database_path
from oldfriend.db.database import SqlValue
from oldfriend.domain.ids import new_id
from oldfriend.domain.messages import Person, UnloggedMessage, estimate_tokens
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.message_log import WriteTarget, build_message_row, write_messages
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.replies.reply_worker import answer_message
from oldfriend.turn.recalled import RecallQuery, RecallResult
from oldfriend.turn.retrieval import recall
from oldfriend_evals.baselines import BareInsert, PlainSearch, build_fts_query
from oldfriend_evals.bench_measures import (
    Action,
    Measure,
    Scope,
    build_lower_target,
    build_upper_target,
    measure_medians_ms,
)
from oldfriend_evals.corpus import FIRST_DAY, build_sessions, draw_vectors, list_questions
from oldfriend_evals.temporary_stores import KnownVectors, build_history, open_temporary_store

ASKED = 200
FOUND = 20
ADDED = 500
CACHE_WARMING = 5
MOST_OFFLINE_MS = 400.0
"""Of processor time, for a whole offline answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A house with one person's history, the questions, and the plain search over the same."""

    app: AppContext
    line: ChatContext
    plain: PlainSearch
    vectors: Mapping[str, Vectors]  # of the questions

    def compare_with_plain(
        self, act: Callable[[str], Awaitable[object]]
    ) -> list[tuple[Action, ...]]:
        """For each question F, and an act that is to be compared with it."""
        return [
            (partial(self.plain.find, build_fts_query(text), vector), partial(act, text))
            for text, vector in self.vectors.items()
        ]


async def measure_recall(scope: Scope) -> list[Measure]:
    """Finding in one person's history, at two sizes."""
    sizes = (1_000, 10_000) if scope.quick else (10_000, 100_000)
    return [await measure_recall_among(size) for size in sizes]


async def measure_recall_among(size: int) -> Measure:
    """Finding among so many messages."""
    async with open_setting(size) as here:
        turns = here.compare_with_plain(partial(recall_for_question, here.app, here.line.person))
        await measure_medians_ms(turns[:CACHE_WARMING])
        reference, value = await measure_medians_ms(turns)
    return Measure(
        name=f"recall among {size:,} messages",
        value=value,
        unit="ms",
        reference=reference,
        target=build_upper_target(3),
        note="reference: F",
    )


async def measure_turn(scope: Scope) -> list[Measure]:
    """A whole turn without a model, from what was said to the answer that is kept."""
    size = 1_000 if scope.quick else 10_000
    async with open_setting(size) as here:
        turns = here.compare_with_plain(
            lambda text: answer_message(here.app, here.line, MessageSubmission(text=text))
        )
        await measure_medians_ms(turns[:CACHE_WARMING])
        _, value = await measure_medians_ms(turns)
    return [
        Measure(
            name=f"an offline answer among {size:,} messages",
            value=value,
            unit="ms",
            target=build_upper_target(MOST_OFFLINE_MS),
            note="the whole turn with the reader, beside embedding",
        )
    ]


@asynccontextmanager
async def open_setting(size: int) -> AsyncIterator[Setting]:
    """One person with a history, twice: in our store, and in the plain one."""
    vectors = embed_questions()
    texts = (spoken.text for session in build_sessions(size, seed=1) for spoken in session)
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        async with open_temporary_store() as app:
            line = await build_history(app, size, seed=1)
            matrix = draw_vectors(size, seed=1, dimension=app.embedder.dimension)
            with closing(PlainSearch(Path(folder) / "plain.db", texts, matrix)) as plain:
                known = replace(app, embedder=KnownVectors(app.embedder, vectors))
                yield Setting(app=known, line=line, plain=plain, vectors=vectors)


def embed_questions() -> dict[str, Vectors]:
    """The fixed questions, each with a direction to look in."""
    texts = list_questions(ASKED)
    return dict(zip(texts, draw_vectors(len(texts), seed=0, dimension=384), strict=True))


async def recall_for_question(app: AppContext, person: Person, text: str) -> RecallResult:
    """What comes to a person's mind at a question."""
    cue = RecallQuery(text=text, language="en", at=FIRST_DAY)
    return await recall(app.search_deps, person, cue, limit=FOUND)


async def measure_crowd(scope: Scope) -> list[Measure]:
    """Finding for one of many people in one store, beside finding for somebody alone."""
    people, size = (50, 200) if scope.quick else (1_000, 1_000)
    async with open_temporary_store() as alone, open_temporary_store() as crowd:
        vectors = embed_questions()
        single = await build_history(alone, size, seed=0)
        lines = [
            await build_history(crowd, size, seed=number, person=f"person {number}")
            for number in range(people)
        ]
        one, many = (
            replace(app, embedder=KnownVectors(app.embedder, vectors)) for app in (alone, crowd)
        )
        warm = [line.person for line in lines[: people // 5]]
        for person in warm:
            await recall_for_question(many, person, list_questions(1)[0])
        same = await count_same(one, single.person, many, warm[0])
        reference, value = await measure_medians_ms(
            (
                partial(recall_for_question, one, single.person, text),
                partial(recall_for_question, many, person, text),
            )
            for text, person in zip(vectors, warm * ASKED, strict=False)
        )
    name = f"recall for one of {people:,} people × {size:,}"
    return [
        Measure(
            name=name,
            value=value,
            unit="ms",
            reference=reference,
            target=build_upper_target(1.5),
            note=f"reference: alone; {len(warm)} people are asked in turn, all warm",
        ),
        Measure(
            name="the same scores alone and among others",
            value=same,
            unit="questions",
            reference=float(len(vectors)),
            target=build_lower_target(1),
        ),
    ]


async def count_same(one: AppContext, alone: Person, many: AppContext, among: Person) -> int:
    """For how many questions the same messages get the same scores in both houses."""
    same = 0
    for text in list_questions(ASKED):
        here, there = (
            await recall_for_question(one, alone, text),
            await recall_for_question(many, among, text),
        )
        same += [(e.hit.seq, e.hit.score.value) for e in here.messages] == [
            (e.hit.seq, e.hit.score.value) for e in there.messages
        ]
    return same


async def measure_adding(scope: Scope) -> list[Measure]:
    """Writing down what somebody said, beside inserting the same row and nothing else."""
    size = 1_000 if scope.quick else 10_000
    async with open_temporary_store() as app, open_temporary_store() as twin:
        now = app.clock()
        said = [
            replace(said, at=now) for session in build_sessions(ADDED, seed=2) for said in session
        ]
        line, other = [await build_history(each, size, seed=1) for each in (app, twin)]
        rows = await build_bare_rows(twin, other, said, after=size)
        await twin.db.close()
        with closing(BareInsert(parse_database_path(twin.settings.database))) as bare:
            turns = [
                (partial(bare.add, row), partial(write_down, app, line, spoken))
                for row, spoken in zip(rows, said, strict=True)
            ]
            await measure_medians_ms(turns[:CACHE_WARMING])
            reference, value = await measure_medians_ms(turns[CACHE_WARMING:])
    return [
        Measure(
            name="adding a message",
            value=value,
            unit="ms",
            reference=reference,
            target=build_upper_target(2),
            note="reference: the same row, inserted and committed",
        )
    ]


async def write_down(app: AppContext, line: ChatContext, spoken: UnloggedMessage) -> None:
    """Keep one message, in the session that is open."""
    async with app.db.begin_write() as tx:
        place = WriteTarget(
            chat=line.chat, session=await ensure_open_session(tx, line.chat, spoken.at)
        )
        await write_messages(tx, place, [spoken], now=app.clock())


async def build_bare_rows(
    app: AppContext, line: ChatContext, said: list[UnloggedMessage], *, after: int
) -> list[dict[str, SqlValue]]:
    """The rows that these words would make in the log."""
    now = app.clock()
    async with app.db.begin_write() as tx:
        place = WriteTarget(chat=line.chat, session=await ensure_open_session(tx, line.chat, now))
    return [
        {
            "id": new_id(now),
            "seq": seq,
            "tokens": estimate_tokens(spoken.text),
            "now": now,
            **build_message_row(place, spoken, spoken.text, language="en", is_searchable=True),
        }
        for seq, spoken in enumerate(said, start=after + 1)
    ]
