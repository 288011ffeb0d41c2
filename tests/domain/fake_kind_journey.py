"""A kind of belief that stands in the table alone lives as every other does.

Run by ``test_belief_kinds.py`` in a process in which ``tests.fakes.belief_kind`` has added it.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.queries import list_beliefs
from oldfriend.cli.recall import build_query
from oldfriend.config.settings_schema import ModelSettings
from oldfriend.domain.belief_kinds import list_kinds
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.extraction_schema import ALL_PARTS, build_schema
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.people import ensure_owner
from oldfriend.presenters.belief_schemas import BeliefSchema
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_database
from oldfriend.transfer.export_run import export_lines
from oldfriend.transfer.restore import restore
from oldfriend.turn.kind_filter import parse_kinds
from oldfriend.turn.retrieval import recall
from oldfriend_evals.model_roles import with_models
from tests.api.conftest import opened_site
from tests.app.test_deletion_everywhere import claim
from tests.clock import FrozenClock
from tests.learning.test_learning_scheduler import work

SAID = "I bake sourdough bread with Vera every Sunday morning."
RITUAL = "Bakes sourdough bread with Vera every Sunday morning."
KIND = "ritual"

pytestmark = pytest.mark.usefixtures("settings_folder")


def read(request: CompletionRequest) -> object:
    """What a model reads: one of the kind, and one that nobody has said."""
    unfounded = claim(request, "Swims in the cold lake before breakfast.", SAID, key="lake")
    return {
        "rituals": [claim(request, RITUAL, SAID, key="bread"), unfounded],
        "self_check": {"missed_peak": "none", "attribution": "fine"},
    }


def says(request: CompletionRequest) -> ScriptedAnswer:
    """What a model answers."""
    return json.dumps(read(request)) if request.purpose == "extract" else "How nice."


@pytest.fixture
def model() -> ScriptedModel:
    """A model that reads such beliefs."""
    return ScriptedModel(says)


@pytest.fixture
async def talking(app: AppContext, chat_context: ChatContext, model: ScriptedModel) -> AppContext:
    """A house in which one was said and learned."""
    settings = replace(app.settings, models=ModelSettings(small=("scripted:model",)))
    models = {"main": model, "small": model, "reflect": model}
    talking = with_models(replace(app, settings=settings), models)
    await answer_message(talking, chat_context, MessageSubmission(text=SAID))
    await schedule_learning(
        talking.db, talking.clock, talking.settings, chat_context.person.id, cut_reason="asked"
    )
    await work(talking)
    return talking


async def texts(app: AppContext, chat_context: ChatContext) -> list[str]:
    """What is believed of the kind."""
    async with app.db.begin_read() as tx:
        found = await list_beliefs(
            tx, chat_context.person.id, kinds=list_kinds(lambda kind: kind.name == KIND)
        )
    return [each.content.text for each in found]


def test_extraction_schema_includes_the_added_kind() -> None:
    """As a list of claims."""
    assert '"rituals": {"type": "array", "items": {' in json.dumps(build_schema(ALL_PARTS))


async def test_extracted_belief_of_the_added_kind_is_validated_and_stored(
    talking: AppContext, chat_context: ChatContext
) -> None:
    """What nobody has said is refused."""
    assert await texts(talking, chat_context) == [RITUAL]


async def test_recall_finds_a_belief_of_the_added_kind(
    talking: AppContext, chat_context: ChatContext
) -> None:
    """Among all others, and where its kind is asked for."""
    question = build_query(
        talking.clock, talking.settings, chat_context.person, "Who bakes sourdough bread?"
    )
    wanted = parse_kinds([KIND]).belief_kinds
    for kinds in ((), wanted):
        found = await recall(
            talking.search_deps, chat_context.person, replace(question, kinds=kinds), limit=5
        )
        assert RITUAL in [each.state.memory.text for each in found.beliefs]


async def test_api_lists_beliefs_of_the_added_kind(talking: AppContext) -> None:
    """In the list, by its kind, and among what was learned lately."""
    async with opened_site(talking) as site, site.browser() as client:
        listed = (await client.get("/memories", params={"kind": KIND})).json()
        others = (await client.get("/memories", params={"kind": "fact"})).json()
        learned = (await client.get("/learned")).json()

    assert [(each["kind"], each["text"]) for each in listed["items"]] == [(KIND, RITUAL)]
    assert RITUAL not in [each["text"] for each in others["items"]]
    assert RITUAL in [each["belief"]["text"] for each in learned["items"]]
    assert TypeAdapter(BeliefSchema).validate_python(listed["items"][0]).kind == KIND


async def test_prompt_shows_the_added_kind_in_its_section(
    talking: AppContext, chat_context: ChatContext, model: ScriptedModel, clock: FrozenClock
) -> None:
    """Where its topic is talked about."""
    clock.tick(minutes=25 * 60)
    reply = await answer_message(
        talking, chat_context, MessageSubmission(text="Is there bread left?")
    )
    prompt = [each for each in model.requests if each.purpose == "reply"][-1]

    assert reply.receipt is not None
    assert reply.receipt.details["context"]["tokens"]["rituals"] > 0
    assert RITUAL in prompt.call_instructions


async def test_belief_of_the_added_kind_is_exported_and_restored(
    talking: AppContext, chat_context: ChatContext, other_url: str, tmp_path: Path
) -> None:
    """As what it is."""
    path = tmp_path / "all.jsonl"
    lines = [
        chat_context
        async for chat_context in export_lines(talking.db, person=None, now=talking.clock())
    ]
    path.write_text("".join(lines), "utf-8")
    db = await open_database(other_url)
    async with db.begin_write() as tx:
        await ensure_owner(tx, now=talking.clock(), zone="UTC")
    await restore(db, path)

    assert await texts(replace(talking, db=db), chat_context) == [RITUAL]
    await db.close()


async def test_belief_of_the_added_kind_is_forgotten(
    talking: AppContext, chat_context: ChatContext
) -> None:
    """With the words that it rests on, and by its own."""
    assert await texts(talking, chat_context) == [RITUAL]
    report = await forget(talking, chat_context.person.id, DeletionRequest(about="sourdough"))

    assert report.is_proved, report.left
    assert await texts(talking, chat_context) == []
