"""Speed of forming beliefs, of reading them as of a day, and of rebuilding them.

What reading and embedding take is left out: the claims and their vectors are at hand. Texts are
made up (``corpus``).
"""

import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import parse_database_path
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import MemoryKind, StoredBelief
from oldfriend.domain.messages import Message, UnloggedMessage
from oldfriend.inbound.accept import ChatContext
from oldfriend.learning.consolidate import ConsolidationDeps, consolidate
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput, Quote
from oldfriend.learning.segmentation import SegmentationCriteria, cut_ready_segments
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.glosses import TextInLanguage
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, list_journal_as_of, rebuild_views, record_decision
from oldfriend.memory.message_log import WriteTarget, list_messages, write_messages
from oldfriend.memory.segments import Segment
from oldfriend.memory.sessions import ensure_closed_session
from oldfriend.memory.vectors import save_belief_vectors
from oldfriend_evals.baselines import PlainRows, PlainSearch, build_fts_query
from oldfriend_evals.bench_measures import Measure, Scope, build_upper_target, measure_medians_ms
from oldfriend_evals.corpus import FIRST_DAY, build_sessions, draw_vectors, list_sentences
from oldfriend_evals.temporary_stores import KnownVectors, build_history, open_temporary_store

KINDS: Final[Sequence[tuple[MemoryKind, float]]] = (
    ("event", 0.7),
    ("pattern", 0.15),
    ("fact", 0.06),
    ("preference", 0.06),
    ("expectation", 0.03),
)
"""Of what a long life's beliefs consist: mostly of what happened."""
YEARS: Final = 4
ROUNDS: Final = 30
TALK: Final = 12
WRITTEN_AT_ONCE: Final = 500
TEMPLATES_PER_TALK: Final[Sequence[tuple[MemoryKind, str, str]]] = (
    ("event", "Yesterday I sold the {0} at the {1}.", "Sold the {0} at the {1}"),
    ("event", "Last week I found a {0} in the {1}.", "Found a {0} in the {1}"),
    ("event", "On Monday I lost the {0} near the {1}.", "Lost the {0} near the {1}"),
    ("preference", "I really like the {0} in the {1}.", "Likes the {0} in the {1}"),
    ("preference", "I love the {1} with the {0}.", "Loves the {1} with the {0}"),
    ("preference", "I hate the {0} of the {1}.", "Hates the {0} of the {1}"),
    ("pattern", "I always clean the {0} in the {1}.", "Always cleans the {0} in the {1}"),
    ("pattern", "I often carry the {0} to the {1}.", "Often carries the {0} to the {1}"),
)
"""What somebody tells in each talk, and what a model reads in it."""
KINDS_TOLD, WORDS, CLAIMED = zip(*TEMPLATES_PER_TALK, strict=True)
CLAIMS: Final = len(TEMPLATES_PER_TALK)
THINGS: Final = (
    "kettle",
    "ladder",
    "violin",
    "carpet",
    "mirror",
    "bicycle",
    "lamp",
    "wardrobe",
    "stove",
    "clock",
    "basket",
    "hammock",
    "canoe",
    "telescope",
    "accordion",
    "piano",
    "quilt",
)
PLACES: Final = (
    "market",
    "harbour",
    "library",
    "museum",
    "station",
    "bakery",
    "attic",
    "cellar",
    "theatre",
    "quarry",
    "chapel",
    "tavern",
    "mill",
)
BENCH: Final = Provenance(author="bench/1")


async def measure_learning(scope: Scope) -> list[Measure]:
    """Beliefs of one person, at the size of a long life."""
    messages, beliefs = (1_000, 500) if scope.quick else (10_000, 5_000)
    async with open_temporary_store() as app:
        line = await build_history(app, messages, seed=1)
        await store_beliefs(app, line, beliefs)
        return [
            await time_consolidation(app, line, messages, beliefs),
            await time_beliefs_as_of(app, line, beliefs),
            await time_rebuild(app, line, beliefs),
        ]


