"""What goes on in the companion carries from turn to turn, and shows in how it is told to talk."""

import json
from dataclasses import replace

import pytest

from oldfriend.domain.clock import HOUR
from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import EvidenceStats, MemoryState, Mood, StoredBelief
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.core_blocks import write_block
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.mood import set_mood
from oldfriend.memory.reflection_log import QUESTION_KEY
from oldfriend.memory.segments import cut_segment, list_uncut_spans, set_segment_status
from oldfriend.memory.working_memory import Plan, save_working_memory
from oldfriend.prompts.token_budget import BUDGETS
from oldfriend.turn.companion_state import (
    EMPTY_COMPANION_STATE,
    build_next_working_memory,
    select_on_topic,
)
from oldfriend.turn.prompt_labels import format_iso_day
from oldfriend.turn.turn_dependencies import TurnLimits
from oldfriend.turn.turn_outcome import Outcome
from tests.turn.conftest import Talk, wants

GOA = {"goal": "a week in Goa", "progress": "dates known", "next_step": "find a hotel"}
JUDGED = {
    "complexity": "moderate",
    "search": True,
    "tool": None,
    "emotion": "excited",
    "goal": "plan",
    "signal": "normal",
    "asks_for": ["budget"],
    "plan": GOA,
}
HERE = Provenance(author="test/1")


async def turn(
    talk: Talk, text: str, *answers: object, judged: dict[str, object] | None = None
) -> tuple[Outcome, CompletionRequest]:
    """A turn with a model, and with a small one where it is to judge; what is in mind is kept."""
    small = None if judged is None else ScriptedModel([json.dumps(judged)], name="scripted:small")
    mind = talk.mind(*(answers or ("Yes.",)), small_model=small)
    assert isinstance(mind.model, ScriptedModel)
    said = await talk.hears(text)
    outcome = await talk.turn(said, mind)
    if outcome.working_memory is not None:
        async with talk.app.db.begin_write() as tx:
            await save_working_memory(
                tx, said.person.id, said.message.session, outcome.working_memory, now=talk.clock()
            )
    return outcome, mind.model.requests[0]


async def thinks(talk: Talk, kind: str, text: str, **fields: object) -> StoredBelief:
    """Something that the companion thinks, resting on the first words that were said."""
    said = await talk.tell("We talked about boats, and it was a good evening.")
    plain = StoredBelief(
        id=MemoryId(ObjectId(new_id(talk.clock()))),
        person=talk.chat_context.person.id,
        kind="thought",
        text=text,
        language="en",
        learned_at=talk.clock(),
    )
    memory = replace(plain, kind=kind, **fields)
    async with talk.app.db.begin_write() as tx:
        await record_decision(tx, memory, op="learned", base=0, provenance=HERE, now=talk.clock())
        words = [NewEvidence(source=said, quote=said.text)]
        await add_evidence(
            tx, talk.chat_context.person.id, memory.id, words, extractor="test", now=talk.clock()
        )
    return memory


async def feels(talk: Talk, phrase: str) -> None:
    """The last talk was read, and has left a mood."""
    person, now = talk.chat_context.person.id, talk.clock()
    async with talk.app.db.begin_write() as tx:
        (uncut,) = await list_uncut_spans(tx, person)
        segment = await cut_segment(tx, person, uncut, cut_by="asked", now=now)
        await set_segment_status(tx, segment, "done", author="test/1", now=now)
        await set_mood(tx, segment, Mood(phrase=phrase, energy=6, signal="warm"))


async def test_a_plan_is_carried_from_turn_to_turn(talk: Talk) -> None:
    """With what is still to be known; the next prompt begins where this one ended."""
    first, told_nothing = await turn(talk, "Goa it is, in March!", judged=JUDGED)
    _, told = await turn(talk, "so, what now?", judged=JUDGED)

    assert first.working_memory is not None
    assert first.working_memory.plan is not None
    assert first.working_memory.plan.texts == Plan(**GOA).texts
    assert "What you have in mind" not in told_nothing.call_instructions
    plan = "- What you two are about to do: a week in Goa. Done: dates known. Next: find a hotel."
    assert plan in told.call_instructions
    assert "not been told yet: budget" in told.call_instructions
    assert "oldest first: excited" in told.call_instructions


