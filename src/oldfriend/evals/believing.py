"""How fast do beliefs form, come back as of a day, and fold anew? Beside the plainest for the same.

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

from oldfriend.app.accepting import Line
from oldfriend.app.choices.database_url import file_of
from oldfriend.app.house import House
from oldfriend.background.consolidating import Means, consolidate
from oldfriend.background.cutting import Ripeness, cut_ripe
from oldfriend.background.extraction import Claim, Extraction, Material, Quote
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import Memory, MemoryKind
from oldfriend.domain.messages import Message, Spoken
from oldfriend.evals.corpus import FIRST_DAY, all_sentences, random_vectors, sessions
from oldfriend.evals.measuring import Measure, Scope, at_most, medians_ms
from oldfriend.evals.references import PlainRows, PlainSearch, any_word_of
from oldfriend.evals.stores import KnownVectors, line_with_history, temporary_house
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.changes import Ground, believed_at, decide, rebuild
from oldfriend.memory.evidence import Words, add_evidence
from oldfriend.memory.log import Place, list_messages, write_messages
from oldfriend.memory.meanings import save_meanings
from oldfriend.memory.segments import Segment
from oldfriend.memory.sessions import ensure_closed_session

KINDS: Final[Sequence[tuple[MemoryKind, float]]] = (
    ("event", 0.7), ("pattern", 0.15), ("fact", 0.06), ("preference", 0.06), ("expectation", 0.03),
)  # fmt: skip
"""Of what a long life's beliefs consist: mostly of what happened."""
YEARS: Final = 4
ROUNDS: Final = 30
TALK: Final = 12
WRITTEN_AT_ONCE: Final = 500
TOLD: Final[Sequence[tuple[MemoryKind, str, str]]] = (
    ("event", "Yesterday I sold the {0} at the {1}.", "Sold the {0} at the {1}"),
    ("event", "Last week I found a {0} in the {1}.", "Found a {0} in the {1}"),
    ("event", "On Monday I lost the {0} near the {1}.", "Lost the {0} near the {1}"),
    ("preference", "I really like the {0} in the {1}.", "Likes the {0} in the {1}"),
    ("preference", "I love the {1} with the {0}.", "Loves the {1} with the {0}"),
    ("preference", "I hate the {0} of the {1}.", "Hates the {0} of the {1}"),
    ("pattern", "I always clean the {0} in the {1}.", "Always cleans the {0} in the {1}"),
    ("pattern", "I often carry the {0} to the {1}.", "Often carries the {0} to the {1}"),
)  # fmt: skip
"""What somebody tells in each talk, and what a model reads in it."""
KINDS_TOLD, WORDS, CLAIMED = zip(*TOLD, strict=True)
CLAIMS: Final = len(TOLD)
THINGS: Final = (
    "kettle", "ladder", "violin", "carpet", "mirror", "bicycle", "lamp", "wardrobe", "stove",
    "clock", "basket", "hammock", "canoe", "telescope", "accordion", "piano", "quilt",
)  # fmt: skip
PLACES: Final = (
    "market", "harbour", "library", "museum", "station", "bakery", "attic", "cellar", "theatre",
    "quarry", "chapel", "tavern", "mill",
)  # fmt: skip
BENCH: Final = Ground(author="bench/1")


async def measure_believing(scope: Scope) -> list[Measure]:
    """Beliefs of one person, at the size of a long life."""
    messages, beliefs = (1_000, 500) if scope.quick else (10_000, 5_000)
    async with temporary_house() as house:
        line = await line_with_history(house, messages, seed=1)
        await believe(house, line, beliefs)
        return [
            await consolidating(house, line, messages, beliefs),
            await as_of(house, line, beliefs),
            await rebuilding(house, line, beliefs),
        ]