async def store_beliefs(app: AppContext, line: ChatContext, count: int) -> None:
    """So many beliefs, each with words and a vector, every third one decided about twice."""
    rng = random.Random(2)
    vectors = draw_vectors(count, seed=3, dimension=app.embedder.dimension)
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, line.person.id, limit=1_000)
    for first in range(0, count, WRITTEN_AT_ONCE):
        async with app.db.begin_write() as tx:
            meanings: dict[MemoryId, Vectors] = {}
            for number in range(first, min(first + WRITTEN_AT_ONCE, count)):
                memory, at = invent_belief(line, rng, number, count)
                change = await record_decision(
                    tx, memory, op="learned", base=0, provenance=BENCH, now=at
                )
                if number % 3 == 0:
                    again = replace(memory, importance=0.6)
                    await record_decision(
                        tx, again, op="revised", base=change.seq, provenance=BENCH, now=at + DAY
                    )
                source = said[number % len(said)]
                words = [NewEvidence(source=source, quote=source.text[:80], confidence=0.8)]
                await add_evidence(
                    tx, line.person.id, memory.id, words, extractor="bench/1", now=at
                )
                meanings[memory.id] = vectors[number]
            await save_belief_vectors(tx, line.person.id, app.embedder.model, meanings)


def invent_belief(
    line: ChatContext, rng: random.Random, number: int, count: int
) -> tuple[StoredBelief, Micros]:
    """A belief of some day of those years, and that day."""
    kinds, shares = zip(*KINDS, strict=True)
    at = FIRST_DAY + number * YEARS * 365 * DAY // count
    kind = rng.choices(kinds, shares)[0]
    text = f"{rng.choice(list_sentences())} ({number})"
    is_attribute = kind in {"fact", "preference"}
    memory = StoredBelief(
        id=MemoryId(ObjectId(new_id(at))),
        person=line.person.id,
        kind=kind,
        text=text,
        language="en",
        key=f"key_{number}" if is_attribute else "",
        value=f"value {number}" if is_attribute else "",
        pattern="behavior" if kind == "pattern" else None,
        impact=rng.randint(-9, 9),
        happened_at=at if kind == "event" else None,
        due_at=at + 30 * DAY if kind == "expectation" else None,
        learned_at=at,
    )
    return memory, at