async def test_message_behind_a_plan_is_listed_as_shown_in_the_request(talk: Talk) -> None:
    """A plan is made of messages, which may still come to mind in their own words."""
    first, _ = await turn(talk, "Goa it is, in March!", judged=JUDGED)
    assert first.working_memory is not None
    assert first.working_memory.plan is not None
    (said,) = first.working_memory.plan.seen
    budget = replace(BUDGETS["small"], recent=1)
    mind = talk.mind("Yes.", limits=TurnLimits(budget=budget))
    await talk.turn(await talk.hears("When do we go to Goa?"), mind)
    assert isinstance(mind.model, ScriptedModel)
    (request,) = mind.model.requests

    assert "a week in Goa" in request.call_instructions
    assert request.shown.count(said) == 1
    assert "Goa it is, in March!\n</memory>" in request.call_instructions


async def test_last_tool_result_is_kept_in_working_memory(talk: Talk) -> None:
    """In brief."""
    await turn(talk, "what time is it in Tokyo?", wants("current_time", zone="Asia/Tokyo"), "Late.")
    _, told = await turn(talk, "and what did you say?")

    assert "- What a tool gave you last: " in told.call_instructions
    assert "Tokyo" in told.call_instructions.split("gave you last: ")[1].splitlines()[0]


async def test_working_memory_is_absent_from_the_prompt_two_hours_later(talk: Talk) -> None:
    """What is worth remembering was learned by then."""
    await turn(talk, "Goa it is, in March!", judged=JUDGED)
    talk.clock.now += 2 * HOUR
    _, told = await turn(talk, "hello again")

    assert "What you have in mind" not in told.call_instructions


async def test_small_talk_skips_the_search_and_keeps_the_plan(talk: Talk) -> None:
    """The profile is there all the same (ACCEPTANCE B5, X11)."""
    await talk.remembers("My boat is called Juno.")
    await turn(talk, "Goa it is, in March!", judged=JUDGED)
    outcome, told = await turn(talk, "thanks!", judged=JUDGED)

    assert "Juno" not in told.call_instructions
    assert "a week in Goa" in told.call_instructions
    understood = outcome.reply.details["understood"]
    assert understood["by"] == "rules/1"
    assert understood["complexity"] == "trivial"


async def test_reply_style_stays_genuine_in_the_turn_after_distress(talk: Talk) -> None:
    """Whatever the persona; that it would have jarred is in the receipt."""
    async with talk.app.db.begin_write() as tx:
        weights = "Style modes: sarcastic 100"
        await write_block(tx, talk.chat_context.person.id, "persona", weights, now=talk.clock())
    usual, _ = await turn(talk, "The bus was late.")
    await turn(talk, "I'm falling apart, I can't cope any more.")
    after, told = await turn(talk, "Anyway. The bus was late.")

    assert usual.reply.details["understood"]["style"] == "sarcastic"
    assert after.reply.details["understood"]["style"] == "genuine"
    assert after.reply.details["understood"]["kept_from"] == "sarcastic"
    assert "with a wink" not in told.call_instructions


@pytest.mark.parametrize(
    "question",
    [
        "Was I nervous before the exam?",
        "when did i say i was fed up with the bus",
        "When was my grandmother's funeral?",
        "Wann war ich zuletzt beim Arzt?",
    ],
)
async def test_plain_question_gets_a_neutral_emotion_and_genuine_style(
    talk: Talk, question: str
) -> None:
    """It tells nothing of how the person feels, and no persona jokes about it."""
    async with talk.app.db.begin_write() as tx:
        weights = "Style modes: sarcastic 50, contrary 50"
        await write_block(tx, talk.chat_context.person.id, "persona", weights, now=talk.clock())
    await talk.tell("What an evening!")
    await feels(talk, "light at heart")
    outcome, told = await turn(talk, question)

    understood = outcome.reply.details["understood"]
    assert (understood["emotion"], understood["signal"]) == ("neutral", "normal")
    assert (understood["goal"], understood["style"]) == ("inform", "genuine")
    (guidance,) = [
        part for part in told.call_instructions.split("\n\n") if part.startswith("How to talk")
    ]
    assert guidance.splitlines()[1:] == [
        "- It is a plain question: answer just that, plainly, without wit."
    ]


