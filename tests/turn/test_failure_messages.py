"""A model that does not answer is admitted, and memory alone says what it can."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from oldfriend.domain.errors import (
    ApiKeyRejected,
    BrokenOutput,
    ModelError,
    ModelMisconfigured,
    ModelRefusal,
    ModelUnavailable,
    RequestRejected,
)
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.scripted import build_broken_reply
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.turn.failure_messages import FAILURE_KINDS, FailureKind
from oldfriend.turn.pipeline import finish_without_model
from tests.turn.conftest import Talk, wants

SAY = load_phrases("en").phrases
FAILURES: list[tuple[ModelError, FailureKind]] = [
    (ModelUnavailable("nobody there"), "unavailable"),
    (ModelUnavailable("too late", outage="slow"), "slow"),
    (ModelUnavailable("429", outage="busy"), "busy"),
    (ModelUnavailable("500", outage="failing"), "failing"),
    (ModelUnavailable("no credit", outage="unpaid"), "unpaid"),
    (ModelRefusal("content filter"), "refused"),
    (RequestRejected("too long"), "rejected"),
    (ApiKeyRejected("401"), "key"),
    (ModelMisconfigured("404"), "misconfigured"),
    (BrokenOutput("not JSON"), "garbled"),
]


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database what test_model_replies.py does not."""
    return "sqlite"


@pytest.mark.parametrize(("error", "trouble"), FAILURES)
async def test_model_failure_is_admitted_and_memory_answers_instead(
    talk: Talk, error: ModelError, trouble: FailureKind
) -> None:
    """In the reply, live, in the outcome and in the receipt."""
    told = await talk.remembers("My cat is called Miso.")
    outcome, _ = await talk.ask("What is my cat called?", error)

    assert outcome.reply.text.startswith(SAY[f"trouble_{trouble}"])
    assert "“My cat is called Miso.”" in outcome.reply.text
    assert talk.heard == outcome.reply.text
    assert outcome.failure_kind == trouble
    assert outcome.reply.details["trouble"] == {"kind": trouble, "error": str(error)}
    assert [item.object for item in outcome.reply.items if item.used] == [told.id]
    assert not outcome.reply.is_introduction


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Where is the key?"),
        ("es", "¿Dónde está la llave?"),
        ("de", "Wo ist der Schlüssel?"),
        ("fr", "Où est la clé ?"),
        ("zh", "钥匙在哪里？"),
    ],
)
async def test_failure_message_is_in_the_language_of_the_question(
    talk: Talk, language: str, question: str
) -> None:
    """Also that nothing is remembered."""
    outcome, _ = await talk.ask(question, ModelUnavailable("down"))

    say = load_phrases(language).phrases
    assert say["trouble_unavailable"] in outcome.reply.text
    assert say["nothing_found"] in outcome.reply.text


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
def test_every_failure_kind_has_a_distinct_message_in_each_language(language: str) -> None:
    """Of its own, none longer than a person reads; what is wrongly set up says what to do."""
    say = load_phrases(language).phrases

    assert len({say[f"trouble_{trouble}"] for trouble in FAILURE_KINDS}) == len(FAILURE_KINDS)
    assert all(len(say[f"trouble_{trouble}"]) < 300 for trouble in FAILURE_KINDS)
    for trouble in ("misconfigured", "key"):
        assert "oldfriend connect model" in say[f"trouble_{trouble}"]


async def test_statement_during_model_failure_gets_only_the_failure_message(talk: Talk) -> None:
    """Short."""
    outcome, _ = await talk.ask("We went to the lake today.", ModelUnavailable("down"))

    assert outcome.reply.text == SAY["trouble_unavailable"]
    assert outcome.reply.items == ()


async def test_a_note_is_kept_although_the_model_fails(talk: Talk) -> None:
    """And confirmed: the rule needs no model."""
    outcome, _ = await talk.ask("Remember that I like tea.", ModelUnavailable("down"))

    assert [note.text for note in outcome.notes] == ["I like tea."]
    assert "“I like tea.”" in outcome.reply.text


async def test_note_from_a_tool_call_is_kept_when_the_model_fails_later(talk: Talk) -> None:
    """It may have said so already."""
    call = wants("note", words="my sister lives in Oslo")
    outcome, _ = await talk.ask(
        "By the way, my sister lives in Oslo.", call, ModelUnavailable("down")
    )

    assert [note.text for note in outcome.notes] == ["my sister lives in Oslo"]
    assert outcome.failure_kind == "unavailable"