async def time_consolidation(
    app: AppContext, line: ChatContext, messages: int, beliefs: int
) -> Measure:
    """Reading one segment among them, but for what the model and the embedder take."""
    segments = await add_segments(app, line)
    vectors = draw_vectors(CLAIMS * ROUNDS, seed=4, dimension=app.embedder.dimension)
    texts = (spoken.text for session in build_sessions(messages, seed=1) for spoken in session)
    matrix = draw_vectors(messages, seed=1, dimension=app.embedder.dimension)
    known = KnownVectors(app.embedder, {})
    with (
        TemporaryDirectory(prefix="oldfriend-bench-") as folder,
        closing(PlainSearch(Path(folder) / "plain.db", texts, matrix)) as plain,
    ):
        asked = build_fts_query("What did we say about the garden?")
        _, taken = await measure_medians_ms(
            (
                partial(plain.find, asked, matrix[number]),
                partial(consolidate, build_extraction_deps(app, known, vectors, number), segment),
            )
            for number, segment in enumerate(segments[: ROUNDS // 3])
        )
        reference, taken = await measure_medians_ms(
            (
                partial(plain.find, asked, matrix[number]),
                partial(consolidate, build_extraction_deps(app, known, vectors, number), segment),
            )
            for number, segment in enumerate(segments[ROUNDS // 3 :], ROUNDS // 3)
        )
    return Measure(
        name=f"consolidating a segment among {beliefs:,} beliefs",
        value=taken,
        unit="ms",
        reference=reference,
        target=build_upper_target(15),
        note=f"{TALK} messages, {CLAIMS} claims, beside model and embedding; reference: F",
    )


async def add_segments(app: AppContext, line: ChatContext) -> list[Segment]:
    """Stretches of talk that wait to be read."""
    made: list[Segment] = []
    end = FIRST_DAY + YEARS * 365 * DAY
    async with app.db.begin_write() as tx:
        await cut_ready_segments(
            tx, line.person.id, SegmentationCriteria(now=end, force_reason="asked")
        )
        for number, spoken in zip(
            range(ROUNDS), build_sessions(ROUNDS * TALK * 2, seed=9), strict=False
        ):
            at = end + number * DAY
            session = await ensure_closed_session(
                tx,
                line.chat,
                external_id=f"later {number}",
                opened_at=at,
                closed_at=at,
                batch_id=None,
            )
            around = (each.text for each in spoken[: TALK - CLAIMS])
            talk = [
                build_own_message(text, at) for text in (*build_messages(number, WORDS), *around)
            ]
            await write_messages(tx, WriteTarget(chat=line.chat, session=session), talk, now=at)
            made += await cut_ready_segments(
                tx, line.person.id, SegmentationCriteria(now=at, force_reason="asked")
            )
    return made


def build_own_message(text: str, at: Micros) -> UnloggedMessage:
    """The person's own words."""
    return UnloggedMessage(role="person", speaker="", text=text, at=at, trust="person")


def build_messages(number: int, templates: Sequence[str]) -> list[str]:
    """One talk's templates, each filled in with a thing and a place that belong to it alone."""
    first = number * len(templates)
    return [
        template.format(THINGS[place % len(THINGS)], PLACES[place % len(PLACES)])
        for place, template in enumerate(templates, first)
    ]


def build_extraction_deps(
    app: AppContext, embedder: KnownVectors, vectors: Vectors, number: int
) -> ConsolidationDeps:
    """Means that have read and embedded a segment before."""

    async def read(material: ExtractionInput) -> Extraction:
        read = zip(material.messages, KINDS_TOLD, build_messages(number, CLAIMED), strict=False)
        return Extraction(
            author="bench/1",
            summary="They talked.",
            claims=tuple(build_claim(message, kind, text) for message, kind, text in read),
        )

    async def embed(texts: Sequence[TextInLanguage]) -> Vectors:
        rows: Vectors = vectors[number * CLAIMS : number * CLAIMS + len(texts)]
        return rows

    return ConsolidationDeps(
        db=app.db,
        index_cache=app.index_cache,
        clock=app.clock,
        extract=read,
        extract_small_talk=read,
        embed=embed,
        embedder=embedder.model,
    )


def build_claim(message: Message, kind: MemoryKind, text: str) -> Claim:
    """A claim of which a message gives the words."""
    value = text.partition(" ")[2] if kind == "preference" else ""
    return Claim(
        kind=kind,
        text=text,
        quotes=(Quote(message=message.id, text=message.text),),
        key="interests" if value else "",
        value=value,
        confidence=0.85,
        pattern="behavior" if kind == "pattern" else None,
        impact=2 if kind == "event" else 0,
    )


async def time_beliefs_as_of(app: AppContext, line: ChatContext, beliefs: int) -> Measure:
    """What was believed in the middle of those years, beside what is believed now."""
    middle = FIRST_DAY + YEARS * 365 * DAY // 2

    async def then() -> None:
        async with app.db.begin_read() as tx:
            await list_journal_as_of(tx, line.person.id, middle)

    async def now() -> None:
        async with app.db.begin_read() as tx:
            await list_memories(tx, line.person.id)

    reference, value = await measure_medians_ms([(now, then)] * ROUNDS)
    return Measure(
        name=f"beliefs as of a day, of {beliefs:,}",
        value=value,
        unit="ms",
        reference=reference,
        target=build_upper_target(3),
        note="reference: what is believed now",
    )


async def time_rebuild(app: AppContext, line: ChatContext, beliefs: int) -> Measure:
    """Folding all decisions anew, beside plain inserts of the rows that come of it."""

    async def fold() -> None:
        async with app.db.begin_write() as tx:
            await rebuild_views(tx, line.person.id)

    like = parse_database_path(app.settings.database)
    async with open_temporary_store() as twin:
        with closing(PlainRows(parse_database_path(twin.settings.database), like=like)) as plain:
            await plain.fill("person", plain.load_rows("person"))
            acts = (partial(plain.fill, "memory", plain.load_rows("memory")), fold)
            reference, value = await measure_medians_ms([acts] * 7)
    return Measure(
        name=f"rebuilding {beliefs:,} beliefs",
        value=value,
        unit="ms",
        reference=reference,
        target=build_upper_target(4),
        note="reference: the same rows, deleted and plainly inserted",
    )