async def test_emotion_in_a_statement_beside_a_question_is_detected(talk: Talk) -> None:
    """Only the words of the question do not."""
    outcome, told = await turn(talk, "I'm so worried about the scan. When is it?")

    assert outcome.reply.details["understood"]["emotion"] == "anxious"
    assert "Steady and concrete" in told.call_instructions


async def test_prompt_has_no_style_guidance_when_style_is_default(talk: Talk) -> None:
    """The rules say it already."""
    async with talk.app.db.begin_write() as tx:
        weights = "Style modes: genuine 100"
        await write_block(tx, talk.chat_context.person.id, "persona", weights, now=talk.clock())
    _, told = await turn(talk, "The bus was late.")

    assert "How to talk just now" not in told.call_instructions


async def test_reply_style_stays_genuine_for_two_turns_after_stress_signal(talk: Talk) -> None:
    """Also where no feeling was named: for two turns, and no longer."""
    weights = "Style modes: sarcastic 100"
    async with talk.app.db.begin_write() as tx:
        await write_block(tx, talk.chat_context.person.id, "persona", weights, now=talk.clock())
    plain = {**JUDGED, "emotion": "neutral"}
    judged = [{**plain, "signal": "stressed"}, plain, plain, plain]
    outcomes = [await turn(talk, "The bus was late.", judged=each) for each in judged]

    styles = [each.reply.details["understood"]["style"] for each, _ in outcomes]
    assert styles == ["genuine", "genuine", "genuine", "sarcastic"]


async def test_mood_is_shown_in_the_next_prompt_and_then_expires(talk: Talk) -> None:
    """Neutral is silent."""
    await talk.tell("What an evening!")
    await feels(talk, "light at heart")
    _, glad = await turn(talk, "hello")
    talk.clock.now += 13 * HOUR
    _, later = await turn(talk, "hello")

    assert (
        "Your own mood since you last talked: light at heart (energy 6 of 10)"
        in glad.call_instructions
    )
    assert "Your own mood" not in later.call_instructions


async def test_thoughts_are_in_every_prompt_and_in_the_receipt(talk: Talk) -> None:
    """Marked as its own, and in the receipt of the reply."""
    thought = await thinks(talk, "thought", "She lights up when it is about water.")
    outcome, told = await turn(talk, "hello")

    assert (
        "about person; class companion] She lights up when it is about water." in told.system_prompt
    )
    assert thought.id in {item.object for item in outcome.reply.items}


async def test_thoughts_are_left_out_of_the_prompt_for_a_plain_question(talk: Talk) -> None:
    """They tell nothing that was said, and colour no plain answer."""
    await thinks(talk, "thought", "She lights up when it is about water.")
    _, told = await turn(talk, "where do I live?")

    assert "lights up" not in told.system_prompt


async def test_companion_question_is_labelled_with_its_own_date_in_the_prompt(talk: Talk) -> None:
    """Not the day of what they came from, nor as if they were facts."""
    later = talk.clock() + 72 * HOUR
    await thinks(talk, "thought", "How was the regatta?", key=QUESTION_KEY, learned_at=later)
    _, told = await turn(talk, "hello")

    day = format_iso_day(later, "UTC")
    assert f"[kind question; {day}; about person" in told.system_prompt


async def test_opinion_is_in_the_prompt_only_when_its_topic_comes_up(talk: Talk) -> None:
    """And only then."""
    await thinks(
        talk,
        "opinion",
        "Sailing boats are better company than motor boats.",
        key="boats",
        subject="companion",
        trust="companion",
    )
    _, about_boats = await turn(talk, "Shall I get a motor boat?")
    _, about_buses = await turn(talk, "The bus was late.")

    assert "Stand by it" in about_boats.call_instructions
    assert "Sailing boats are better company" in about_boats.call_instructions
    assert "Stand by it" not in about_buses.call_instructions