async def test_partial_reply_is_kept_when_the_connection_breaks(talk: Talk) -> None:
    """The honest words go on from there."""
    outcome, _ = await talk.ask(
        "I want a story.", build_broken_reply("Once upon a time there was", after=17)
    )

    assert outcome.reply.text == talk.heard
    assert outcome.reply.text.split("\n\n") == [
        "Once upon a time",
        SAY["broken_off"],
        SAY["trouble_unavailable"],
    ]


@pytest.mark.parametrize("text", ["", "  \n", "</memory>", "<tool_call>{}"])
async def test_empty_model_reply_is_reported_as_garbled(talk: Talk, text: str) -> None:
    """Nor is one of which nothing is left."""
    outcome, _ = await talk.ask("Are you there?", text)

    assert outcome.failure_kind == "garbled"
    assert SAY["trouble_garbled"] in outcome.reply.text


async def test_model_over_budget_is_not_called_and_explained_once_a_day(talk: Talk) -> None:
    """In between, and until there is room again, the offline companion answers."""
    texts = []
    for minutes in (1, 1, 60 * 24):
        talk.clock.tick(minutes=minutes)
        mind = talk.mind("I must not be asked.", unavailable_reason="over budget")
        outcome = await talk.turn(await talk.hears("We went to the lake today."), mind)
        assert mind.model is not None
        assert outcome.failure_kind == "resting"
        assert outcome.reply.details["trouble"] == {"kind": "resting", "error": "over budget"}
        texts.append(outcome.reply.text)

    resting = SAY["trouble_resting"]
    assert texts == [resting, SAY["acknowledgement"], resting]


async def test_turn_aborted_by_timeout_is_finished_without_the_model(talk: Talk) -> None:
    """From where it had come to."""
    await talk.remembers("My cat is called Miso.")
    said = await talk.hears("What is my cat called?")
    outcome = await finish_without_model(
        said, talk.mind("Too late."), failure_kind="slow", text_so_far="Let me", say=talk.listen
    )

    assert outcome.reply.text.startswith(
        f"Let me\n\n{SAY['broken_off']}\n\n{SAY['trouble_slow']}\n\n{SAY['from_memory']}"
    )
    assert outcome.reply.text == "Let me" + talk.heard
    assert "Miso" in outcome.reply.text
    assert outcome.failure_kind == "slow"


async def test_turn_out_of_time_searches_by_words_without_the_hanging_embedder(talk: Talk) -> None:
    """Whatever hung may be the embedder; memory is searched by words, and that is said."""
    await talk.remembers("My cat is called Miso.")
    said, mind = await talk.hears("What is my cat called?"), talk.mind("Too late.")
    looking = replace(mind.search_deps, embedder=Hanging())
    async with asyncio.timeout(5):
        outcome = await finish_without_model(
            said, replace(mind, search_deps=looking), failure_kind="slow"
        )

    assert "Miso" in outcome.reply.text
    assert SAY["degraded"] in outcome.reply.text
    assert outcome.reply.details["degraded"] is True


class Hanging:
    """An embedder that never answers."""

    model = "hanging"
    dimension = 384

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Wait for ever."""
        del texts
        await asyncio.Event().wait()
        raise AssertionError


async def test_next_prompt_marks_the_failed_reply(talk: Talk) -> None:
    """So that it does not catch up (ACCEPTANCE B15); the remark is in the companion's role."""
    await talk.ask("We went to the lake today.", ModelUnavailable("down"))
    _, asked = await talk.ask("hello", "Hello!")

    assert [turn.role for turn in asked[0].turns] == ["person", "companion", "person"]
    assert asked[0].turns[1].text == (
        f"{SAY['trouble_unavailable']}\n\n[[No real answer was given here: unavailable]]"
    )


async def test_next_prompt_marks_a_reply_stopped_by_the_person(talk: Talk) -> None:
    """Where nothing was replied at all."""
    await talk.tell("Write me a long poem.")
    await talk.tell("stopped by the person", role="marker", trust="tool", minutes=0)
    _, asked = await talk.ask("hello", "Hello!")

    assert [turn.role for turn in asked[0].turns] == ["person", "companion", "person"]
    assert "stopped by the person" in asked[0].turns[1].text