async def believe(house: House, line: Line, count: int) -> None:
    """So many beliefs, each with words and a vector, every third one decided about twice."""
    rng = random.Random(2)
    vectors = random_vectors(count, seed=3, dimension=house.embedder.dimension)
    async with house.db.reading() as tx:
        said = await list_messages(tx, line.person.id, limit=1_000)
    for first in range(0, count, WRITTEN_AT_ONCE):
        async with house.db.writing() as tx:
            meanings: dict[MemoryId, Vectors] = {}
            for number in range(first, min(first + WRITTEN_AT_ONCE, count)):
                memory, at = made_up(line, rng, number, count)
                change = await decide(tx, memory, op="learned", base=0, ground=BENCH, now=at)
                if number % 3 == 0:
                    again = replace(memory, importance=0.6)
                    await decide(
                        tx, again, op="revised", base=change.seq, ground=BENCH, now=at + DAY
                    )
                source = said[number % len(said)]
                words = [Words(source=source, quote=source.text[:80], confidence=0.8)]
                await add_evidence(
                    tx, line.person.id, memory.id, words, extractor="bench/1", now=at
                )
                meanings[memory.id] = vectors[number]
            await save_meanings(tx, line.person.id, house.embedder.model, meanings)


def made_up(line: Line, rng: random.Random, number: int, count: int) -> tuple[Memory, Micros]:
    """A belief of some day of those years, and that day."""
    kinds, shares = zip(*KINDS, strict=True)
    at = FIRST_DAY + number * YEARS * 365 * DAY // count
    kind = rng.choices(kinds, shares)[0]
    text = f"{rng.choice(all_sentences())} ({number})"
    is_attribute = kind in {"fact", "preference"}
    memory = Memory(
        id=MemoryId(ObjectId(new_id(at))), person=line.person.id, kind=kind, text=text,
        language="en", key=f"key_{number}" if is_attribute else "",
        value=f"value {number}" if is_attribute else "",
        pattern="behavior" if kind == "pattern" else None, impact=rng.randint(-9, 9),
        happened_at=at if kind == "event" else None,
        due_at=at + 30 * DAY if kind == "expectation" else None, learned_at=at,
    )  # fmt: skip
    return memory, at


