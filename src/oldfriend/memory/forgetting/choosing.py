"""What is meant to be forgotten? From what a person names to message versions and beliefs.

Reads only. What follows from it for everything else is foreseen elsewhere.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.clock import LATEST, Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import SHORTEST, ObjectId, PersonId, ambiguous, patterns_of, short
from oldfriend.domain.memories import Entity, Memory
from oldfriend.domain.sayings import saying
from oldfriend.memory.batches import get_batch
from oldfriend.memory.beliefs import MOST_CANDIDATES, list_entities, list_memories
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.forgetting.holding import load_holding
from oldfriend.memory.forgetting.leftovers import learned_between, leftovers_in

_UNSPACED: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants forgotten, as they name it; all of it that is named."""

    ids: tuple[str, ...] = ()  # of messages, memories, entities, summaries; how they begin or end
    about: str | None = None  # the name or id of somebody or something
    since: Micros | None = None  # what was said from then …
    until: Micros | None = None  # … and before then
    batch: int | None = None  # the number of an import
    everything: bool = False
    retained_since: Micros | None = None  # older messages go, what was learned from them stays


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What goes because it was named."""

    seqs: frozenset[int] = frozenset()  # of message versions
    objects: frozenset[ObjectId] = frozenset()
    batches: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()  # of somebody: nothing is called by them any more
    is_everything: bool = False

    def and_also(self, other: "Chosen") -> "Chosen":
        """Both together."""
        return Chosen(
            seqs=self.seqs | other.seqs, objects=self.objects | other.objects,
            batches=self.batches | other.batches, names=self.names | other.names,
            is_everything=self.is_everything or other.is_everything,
        )  # fmt: skip


async def choose(tx: Transaction, person: PersonId, wish: Wish) -> Chosen:
    """Everything that a wish names. Raises NotFound, InvalidInput."""
    chosen = Chosen()
    for each in wish.ids:
        chosen = chosen.and_also(await by_id(tx, person, each))
    if wish.about is not None:
        chosen = chosen.and_also(await about(tx, person, wish.about))
    if wish.since is not None or wish.until is not None:
        chosen = chosen.and_also(await said_between(tx, person, wish.since or 0, wish.until))
    if wish.retained_since is not None:
        chosen = chosen.and_also(await said_between(tx, person, None, wish.retained_since))
    if wish.batch is not None:
        chosen = chosen.and_also(await brought_by(tx, person, wish.batch))
    if wish.everything:
        chosen = chosen.and_also(await all_of(tx, person))
    return chosen


async def by_id(tx: Transaction, person: PersonId, prefix: str) -> Chosen:
    """The message or belief that a part of an id means. Raises NotFound, InvalidInput."""
    values: dict[str, SqlValue] = {"person": person, "most": MOST_CANDIDATES}
    values |= patterns_of(prefix)
    messages = await tx.rows(
        """SELECT DISTINCT id FROM message WHERE person = :person
           AND (id LIKE :begins OR id LIKE :ends OR id LIKE :shown) ORDER BY id LIMIT :most""",
        **values,
    )
    objects = await tx.rows(
        """SELECT DISTINCT object, kind FROM change WHERE person = :person
           AND (object LIKE :begins OR object LIKE :ends OR object LIKE :shown)
           ORDER BY object LIMIT :most""",
        **values,
    )
    if len(messages) + len(objects) > 1:
        said = {row[0]: "something said" for row in messages}
        raise ambiguous(prefix, {**said, **{row[0]: row[1] for row in objects}})
    if messages:
        return Chosen(seqs=await seqs_of(tx, person, [messages[0][0]]))
    if objects:
        return Chosen(objects=frozenset({ObjectId(objects[0][0])}))
    raise NotFound(saying("forget_gone", f"Nothing that is kept has the id {prefix!r}."))


async def seqs_of(tx: Transaction, person: PersonId, messages: Iterable[str]) -> frozenset[int]:
    """All versions of some messages."""
    found: set[int] = set()
    for message in messages:
        rows = await tx.rows(
            "SELECT seq FROM message WHERE person = :person AND id = :id",
            person=person,
            id=message,
        )
        found.update(int(row[0]) for row in rows)
    return frozenset(found)


async def said_between(
    tx: Transaction, person: PersonId, since: Micros | None, until: Micros | None
) -> Chosen:
    """What was said in a span of time, in all versions."""
    rows = await tx.rows(
        """SELECT seq FROM message WHERE person = :person
           AND (:since IS NULL OR said_at >= :since) AND said_at < :until""",
        person=person, since=since, until=LATEST if until is None else until,
    )  # fmt: skip
    return Chosen(seqs=frozenset(int(row[0]) for row in rows))


async def brought_by(tx: Transaction, person: PersonId, number: int) -> Chosen:
    """What an import brought: messages in all versions, and its versions of others.

    Of one that was undone, what is left of it.
    """
    batch = await get_batch(tx, person, number)
    if batch.status == "undone" and batch.ended_at is not None:
        holding = await load_holding(tx, person)
        left = learned_between(holding, leftovers_in(holding), batch.started_at, batch.ended_at)
        return Chosen(objects=left, batches=frozenset({batch.id}))
    rows = await tx.rows(
        """SELECT seq FROM message WHERE person = :person AND (batch = :batch OR id IN
             (SELECT id FROM message WHERE person = :person AND batch = :batch AND version = 1))""",
        person=person,
        batch=batch.id,
    )
    return Chosen(seqs=frozenset(int(row[0]) for row in rows), batches=frozenset({batch.id}))


async def all_of(tx: Transaction, person: PersonId) -> Chosen:
    """Everything that was said, and everything that is believed."""
    seqs = await tx.rows("SELECT seq FROM message WHERE person = :person", person=person)
    objects = await tx.rows(
        "SELECT DISTINCT object FROM change WHERE person = :person", person=person
    )
    batches = await tx.rows("SELECT id FROM import_batch WHERE person = :person", person=person)
    return Chosen(
        seqs=frozenset(int(row[0]) for row in seqs),
        objects=frozenset(ObjectId(row[0]) for row in objects),
        batches=frozenset(row[0] for row in batches),
        is_everything=True,
    )


async def about(tx: Transaction, person: PersonId, name: str) -> Chosen:
    """Somebody or something, what is believed of them, what they said, and what tells of them.

    Where another bears the same name, a message that only mentions it is not counted.
    Raises NotFound, InvalidInput.
    """
    entities = await list_entities(tx, person, live=False)
    meant = meant_by(name, entities)
    names = frozenset({name.strip()}) if meant is None else own_names(meant, entities)
    speakers = await speakers_called(tx, person, names)
    names |= speakers
    memories = [
        each.memory
        for each in await list_memories(tx, person, live=False)
        if (meant is not None and meant.id in each.memory.entities)
        or mentions(all_words(each.memory), names)
    ]
    objects = {memory.id for memory in memories} | ({meant.id} if meant is not None else set())
    evidence = await list_evidence(tx, person)
    told = {words.message for each in objects for words in evidence.get(each, ())}
    rows = await tx.rows(
        "SELECT id, seq, speaker, text, details FROM message WHERE person = :person", person=person
    )
    told.update(
        message for message, _, speaker, text, details in rows
        if speaker in speakers or mentions(f"{text}\n{details or ''}", names)
    )  # fmt: skip
    if not (objects or told):
        raise NotFound(
            saying("forget_about_unknown", f"Nothing that is kept is about {name!r}.", name=name)
        )
    here = await names_here(tx, person)
    is_somebody = meant is not None or bool(speakers)
    return Chosen(
        seqs=frozenset(int(row[1]) for row in rows if row[0] in told),
        objects=frozenset(ObjectId(each) for each in objects),
        names=frozenset(each for each in names if is_somebody and each.casefold() not in here),
    )


def all_words(memory: Memory) -> str:
    """All the words in what is believed."""
    return "\n".join([memory.text, memory.key, memory.value, *memory.tags, *memory.cues])


async def speakers_called(
    tx: Transaction, person: PersonId, names: Collection[str]
) -> frozenset[str]:
    """Who has said something, under such a name or a longer one; not the two who talk here."""
    rows = await tx.rows(
        """SELECT DISTINCT speaker FROM message
           WHERE person = :person AND role NOT IN ('person', 'companion')""",
        person=person,
    )
    here = await names_here(tx, person)
    return frozenset(
        row[0] for row in rows if mentions(row[0], names) and row[0].casefold() not in here
    )


async def names_here(tx: Transaction, person: PersonId) -> frozenset[str]:
    """What the person and the companion are called."""
    rows = await tx.rows(
        """SELECT name FROM person WHERE id = :person UNION SELECT name FROM companion
           UNION SELECT DISTINCT speaker FROM message
             WHERE person = :person AND role IN ('person', 'companion')""",
        person=person,
    )
    return frozenset(row[0].casefold() for row in rows)


def meant_by(name: str, entities: Collection[Entity]) -> Entity | None:
    """The one entity of this name or id; None where there is none. Raises InvalidInput."""
    wanted = name.strip().casefold()
    if len(wanted) < 1:
        raise InvalidInput(
            saying("forget_about_nobody", "Name somebody or something: --about NAME")
        )
    named = [
        each for each in entities
        if wanted in {known.casefold() for known in (each.name, *each.aliases)}
    ]  # fmt: skip
    if not named and len(wanted) >= SHORTEST:
        named = [
            each for each in entities
            if each.id.startswith(wanted) or each.id.endswith(wanted)
            or short(each.id).startswith(wanted)
        ]  # fmt: skip
    live = [each for each in named if each.ended_at is None]
    found = live or named
    if len(found) > 1:
        which = ", ".join(f"…{short(each.id)} ({each.description or each.kind})" for each in found)
        raise InvalidInput(saying(
            "forget_several", f"There are several called {name!r}. Give the id of one: {which}",
            name=name,
        ))  # fmt: skip
    return found[0] if found else None


def own_names(meant: Entity, entities: Iterable[Entity]) -> frozenset[str]:
    """The names that are this entity's and nobody else's."""
    others = {
        known.casefold()
        for each in entities
        if each.id != meant.id and each.same_as != meant.id and each.ended_at is None
        for known in (each.name, *each.aliases)
    }
    return frozenset(
        known for known in (meant.name, *meant.aliases) if known.casefold() not in others
    )


def mentions(text: str, names: Collection[str]) -> bool:
    """Whether a text has one of these names as a word of its own."""
    folded = text.casefold()
    return any(
        (name.casefold() in folded)
        and (_UNSPACED.search(name) is not None or stands_alone(name, folded))
        for name in names
    )


def stands_alone(name: str, folded: str) -> bool:
    """Whether a name is no mere part of a word of a text."""
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", folded) is not None