@pytest.mark.parametrize("name", BUDGETS)
async def test_person_message_is_kept_whole_at_every_prompt_budget(talk: Talk, name: str) -> None:
    """However much goes on within; what is in mind keeps to its few words."""
    for nth in range(20):
        await thinks(talk, "thought", f"Thought number {nth} about the sea and the boats. " * 4)
    await turn(talk, "Goa it is, in March!", judged=JUDGED)
    said = await talk.hears("We talked about the boats. " * 40)
    mind = talk.mind("Yes.", limits=TurnLimits(budget=BUDGETS[name]))
    outcome = await talk.turn(said, mind)

    assert isinstance(mind.model, ScriptedModel)
    assert mind.model.requests[0].turns[-1].text == said.own_words
    tokens = outcome.reply.details["context"]["tokens"]
    assert sum(tokens.values()) <= BUDGETS[name].total
    assert tokens["in mind"] <= 150
    assert tokens["thoughts"] <= BUDGETS[name].snippets // 4


async def test_offline_companion_has_no_working_memory(talk: Talk) -> None:
    """It quotes, and pretends no mood."""
    said = await talk.hears("I'm so worried about the scan")
    outcome = await talk.turn(said, talk.mind())

    assert outcome.working_memory is None
    assert (
        build_next_working_memory(
            said, EMPTY_COMPANION_STATE, "x", tool_result="", seen_ids=(), now=1
        )
        is None
    )


async def test_opinion_topic_matches_content_words_but_not_stop_words(talk: Talk) -> None:
    """In the language of the opinion; "the" touches nothing."""
    memory = await thinks(talk, "opinion", "…", key="the boats", subject="companion")
    standing = EvidenceStats(strength=1, confidence=1, times_seen=1, first_seen=1, last_seen=1)
    known = [MemoryState(memory=memory, stats=standing, base_seq=0)]

    assert select_on_topic(known, "a boat, perhaps?", "en", limit=3)
    assert not select_on_topic(known, "the bus was late", "en", limit=3)


@pytest.mark.parametrize(
    ("language", "asked", "said"),
    [
        ("en", "so your view on keeping quiet was that quiet is best, yeah?", "I view it so."),
        ("es", "¿Tu opinión era no decir nada, no?", "Hoy no hay opinión."),
        ("de", "Was hältst du davon, gar nichts zu sagen?", "Ich halte nichts davon."),
        ("fr", "Tu disais bien de ne rien dire ?", "Je ne disais rien."),
        ("zh", "你的看法是什么都不说，对吧？", "我的看法变了。"),
    ],
)
async def test_question_about_its_view_selects_opinions_without_naming_a_topic(
    talk: Talk, language: str, asked: str, said: str
) -> None:
    """Else it could be talked into the contrary by naming it otherwise."""
    memory = await thinks(talk, "opinion", "…", key="the boats", subject="companion")
    standing = EvidenceStats(strength=1, confidence=1, times_seen=1, first_seen=1, last_seen=1)
    known = [MemoryState(memory=memory, stats=standing, base_seq=0)]

    assert select_on_topic(known, asked, language, limit=3) == tuple(known)
    assert not select_on_topic(known, said, language, limit=3)


@pytest.mark.parametrize("style", ["sarcastic", "contrary"])
async def test_joking_persona_prompt_asks_to_stay_plain_on_serious_topics(
    talk: Talk, style: str
) -> None:
    """The lot does not know what the words are about, so the model is told when to leave it."""
    async with talk.app.db.begin_write() as tx:
        weights = f"Style modes: {style} 100"
        await write_block(tx, talk.chat_context.person.id, "persona", weights, now=talk.clock())
    outcome, told = await turn(talk, "My brother fell off the roof on Monday.")

    assert outcome.reply.details["understood"]["style"] == style
    assert (
        "Where it tells of an accident, illness, loss or worry: plainly" in told.call_instructions
    )
