"""What a model is told of the person: always who they are, what is open, and what bears on it."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, SummaryId, new_id
from oldfriend.domain.memories import Entity, StoredBelief, Summary
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.belief_views import list_entities
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, get_latest_seq, record_decision
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.reply_worker import answer_message
from oldfriend.turn.memory_context import build_context
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.turn_outcome import Outcome
from tests.clock import FrozenClock
from tests.turn.conftest import Talk

TOLD = [
    "I live in Porto, in a small flat by the river.",
    "My sister Ana is a nurse. She works nights at the hospital.",
    "I love jazz, and I can't stand coriander.",
    "I promise I'll call Ana tomorrow at five.",
]
HERE = Provenance(author="rules/test")


@pytest.fixture
async def talk(app: AppContext, clock: FrozenClock) -> Talk:
    """Nora, who has told of her life on another channel, some months ago."""
    elsewhere = await open_local_chat(
        app.db, app.clock, app.settings, person="Nora", channel="signal"
    )
    for text in TOLD:
        clock.tick(minutes=1)
        await answer_message(app, elsewhere, MessageSubmission(text=text))
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, elsewhere.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, elsewhere.person.id, segment.id)
    clock.tick(minutes=60 * 24 * 3)
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person="Nora", channel="terminal"
    )
    return Talk(app=app, clock=clock, chat_context=chat_context)


async def briefed(talk: Talk, text: str) -> tuple[Outcome, CompletionRequest]:
    """What comes of saying something, and what the model was told."""
    outcome, (request, *_) = await talk.ask(text, "Yes.")
    return outcome, request


async def believe(talk: Talk, text: str, **fields: object) -> StoredBelief:
    """Something believed, on what was said of jazz."""
    app, person = talk.app, talk.chat_context.person.id
    plain = StoredBelief(
        id=MemoryId(ObjectId(new_id(app.clock()))),
        person=person,
        kind="fact",
        text=text,
        language="en",
        learned_at=app.clock(),
    )
    memory = replace(plain, **fields)
    async with app.db.begin_write() as tx:
        source = next(m for m in await list_messages(tx, person) if m.text == TOLD[2])
        await record_decision(tx, memory, op="learned", base=0, provenance=HERE, now=app.clock())
        words = [NewEvidence(source=source, quote=source.text)]
        await add_evidence(tx, person, memory.id, words, extractor="test", now=app.clock())
    return memory


async def test_small_talk_prompt_contains_profile_and_open_items_without_recall(talk: Talk) -> None:
    """Nothing is searched for; who they are and what is open is there all the same."""
    outcome, request = await briefed(talk, "hello")

    assert "What you know of Nora:" in request.system_prompt
    assert " [2023-11-14] Lives in Porto.\n" in request.system_prompt
    assert "Loves jazz." in request.system_prompt
    assert "Open, promised or expected:" in request.call_instructions
    assert ", overdue" in request.call_instructions
    assert "What you know that bears" not in request.call_instructions
    assert all(item.used and item.score == 1.0 for item in outcome.reply.items)


async def test_named_entity_gets_its_own_prompt_section_once(talk: Talk) -> None:
    """Everything that is known of them, once."""
    _, request = await briefed(talk, "I had lunch with Ana")

    assert "About Ana (person):" in request.call_instructions
    assert request.call_instructions.count("Ana works as a nurse.") == 1


async def test_who_is_named_is_described(talk: Talk) -> None:
    """As a record, so that it orders nothing."""
    app, person = talk.app, talk.chat_context.person.id
    async with app.db.begin_write() as tx:
        ana = next(each for each in await list_entities(tx, person) if each.name == "Ana")
        base = await get_latest_seq(tx, person, ana.id)
        told = replace(ana, description="the sister who works nights")
        await record_decision(tx, told, op="revised", base=base, provenance=HERE, now=app.clock())
    _, request = await briefed(talk, "I had lunch with Ana")

    assert (
        "About Ana (person):\n<memory>\n[kind description] the sister who works nights\nr"
    ) in request.call_instructions


async def test_prompt_holds_a_belief_or_its_message_but_not_both(talk: Talk) -> None:
    """The better one stands for both; the receipt names what was left out."""
    await believe(talk, "Cleans the oven after each quarrel.", kind="pattern", pattern="behavior")
    outcome, request = await briefed(talk, "What do I clean after a quarrel, the oven?")
    dropped = outcome.reply.details["context"]["dropped"]

    assert " [2023-11-14] Cleans the oven after each quarrel." in request.call_instructions
    assert "coriander" not in request.call_instructions.split("What you know that is relevant")[1]
    assert dropped["memories"]


async def test_message_covered_by_the_profile_is_not_repeated_in_the_prompt(talk: Talk) -> None:
    """By the message that it rests on, where this holds no other words."""
    _, request = await briefed(talk, "Do I love jazz?")
    prompt = request.system_prompt + request.call_instructions

    assert "Loves jazz." in request.system_prompt
    assert "coriander" in request.system_prompt
    assert "I love jazz, and I can't stand coriander." not in prompt
    assert "I live in Porto, in a small flat by the river." in prompt


async def test_outside_belief_is_labelled_outside_and_kept_out_of_the_profile(talk: Talk) -> None:
    """It is found, and labelled."""
    text = "Read in a newsletter that walnut oil cures colds."
    await believe(talk, text, kind="event", trust="outside")
    _, request = await briefed(talk, "What cures colds, walnut oil?")

    (line,) = [line for line in request.call_instructions.splitlines() if "walnut" in line]
    assert "; class outside]" in line
    (title,) = [part for part in request.call_instructions.split("\n\n") if "walnut" in part]
    assert not title.startswith("What you know of Nora")


async def test_superseded_belief_is_in_the_prompt_only_for_past_questions(talk: Talk) -> None:
    """And only where one asks for what was."""
    over = talk.clock() - DAY
    await believe(
        talk,
        "Lives in Braga.",
        key="location",
        status="superseded",
        ended_at=over,
        holds_until=over,
    )
    _, now = await briefed(talk, "Where do I live?")
    _, before = await briefed(talk, "Where did I live before?")

    assert "Braga" not in now.call_instructions
    (line,) = [line for line in before.call_instructions.splitlines() if "Braga" in line]
    assert "; over since 2023-11-16]" in line


async def test_prompt_suggests_asking_once_whether_two_entities_are_the_same(talk: Talk) -> None:
    """Where one of them is named; not again once it has."""
    app, person = talk.app, talk.chat_context.person.id
    async with app.db.begin_write() as tx:
        ids = [EntityId(ObjectId(new_id(app.clock()))) for _ in range(2)]
        for name, id_, same in (("Pepe", ids[0], None), ("José", ids[1], ids[0])):
            entity = Entity(
                id=id_,
                person=person,
                name=name,
                kind="person",
                same_as=same,
                status="uncertain" if same else "confirmed",
                learned_at=app.clock(),
            )
            await record_decision(
                tx, entity, op="learned", base=0, provenance=HERE, now=app.clock()
            )
    outcome, (first, *_) = await talk.ask("I saw Pepe today", "Is Pepe the same as José?")
    _, second = await briefed(talk, "Pepe is well, by the way")
    _, other = await briefed(talk, "It rains")

    hint = "It is not known whether José and Pepe are the same. You may ask, once."
    assert outcome.reply.text
    assert hint in first.call_instructions
    assert hint not in second.call_instructions
    assert hint not in other.call_instructions
    assert "About José" not in first.call_instructions


async def test_changed_belief_is_in_the_prompt_of_the_next_turn(talk: Talk) -> None:
    """Whatever was at hand before."""
    await briefed(talk, "hello")
    await believe(talk, "Has a red car.", key="car")

    assert "Has a red car." in (await briefed(talk, "hello"))[1].system_prompt


async def test_build_context_gives_plain_lines_within_the_token_budget(talk: Talk) -> None:
    """As plain lines, within the budget."""
    await believe(talk, "Cleans the oven after each quarrel.", kind="pattern", pattern="behavior")
    cue = RecallQuery(text="When do I clean the oven?", language="en", at=talk.clock())
    looking, person = talk.app.search_deps, talk.chat_context.person
    text = await build_context(looking, person, cue, budget=2_000)
    tight = await build_context(looking, person, cue, budget=60)

    assert (
        "Known of them:\n- Sister: Ana. (said 2023-11-14)\n- Lives in Porto. (said 2023-11-14)"
        in text
    )
    assert "Promised or expected:" in text
    assert "Believed:\n- Cleans the oven after each quarrel. (said 2023-11-14)" in text
    assert len(tight) < 4 * 60 + 40


async def test_prompt_names_the_person_by_speaker_name_or_preferred_name(talk: Talk) -> None:
    """Of an account that nobody has named yet; a name that they told comes first."""
    app = talk.app
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    unnamed = replace(talk, chat_context=chat_context)
    await unnamed.tell("The boat is blue.", speaker="owner")
    nobody = await asked_by_owner(unnamed, "What colour is the boat?")
    await unnamed.tell("The boat has a mast.", speaker="Nora Vale")
    imported = await asked_by_owner(unnamed, "What colour is the boat?")
    now = app.clock()
    told = StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=chat_context.person.id,
        kind="fact",
        key="preferred_name",
        value="Nori",
        text="Is called Nori.",
        language="en",
        learned_at=now,
    )
    async with app.db.begin_write() as tx:
        await record_decision(tx, told, op="learned", base=0, provenance=HERE, now=now)
    named = await asked_by_owner(unnamed, "What colour is the boat?")

    assert "You do not know yet what the person is called" in nobody
    assert "The person is Nora Vale." in imported
    assert "The person is Nori." in named
    assert "What you know of Nori:" in named
    assert "[2023-11-17 22:18] The boat is blue." in named
    assert "owner" not in nobody + named


async def asked_by_owner(talk: Talk, text: str) -> str:
    """What a model is told beside the rules for a question in a chat of its own."""
    elsewhere = await open_local_chat(
        talk.app.db, talk.app.clock, talk.app.settings, person=None, channel="elsewhere"
    )
    here, mind = replace(talk, chat_context=elsewhere), talk.mind("Yes.")
    await here.turn(await here.hears(text, speaker="owner"), mind)
    assert isinstance(mind.model, ScriptedModel)
    prompt, _, known = mind.model.requests[0].system_prompt.partition(
        "tell the person exactly that."
    )
    assert prompt
    return known + mind.model.requests[0].call_instructions


async def test_recently_changed_fact_is_in_the_news_section_only(talk: Talk) -> None:
    """Apart from what has long been so."""
    await believe(talk, "Works as a baker.", key="occupation", holds_from=talk.clock() - DAY)
    await believe(talk, "Has a red car.", key="car")
    _, request = await briefed(talk, "hello")

    (news,) = [
        part for part in request.call_instructions.split("\n\n") if part.startswith("Now, and what")
    ]
    assert "Works as a baker." in news
    assert "red car" not in news
    assert (request.system_prompt + request.call_instructions).count("Works as a baker.") == 1


async def test_prompt_contains_model_summaries_but_not_rule_summaries(talk: Talk) -> None:
    """A rule's are but lines that were said, which are found as they are."""
    for author in ("rules/5", "extract/4"):
        summary = Summary(
            id=SummaryId(ObjectId(new_id(talk.clock()))),
            person=talk.chat_context.person.id,
            level=1,
            text=f"Written by {author}.",
            language="en",
            from_at=talk.clock() - DAY,
            until_at=talk.clock(),
            learned_at=talk.clock(),
        )
        async with talk.app.db.begin_write() as tx:
            provenance = Provenance(author=author)
            await record_decision(
                tx, summary, op="learned", base=0, provenance=provenance, now=talk.clock()
            )
    _, request = await briefed(talk, "hello")

    (part,) = [
        each for each in request.system_prompt.split("\n\n") if each.startswith("What was talked")
    ]
    assert [line.partition("] ")[2] for line in part.splitlines() if line.startswith("[")] == [
        "Written by extract/4."
    ]


async def test_low_confidence_recall_is_in_the_prompt_labelled_uncertain(talk: Talk) -> None:
    """As much as ever: what answers may be among it."""
    for number in range(12):
        await talk.remembers(f"The shelf number {number} holds jars of plums and pears.")
    _, request = await briefed(talk, "Who won the chess tournament in Tartu?")

    (part,) = [
        each for each in request.call_instructions.split("\n\n") if each.startswith("Memories that")
    ]
    assert "uncertain" in part.splitlines()[0]
    assert len(part.splitlines()) > 8