async def consolidating(house: House, line: Line, messages: int, beliefs: int) -> Measure:
    """Reading one segment among them, but for what the model and the embedder take."""
    segments = await new_segments(house, line)
    vectors = random_vectors(CLAIMS * ROUNDS, seed=4, dimension=house.embedder.dimension)
    texts = (spoken.text for session in sessions(messages, seed=1) for spoken in session)
    matrix = random_vectors(messages, seed=1, dimension=house.embedder.dimension)
    known = KnownVectors(house.embedder, {})
    with (
        TemporaryDirectory(prefix="oldfriend-bench-") as folder,
        closing(PlainSearch(Path(folder) / "plain.db", texts, matrix)) as plain,
    ):
        asked = any_word_of("What did we say about the garden?")
        _, taken = await medians_ms(
            (
                partial(plain.find, asked, matrix[number]),
                partial(consolidate, means(house, known, vectors, number), segment),
            )
            for number, segment in enumerate(segments[: ROUNDS // 3])
        )
        reference, taken = await medians_ms(
            (
                partial(plain.find, asked, matrix[number]),
                partial(consolidate, means(house, known, vectors, number), segment),
            )
            for number, segment in enumerate(segments[ROUNDS // 3 :], ROUNDS // 3)
        )
    return Measure(
        name=f"consolidating a segment among {beliefs:,} beliefs", value=taken, unit="ms",
        reference=reference, target=at_most(15),
        note=f"{TALK} messages, {CLAIMS} claims, beside model and embedding; reference: F",
    )  # fmt: skip


async def new_segments(house: House, line: Line) -> list[Segment]:
    """Stretches of talk that wait to be read."""
    made: list[Segment] = []
    end = FIRST_DAY + YEARS * 365 * DAY
    async with house.db.writing() as tx:
        await cut_ripe(tx, line.person.id, Ripeness(now=end, because="asked"))
        for number, spoken in zip(range(ROUNDS), sessions(ROUNDS * TALK * 2, seed=9), strict=False):
            at = end + number * DAY
            session = await ensure_closed_session(
                tx, line.chat, external_id=f"later {number}", opened_at=at, closed_at=at,
                batch=None,
            )  # fmt: skip
            around = (each.text for each in spoken[: TALK - CLAIMS])
            talk = [own(text, at) for text in (*told_in(number, WORDS), *around)]
            await write_messages(tx, Place(chat=line.chat, session=session), talk, now=at)
            made += await cut_ripe(tx, line.person.id, Ripeness(now=at, because="asked"))
    return made


def own(text: str, at: Micros) -> Spoken:
    """The person's own words."""
    return Spoken(role="person", speaker="", text=text, at=at, trust="person")


def told_in(number: int, templates: Sequence[str]) -> list[str]:
    """One talk's templates, each filled in with a thing and a place that belong to it alone."""
    first = number * len(templates)
    return [
        template.format(THINGS[place % len(THINGS)], PLACES[place % len(PLACES)])
        for place, template in enumerate(templates, first)
    ]


def means(house: House, embedder: KnownVectors, vectors: Vectors, number: int) -> Means:
    """Means that have read and embedded a segment before."""

    async def read(material: Material) -> Extraction:
        read = zip(material.messages, KINDS_TOLD, told_in(number, CLAIMED), strict=False)
        return Extraction(
            author="bench/1", summary="They talked.",
            claims=tuple(claim_from(message, kind, text) for message, kind, text in read),
        )  # fmt: skip

    async def embed(texts: Sequence[str]) -> Vectors:
        rows: Vectors = vectors[number * CLAIMS : number * CLAIMS + len(texts)]
        return rows

    return Means(
        db=house.db, shelf=house.shelf, clock=house.clock, read=read, read_small_talk=read,
        embed=embed, embedder=embedder.model,
    )  # fmt: skip


def claim_from(message: Message, kind: MemoryKind, text: str) -> Claim:
    """A claim of which a message gives the words."""
    value = text.partition(" ")[2] if kind == "preference" else ""
    return Claim(
        kind=kind, text=text, quotes=(Quote(message=message.id, text=message.text),),
        key="interests" if value else "", value=value, confidence=0.85,
        pattern="behavior" if kind == "pattern" else None, impact=2 if kind == "event" else 0,
    )  # fmt: skip


async def as_of(house: House, line: Line, beliefs: int) -> Measure:
    """What was believed in the middle of those years, beside what is believed now."""
    middle = FIRST_DAY + YEARS * 365 * DAY // 2

    async def then() -> None:
        async with house.db.reading() as tx:
            await believed_at(tx, line.person.id, middle)

    async def now() -> None:
        async with house.db.reading() as tx:
            await list_memories(tx, line.person.id)

    reference, value = await medians_ms([(now, then)] * ROUNDS)
    return Measure(
        name=f"beliefs as of a day, of {beliefs:,}", value=value, unit="ms", reference=reference,
        target=at_most(3), note="reference: what is believed now",
    )  # fmt: skip


async def rebuilding(house: House, line: Line, beliefs: int) -> Measure:
    """Folding all decisions anew, beside plain inserts of the rows that come of it."""

    async def fold() -> None:
        async with house.db.writing() as tx:
            await rebuild(tx, line.person.id)

    like = file_of(house.settings.database)
    async with temporary_house() as twin:
        with closing(PlainRows(file_of(twin.settings.database), like=like)) as plain:
            await plain.fill("person", plain.rows_of("person"))
            acts = (partial(plain.fill, "memory", plain.rows_of("memory")), fold)
            reference, value = await medians_ms([acts] * 7)
    return Measure(
        name=f"rebuilding {beliefs:,} beliefs", value=value, unit="ms", reference=reference,
        target=at_most(4), note="reference: the same rows, deleted and plainly inserted",
    )  # fmt: skip
