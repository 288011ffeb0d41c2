"""A life at random: talk with replies, and everything that comes of it, in every table.

Beliefs with evidence, some of them in the words that were said; decisions made again; names;
summaries of summaries; receipts; calls of models and tools that were shown words; letters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from oldfriend.db.database import Database, TableInfo, Transaction
from oldfriend.db.message_numbers import load_all_numbers
from oldfriend.domain.clock import DAY, SECOND
from oldfriend.domain.codec import Reference
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.memories import Cause, Entity, ObjectLink, StoredBelief, Summary
from oldfriend.domain.messages import TRUST_BY_ROLE, Chat, Message, Person, Role, UnloggedMessage
from oldfriend.llm.model import Completion, CompletionRequest, ModelCall, PromptTurn, ToolCall
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.deletion.tombstones import Tombstones
from oldfriend.memory.deletion.verification import PACKED_DECODERS
from oldfriend.memory.derived_evidence import derive_evidence
from oldfriend.memory.evidence import NewEvidence, add_evidence, list_object_evidence
from oldfriend.memory.import_batches import (
    ImportSource,
    advance_batch,
    finish_batch,
    start_or_resume_batch,
)
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.journal import Provenance, get_latest_seq, record_decision
from oldfriend.memory.message_log import WriteTarget, edit_message, list_messages, write_message
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_person
from oldfriend.memory.receipts import Receipt, ReceiptItem, write_receipt
from oldfriend.memory.reflection_log import (
    ReflectionRecord,
    ReflectionTranscript,
    save_reflection_record,
)
from oldfriend.memory.segments import (
    cut_segment,
    list_segment_messages,
    list_uncut_spans,
    set_segment_status,
)
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.memory.vectors import save_belief_vectors, save_message_vectors
from oldfriend.queues.inbox import InboxPayload, enqueue_inbox
from oldfriend.queues.outbox import ReplyTexts, enqueue_reply
from oldfriend.search import Reason
from oldfriend.usage.model_calls import CallContext, record_call
from oldfriend.usage.tool_calls import record_tool_result, record_tool_start
from tests.clock import FrozenClock

NO_MESSAGE = "there is no message"
"""Stands where a packed number points to nothing."""

VOWELS, CONSONANTS = "aeiou", "bcdfghklmnprstvz"
SIGNS = [chr(0x4E00 + each) for each in range(0, 3000, 7)]
SAYINGS = ("Thank you for telling me. I have kept every word.", "Good night, sleep well.", "ok")
NAMES = ("Anka", "Bolek", "Cirila", "Dorotea")


@dataclass(slots=True, kw_only=True)
class Life:
    """Somebody, their talk, and what is believed of them."""

    db: Database
    clock: FrozenClock
    random: Random
    person: Person
    chat: Chat
    imported: list[ImportedMessage] = field(default_factory=list)
    memories: list[StoredBelief] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)

    def word(self) -> str:
        """A word that nobody else uses."""
        choose = self.random.choice
        return "".join(choose(CONSONANTS) + choose(VOWELS) for _ in range(choose((2, 3, 4))))

    def sentence(self) -> str:
        """Something to say: long or short, about somebody, in one of two scripts, or said daily."""
        kind = self.random.random()
        if kind < 0.1:
            return self.random.choice(SAYINGS)
        if kind < 0.25:
            return "".join(self.random.choices(SIGNS, k=self.random.randint(3, 30)))
        words = [self.word() for _ in range(self.random.randint(2, 25))]
        if self.random.random() < 0.4:
            words[self.random.randrange(len(words))] = self.random.choice(NAMES)
        return " ".join(words).capitalize() + '.\n"Eh"?'[: self.random.choice((1, 7))]

    def part_of(self, text: str) -> str:
        """A run of a text, as somebody repeats it."""
        words = text.split(" ")
        start = self.random.randrange(len(words))
        return " ".join(words[start : start + self.random.randint(3, 12)])

    async def says(self, tx: Transaction, role: Role, text: str, *, turn: str) -> Message:
        """Put words into the log."""
        now = self.clock.tick(minutes=self.random.choice((1, 2, 5, 45)))
        place = WriteTarget(
            chat=self.chat, session=await ensure_open_session(tx, self.chat, now), turn=turn
        )
        spoken = UnloggedMessage(
            role=role,
            speaker=self.person.name,
            text=text,
            at=now,
            zone="Europe/Lisbon",
            trust=TRUST_BY_ROLE[role],
        )
        message = await write_message(tx, place, spoken, now=now, is_searchable=role == "person")
        assert message is not None
        return message


async def begin_life(db: Database, clock: FrozenClock, name: str, seed: int) -> Life:
    """Somebody new."""
    async with db.begin_write() as tx:
        person = await ensure_person(tx, name, now=clock(), zone="Europe/Lisbon")
        companion = await ensure_companion(tx, now=clock())
        chat = await ensure_chat(
            tx, person, companion, channel="terminal", address=name, title="", now=clock()
        )
    return Life(db=db, clock=clock, random=Random(seed), person=person, chat=chat)


async def live(life: Life, *, turns: int) -> None:
    """Talk for a while, and let everything come of it."""
    async with life.db.begin_write() as tx:
        await bring_some(life, tx)
        for _ in range(turns):
            await talk(life, tx)
        await name_somebody(life, tx)
        for _ in range(turns // 3):
            await learn(life, tx)
        await summarise(life, tx)
        for _ in range(turns // 5):
            await think(life, tx)
        await leave_letters(life, tx)


async def talk(life: Life, tx: Transaction) -> None:
    """Something is said and answered, with a receipt, a call of a model, and one of a tool."""
    turn = new_id(life.clock())
    earlier = await list_messages(tx, life.person.id, limit=12)
    text = life.sentence()
    if earlier and life.random.random() < 0.15:
        text = life.part_of(life.random.choice(earlier).text)
    said = await life.says(tx, "person", text, turn=turn)
    if life.random.random() < 0.15:
        said = await edit_message(tx, life.person.id, said.id, life.sentence(), now=life.clock())
    about = life.random.sample([*earlier, said], k=min(3, len(earlier) + 1))
    quoted = life.part_of(life.random.choice(about).text)
    answer = life.random.choice((*SAYINGS, f"You said: “{quoted}”", f"I see, {quoted}!"))
    reply = await life.says(tx, "companion", answer, turn=turn)
    items = [
        ReceiptItem(
            kind="message",
            object=each.id,
            version=each.version,
            used=life.random.random() < 0.7,
            score=0.5,
            reasons=(Reason(cause="words", words=tuple(each.text.split()[:6])),),
        )
        for each in about
    ]
    items += [
        ReceiptItem(kind="memory", object=each.id, version=1, used=True, score=0.4, reasons=())
        for each in life.memories[-1:]
    ]
    receipt = Receipt(
        id=new_id(life.clock()),
        person=life.person.id,
        turn=turn,
        asked=said.id,
        asked_seq=said.seq,
        replied=reply.id,
        made_at=life.clock(),
        details={"intent": "statement", "trouble": {"error": f"could not: {quoted}"}},
        items=tuple(items),
    )
    await write_receipt(tx, receipt)
    await keep_calls(life, tx, said, about, answer)
    vector = np.full((1, 8), 8**-0.5, np.float32)
    await save_message_vectors(tx, life.person.id, "m", [said.seq], vector)


async def keep_calls(
    life: Life, tx: Transaction, said: Message, about: list[Message], answer: str
) -> None:
    """The records of what a turn asked models and tools."""
    asker = CallContext(
        person=life.person.id, turn=said.turn, answered_versions=f"{said.id}@{said.version}"
    )
    request = CompletionRequest(
        purpose="reply",
        prompt="reply/1",
        system_prompt="",
        turns=(PromptTurn(role="person", text=said.text),),
        shown=tuple(each.id for each in about),
    )
    completion = Completion(model="a:b", text=answer)
    call = ModelCall(
        request=request,
        model="a:b",
        outcome="done",
        completion=completion,
        error=said.text,
        latency_us=5,
    )
    await record_call(tx, asker, call, step=0, request_hash="x", now=life.clock())
    if life.random.random() < 0.3:
        asked = ToolCall(id="t", name="note", arguments={"text": said.text})
        where = (life.person.id, said.turn, 0)
        await record_tool_start(tx, *where, asked, "once", now=life.clock())
        await record_tool_result(tx, *where, f"noted {said.text}", now=life.clock())


async def learn(life: Life, tx: Transaction) -> None:
    """Something is believed, perhaps in the words that were said, and perhaps decided again."""
    now, person = life.clock.tick(seconds=1), life.person.id
    said = [each for each in await list_messages(tx, person) if each.role == "person"]
    sources = life.random.sample(said, k=min(len(said), life.random.randint(1, 3)))
    inside = life.random.random() < 0.5
    text = life.part_of(sources[0].text) if inside else life.sentence()
    is_fact = life.random.random() < 0.5
    memory = StoredBelief(
        id=new_id(now),
        person=person,
        kind="fact" if is_fact else "event",
        text=text or "it",
        language="en",
        key="home" if is_fact else "",
        value=life.word() if is_fact else "",
        entities=tuple(each.id for each in life.entities if each.name in text),
        is_by_person=life.random.random() < 0.1,
        learned_at=now,
    )
    words = [NewEvidence(source=each, quote=life.part_of(each.text)) for each in sources]
    ground = ground_of(*sources)
    first = await record_decision(tx, memory, op="learned", base=0, provenance=ground, now=now)
    await add_evidence(tx, person, memory.id, words, extractor="rules/1", now=now)
    if life.random.random() < 0.4:
        better = replace(memory, text=life.sentence(), tags=(life.word(),))
        await record_decision(tx, better, op="revised", base=first.seq, provenance=ground, now=now)
    elif life.memories and life.random.random() < 0.4:
        await overtake(life, tx, memory, first.seq, ground)
    await save_belief_vectors(tx, person, "m", {memory.id: np.ones(8, np.float32)})
    life.memories.append(memory)


async def think(life: Life, tx: Transaction) -> None:
    """A thought is made of beliefs, perhaps in their words; somebody is described; it is kept."""
    now, person = life.clock.tick(seconds=1), life.person.id
    live = [each.memory for each in await list_memories(tx, person) if each.memory.kind == "event"]
    if not live:
        return
    cited = life.random.sample(live, k=min(len(live), life.random.randint(1, 2)))
    text = life.part_of(cited[0].text) if life.random.random() < 0.5 else life.sentence()
    thought = StoredBelief(
        id=new_id(now),
        person=person,
        kind="thought",
        text=text or "hm",
        language="en",
        trust="companion",
        learned_at=now,
        relations=tuple(ObjectLink(kind="rests_on", target=each.id) for each in cited),
    )
    lenders = [each.id for each in cited]
    words = await list_object_evidence(tx, person, lenders)
    causes = [Cause(message=w.message, version=w.version) for each in words.values() for w in each]
    ground = Provenance(author="reflect/1", causes=tuple(dict.fromkeys(causes)))
    await record_decision(tx, thought, op="learned", base=0, provenance=ground, now=now)
    await derive_evidence(tx, person, thought.id, lenders, extractor="reflect/1", now=now)
    for entity in await list_entities(tx, person):
        if entity.id in cited[0].entities and not entity.is_by_person:
            described = replace(entity, description=f"the one of {life.part_of(cited[0].text)}")
            base = await get_latest_seq(tx, person, entity.id)
            how = replace(ground, author="describe/2")
            await record_decision(tx, described, op="revised", base=base, provenance=how, now=now)
    shown = ReflectionTranscript(shown=tuple(each.text for each in cited), answered=(thought.text,))
    tick = ReflectionRecord(
        id=new_id(now),
        person=person,
        kind="reflection",
        why="timer",
        ran_at=now,
        shown=tuple(lenders),
        transcript=shown,
    )
    await save_reflection_record(tx, tick)


async def overtake(
    life: Life, tx: Transaction, memory: StoredBelief, seq: int, ground: Provenance
) -> None:
    """A belief puts an end to an earlier one."""
    earlier = life.memories.pop()
    newest = await tx.row("SELECT max(seq), count(*) FROM change WHERE object = :id", id=earlier.id)
    assert newest is not None
    if newest[1] > 1:
        return
    now = life.clock()
    ended = replace(earlier, status="superseded", ended_at=now)
    await record_decision(tx, ended, op="superseded", base=newest[0], provenance=ground, now=now)
    newer = replace(memory, relations=(ObjectLink(kind="supersedes", target=earlier.id),))
    await record_decision(tx, newer, op="revised", base=seq, provenance=ground, now=now)


def ground_of(*sources: Message) -> Provenance:
    """What a decision rests on."""
    causes = tuple(Cause(message=each.id, version=each.version) for each in sources)
    return Provenance(author="rules/1", causes=causes)


async def name_somebody(life: Life, tx: Transaction) -> None:
    """Some names are known, with the words that they were said in."""
    said = await list_messages(tx, life.person.id, limit=1000)
    for name in NAMES:
        sources = [each for each in said if name in each.text and each.role == "person"]
        if not sources:
            continue
        now = life.clock.tick(seconds=1)
        entity = Entity(
            id=new_id(now),
            person=life.person.id,
            name=name,
            kind="person",
            aliases=tuple(each.text.split()[0] for each in sources[:1]),
            description=life.part_of(sources[-1].text),
            learned_at=now,
        )
        await record_decision(
            tx, entity, op="learned", base=0, provenance=ground_of(*sources), now=now
        )
        words = [NewEvidence(source=each, quote=name) for each in sources]
        await add_evidence(tx, life.person.id, entity.id, words, extractor="rules/1", now=now)
        life.entities.append(entity)


async def summarise(life: Life, tx: Transaction) -> None:
    """All talk is cut into segments, and these are summed up, some of it twice."""
    now, person = life.clock.tick(seconds=1), life.person.id
    levels: list[Summary] = []
    for uncut in await list_uncut_spans(tx, person):
        segment = await cut_segment(tx, person, uncut, cut_by="idle", now=now)
        await set_segment_status(tx, segment, "done", outcome={"learned": 1}, now=now)
        messages = await list_segment_messages(tx, segment)
        summary = Summary(
            id=new_id(life.clock.tick(seconds=1)),
            person=person,
            level=1,
            text=life.part_of(life.random.choice(messages).text) + f" {life.sentence()}",
            language="en",
            topics=(life.word(),),
            segments=(segment.id,),
            from_at=segment.from_at,
            until_at=segment.until_at,
            learned_at=now,
        )
        first = await record_decision(
            tx, summary, op="learned", base=0, provenance=ground_of(), now=now
        )
        levels.append(summary)
        if len(levels) == 3:
            await fold(life, tx, levels)
            levels = []
        elif len(levels) == 1:
            folded = replace(summary, topics=())
            await record_decision(
                tx, folded, op="revised", base=first.seq, provenance=ground_of(), now=now
            )


async def fold(life: Life, tx: Transaction, sources: list[Summary]) -> None:
    """Some summaries become one."""
    now = life.clock.tick(seconds=1)
    above = replace(
        sources[0],
        id=new_id(now),
        level=2,
        text=" ".join(life.part_of(s.text) for s in sources),
        segments=tuple(g for s in sources for g in s.segments),
        sources=tuple(s.id for s in sources),
        until_at=sources[-1].until_at,
        learned_at=now,
    )
    await record_decision(tx, above, op="learned", base=0, provenance=ground_of(), now=now)
    for each in sources:
        newest = await get_latest_seq(tx, each.person, each.id)
        idle = replace(each, is_active=False)
        await record_decision(tx, idle, op="revised", base=newest, provenance=ground_of(), now=now)


async def leave_letters(life: Life, tx: Transaction) -> None:
    """Something is not answered yet, something not delivered."""
    last = await list_messages(tx, life.person.id, limit=6)
    for each in last:
        if each.role == "person":
            word = InboxPayload(
                kind="said",
                message=each.id,
                version=each.version,
                turn=each.turn or "t",
                chars=9,
                dedup_key=life.word() * 4,
            )
            await enqueue_inbox(
                tx, life.chat.id, life.person.id, word, debounce_s=0, now=life.clock()
            )
        else:
            await enqueue_reply(tx, life.chat, each.id, ReplyTexts([each.text]), now=life.clock())


async def bring_some(life: Life, tx: Transaction, *, size: int = 8) -> None:
    """An import, with words of the person and of others."""
    life.imported = [
        ImportedMessage(
            session=f"s{number // 4}",
            message=UnloggedMessage(
                role="person" if number % 3 else "other",
                speaker="Nora",
                text=life.sentence(),
                at=life.clock() - DAY + number * SECOND,
                trust="person" if number % 3 else "other",
                external_id=f"{life.person.name}{number}",
            ),
        )
        for number in range(size)
    ]
    reading = ImportSource(
        file="chat.txt", format="text", sha256=life.person.id, me="Nora", zone="UTC"
    )
    batch = await start_or_resume_batch(tx, life.person.id, reading, now=life.clock())
    target = ImportTarget(chat=life.chat, language="en", batch=batch.id)
    kept = await write_imported_messages(tx, target, life.imported, now=life.clock())
    await advance_batch(tx, batch, added=kept.added, known=0)
    await finish_batch(tx, batch, now=life.clock())


async def bring_again(life: Life, forgotten: Tombstones) -> int:
    """The same import once more; how many messages that brings back."""
    target = ImportTarget(chat=life.chat, language="en", tombstones=forgotten)
    async with life.db.begin_write() as tx:
        return (await write_imported_messages(tx, target, life.imported, now=life.clock())).added


async def rows_of(db: Database, person: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row that is a person's, in every table; what is packed as the ids that stand in it."""
    async with db.begin_read() as tx:
        found = {}
        versions = await load_all_numbers(tx, PersonId(person))
        for table in await tx.list_tables():
            column = "id" if table.name == "person" else "person"
            if column in table.columns:
                rows = await tx.rows(
                    f"SELECT * FROM {table.name} WHERE {column} = :person", person=person
                )
                found[table.name] = sorted((opened(table, row, versions) for row in rows), key=repr)
        return found


def opened(
    table: TableInfo, row: tuple[object, ...], versions: Mapping[int, tuple[str, int]]
) -> tuple[object, ...]:
    """A row with the ids in its packed values, so that none of them hides there."""

    def named(reference: Reference) -> str:
        if isinstance(reference, str):
            return reference
        return versions[reference][0] if reference in versions else f"{NO_MESSAGE} {reference}"

    return tuple(
        " ".join(map(named, sorted(PACKED_DECODERS[table.name, column](cell), key=str)))
        if isinstance(cell, bytes) and (table.name, column) in PACKED_DECODERS
        else cell
        for column, cell in zip(table.columns, row, strict=True)
    )
