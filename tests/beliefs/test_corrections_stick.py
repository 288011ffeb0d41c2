"""What was corrected, changed or edited is told as current in no path."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.beliefs.queries import list_beliefs
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_edit
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput, Quote
from oldfriend.learning.extractor_factory import build_consolidation_deps
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from oldfriend.sdk.memory import Memory as Library
from oldfriend.turn.later_messages import add_later_to_ranking
from oldfriend.turn.memory_context import build_context
from oldfriend.turn.recalled import RecalledMessage, RecallQuery
from oldfriend.turn.retrieval import recall
from oldfriend_evals.model_roles import with_models
from tests.api.conftest import opened_site
from tests.clock import FrozenClock

EDIT = "edit: "
"""Before a text that replaces the message before it."""

CASES: Mapping[str, tuple[tuple[str, str], str, str, str]] = {
    # What is told, the question, the old value and the new one.
    "changed": (
        ("I live in Leeds.", "I live in Sheffield now."),
        "Where do I live?",
        "Leeds",
        "Sheffield",
    ),
    "corrected": (("I'm 36.", "Actually I'm 37, not 36."), "How old am I?", "36", "37"),
    "corrected casually": (("I'm 36.", "actually im 37 not 36"), "How old am I?", "36", "37"),
    "corrected by a name": (
        ("My sister lives in Yorkton.", "No, she lives in Regina."),
        "Where does my sister live?",
        "Yorkton",
        "Regina",
    ),
    "changed, as quoted": (
        (
            "i go to the gym on tuesdays and fridays with ash",
            "ash changed shifts so we do the gym on sundays instead",
        ),
        "which day do i go to the gym",
        "tuesdays",
        "sundays",
    ),
    "corrected without a shared word": (
        ("the new vet is called halloran", "wait no its hanrahan"),
        "what is our vet called",
        "halloran",
        "hanrahan",
    ),
    "edited": (
        ("My sister lives in Yorkton.", f"{EDIT}My sister lives in Regina."),
        "Where does my sister live?",
        "Yorkton",
        "Regina",
    ),
}

SUMMARY: Final = re.compile(r"^\[[\d-]+(?: to [\d-]+)?\] ")
"""How a prompt gives a summary, which tells of its days only."""

QUOTED: Final = frozenset({"changed, as quoted", "corrected without a shared word"})
"""Cases that no rule reads: each is told in the person's words of a day, beside the other."""
ANSWERING: Final = frozenset({"context", "answer"})
"""Paths that tell what was said, whatever was read from it."""

Path = Callable[[AppContext, ChatContext, str], Awaitable[str]]
"""Returns what a path tells as current."""


async def tell_beliefs(app: AppContext, chat_context: ChatContext, _question: str) -> str:
    """What the page, the API and the command line list."""
    async with app.db.begin_read() as tx:
        known = await list_beliefs(tx, chat_context.person.id)
    return "\n".join(each.content.text for each in known if isinstance(each.content, StoredBelief))


async def tell_facts(app: AppContext, chat_context: ChatContext, _question: str) -> str:
    """The library's facts."""
    return "\n".join(
        each.text for each in await Library(app, chat_context, maintenance_s=0).facts()
    )


async def tell_profile(app: AppContext, chat_context: ChatContext, _question: str) -> str:
    """What every prompt has of the person."""
    async with app.db.begin_read() as tx:
        index = await app.index_cache.get_belief_index(tx, chat_context.person.id)
    profile = index.build_profile(app.clock())
    return "\n".join(each.memory.text for each in (*profile.attributes, *profile.quotes))


async def tell_recalled(app: AppContext, chat_context: ChatContext, question: str) -> str:
    """The beliefs that a question recalls."""
    query = RecallQuery(text=question, language="en", at=app.clock())
    found = await recall(app.search_deps, chat_context.person, query, limit=10)
    return "\n".join(each.state.memory.text for each in found.beliefs)


async def tell_context(app: AppContext, chat_context: ChatContext, question: str) -> str:
    """The context for a prompt: beliefs, and messages from the newest back."""
    query = RecallQuery(text=question, language="en", at=app.clock())
    lines = (
        await build_context(app.search_deps, chat_context.person, query, budget=2000)
    ).splitlines()
    messages = [each for each in lines if each.startswith("[")]
    return "\n".join([*(each for each in lines if each not in messages), *messages[::-1]])


async def tell_answer(app: AppContext, chat_context: ChatContext, question: str) -> str:
    """The answer without a model, as far as it is told as current."""
    answered = await answer_message(app, chat_context, MessageSubmission(text=question))
    return answered.reply.text.split(load_phrases("en").phrases["before_that"])[0]


async def tell_about_me(app: AppContext, chat_context: ChatContext, _question: str) -> str:
    """All that is known, without a model."""
    return await tell_answer(app, chat_context, "What do you know about me?")


