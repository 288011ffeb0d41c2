"""What takes several steps: tools in order, each with what it needs, and goals kept in view."""

import pytest

from oldfriend.llm.scripted import ScriptedModel
from oldfriend.tasks.task_store import list_tasks
from tests.turn.conftest import Talk, results_in, wants
from tests.turn.test_confirmation import live
from tests.turn.test_goal_tools import ask
from tests.turn.test_task_tools import tasks


@pytest.fixture
def engine() -> str:
    """One is enough: what is written is written as elsewhere."""
    return "sqlite"


GOAL = "I want to run twice a week from now on"


async def test_tools_are_chained_in_the_order_of_the_models_calls(talk: Talk) -> None:
    """Each may rest on what came before; one chain, no second planner (ACCEPTANCE B8)."""
    told = "What is 17% of 340? Jog my memory about paying that tomorrow at 9"
    model = ScriptedModel(
        [
            wants("calculate", 0, expression="340 * 0.17"),
            wants("set_reminder", 1, text="paying that", words=told, due="2030-01-04T09:00"),
            "57.8, and I remind you.",
        ]
    )
    outcome = await live(talk, await talk.hears(told), talk.mind(model=model))

    assert "57.8" in results_in(model.requests[1])[0]
    used = outcome.reply.details["tools"]
    assert [use["name"] for use in used] == ["calculate", "set_reminder"]
    assert len(await tasks(talk)) == 1


async def test_call_that_lacks_something_waits_for_the_persons_answer(talk: Talk) -> None:
    """The model is told what is missing, asks, and calls with the answer (ACCEPTANCE B8)."""
    told = "Jog my memory tomorrow at 9"
    model = ScriptedModel(
        [
            wants("set_reminder", 0, words=told, due="2030-01-04T09:00"),
            "Of what shall I remind you?",
            wants("set_reminder", 1, text="call Eva", words="Call Eva", due="2030-01-04T09:00"),
            "Done.",
        ]
    )
    outcome = await live(talk, await talk.hears(told), talk.mind(model=model))
    assert [use["ending"] for use in outcome.reply.details["tools"]] == ["bad arguments"]
    assert "text" in results_in(model.requests[1])[0]
    assert await tasks(talk) == []

    outcome = await live(talk, await talk.hears("Call Eva, it is her day"), talk.mind(model=model))
    assert "Of what shall I remind you?" in str(model.requests[2].turns)
    async with talk.app.db.begin_read() as tx:
        (task,) = await list_tasks(tx, talk.chat_context.person.id)
    assert (task.text, task.due_at is not None) == ("call Eva", True)


async def test_goals_stand_in_the_prompt_while_they_are_active(talk: Talk) -> None:
    """With how far they are, so that the reply can bear on them (ACCEPTANCE B7)."""
    await ask(talk, GOAL, tool="set_goal", text="run twice a week", words=GOAL)
    _, (asked, *_) = await talk.ask("Shall I watch a film tonight?", "A run first?")
    assert "run twice a week" in asked.call_instructions

    said = "Running twice a week, I really made it"
    await ask(talk, said, tool="update_goal", goal="1", action="done", words=said)
    for number in range(12):
        await talk.tell(f"Something else, number {number}.")
    _, (later, *_) = await talk.ask("Shall I watch a film tonight?", "Do.")
    assert "Their goals" not in later.call_instructions