async def tell_why(app: AppContext, chat_context: ChatContext, question: str) -> str:
    """What the answer rests on, which is told by date, from the newest back."""
    await tell_answer(app, chat_context, question)
    answer = await tell_answer(app, chat_context, "Why do you think so?")
    return "\n".join(reversed(answer.splitlines()))


async def tell_http(app: AppContext, chat_context: ChatContext, _question: str) -> str:
    """What the web API lists as believed, and as learned; no names alone."""
    async with opened_site(app) as site, site.browser() as browser:
        believed = (await browser.get("/memories")).json()["items"]
        learned = (await browser.get("/learned")).json()["items"]
    items = [*believed, *(each["belief"] for each in learned)]
    return "\n".join(each["text"] for each in items if each["kind"] != "entity")


async def tell_prompt(app: AppContext, chat_context: ChatContext, question: str) -> str:
    """What a model is told, apart from what was said and what sums up some days."""
    model = ScriptedModel(["I think so."])
    await answer_message(
        with_models(app, {"main": model}), chat_context, MessageSubmission(text=question)
    )
    request = model.requests[0]
    told = "\n".join([request.system_prompt, request.call_instructions])
    return "\n".join(each for each in told.splitlines() if not SUMMARY.match(each))


PATHS: Mapping[str, Path] = {
    "beliefs": tell_beliefs,
    "facts": tell_facts,
    "profile": tell_profile,
    "recall": tell_recalled,
    "context": tell_context,
    "answer": tell_answer,
    "about me": tell_about_me,
    "why": tell_why,
    "http": tell_http,
    "prompt": tell_prompt,
}


@pytest.fixture
def engine() -> str:
    """One is enough: what is tested is what is told."""
    return "sqlite"


async def tell(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, told: list[str]
) -> None:
    """Say some things, the last of which corrects the first, and have them read."""
    message = ""
    for text in told:
        clock.tick(minutes=1)
        if text.startswith(EDIT):
            await learn_now(app, chat_context.person.id, cut_reason="asked")
            await accept_edit(app, chat_context, MessageId(message), text.removeprefix(EDIT))
        else:
            answered = await answer_message(app, chat_context, MessageSubmission(text=text))
            message = answered.message.id
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    await try_embed_missing(app, chat_context.person.id)
    clock.tick(minutes=1)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("case", CASES)
async def test_corrected_value_is_not_presented_as_current_by_any_output(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, case: str, path: str
) -> None:
    """The new one is, alone or before what was said earlier."""
    told, question, old, new = CASES[case]
    await tell(app, chat_context, clock, [*told])
    text = await PATHS[path](app, chat_context, question)

    if case in QUOTED:
        assert new in text or old not in text
    else:
        assert old not in text.partition(new)[0]
    assert new in text or path not in ANSWERING


MODEL_TOLD: Final = ("I live in Leeds.", "I live in Sheffield now.")


async def read_as_model(app: AppContext, chat_context: ChatContext, text: str, value: str) -> None:
    """Say something, and have it read as a model reads it, with a summary."""
    await answer_message(app, chat_context, MessageSubmission(text=text))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )

    async def read(inputs: ExtractionInput) -> Extraction:
        message = next(each for each in inputs.messages if each.role == "person")
        claim = Claim(
            kind="fact",
            text=f"Lives in {value}.",
            quotes=(Quote(message=message.id, text=message.text),),
            key="location",
            value=value,
            confidence=0.9,
        )
        return Extraction(author="extract/9", claims=(claim,), summary=f"They live in {value}.")

    deps = await build_consolidation_deps(app, segment)
    await consolidate(replace(deps, extract=read, extract_small_talk=read), segment)


@pytest.mark.parametrize("path", PATHS)
async def test_superseded_model_claim_or_summary_is_not_presented_as_current(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, path: str
) -> None:
    """Neither its claim nor its summary, which is told with its days."""
    for text, value in zip(MODEL_TOLD, ("Leeds", "Sheffield"), strict=True):
        await read_as_model(app, chat_context, text, value)
        clock.tick(minutes=60 * 24 * 3)
    await try_embed_missing(app, chat_context.person.id)
    text = await PATHS[path](app, chat_context, "Where do I live?")

    assert "Sheffield" in text
    assert "Leeds" not in text.partition("Sheffield")[0]


async def test_recalled_belief_is_accompanied_by_later_related_messages(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Though no rule has read that."""
    later = "I gave my McEwan shelf away, my favourite is Elizabeth Strout these days."
    await tell(
        app, chat_context, clock, ["My favourite author is Ian McEwan.", "it rained again", later]
    )
    query = RecallQuery(text="Who is my favourite author?", language="en", at=app.clock())
    found = await recall(app.search_deps, chat_context.person, query, limit=10)
    ranking = await add_later_to_ranking(
        app.search_deps, chat_context.person, found.beliefs[:1], query
    )

    assert found.beliefs[0].state.memory.value == "Ian McEwan"
    assert [each.message.text for each in ranking if isinstance(each, RecalledMessage)] == [later]
