"""Goals that a model sets and ends: only for what the person has just said (ACCEPTANCE L8, L20)."""

from oldfriend.turn.turn_outcome import Outcome
from tests.turn.conftest import Talk, wants
from tests.turn.test_goal_requests import goals
from tests.turn.test_measurement_requests import apply


async def ask(talk: Talk, told: str, **arguments: object) -> Outcome:
    """Say something to a model that uses a goal tool."""
    name = str(arguments.pop("tool"))
    said = await talk.hears(told)
    calls = (wants("more_tools", kind="tasks"), wants(name, 1, **arguments))  # type: ignore[arg-type]
    outcome = await talk.turn(said, talk.mind(*calls, "All right."))
    await apply(talk, said, outcome)
    return outcome


async def test_model_sets_and_ends_a_goal_that_was_told(talk: Talk) -> None:
    """What is confirmed is worded from what is stored (ACCEPTANCE L9)."""
    said = "I want to run twice a week from now on"
    outcome = await ask(talk, said, tool="set_goal", text="run twice a week", words=said)
    (state,) = await goals(talk)
    assert state.goal.rhythm is not None
    assert "run twice a week" in outcome.reply.text

    said = "Running twice a week, I really made it"
    await ask(talk, said, tool="update_goal", goal="1", action="done", words=said)
    assert [each.goal.status for each in await goals(talk)] == ["completed"]


async def test_what_the_person_did_not_say_sets_no_goal(talk: Talk) -> None:
    """Neither words that are made up nor a goal that is."""
    await ask(talk, "Hello", tool="set_goal", text="buy gold", words="buy gold")
    await ask(talk, "Hello you", tool="set_goal", text="buy gold", words="Hello you")

    assert await goals(talk) == []


async def use_often(talk: Talk, told: str, name: str, *uses: dict[str, str]) -> Outcome:
    """Say something to a model that uses a goal tool several times in one turn."""
    said = await talk.hears(told)
    calls = [wants(name, at, **each) for at, each in enumerate(uses, 1)]  # type: ignore[arg-type]
    outcome = await talk.turn(said, talk.mind(wants("more_tools", kind="tasks"), *calls, "Done."))
    await apply(talk, said, outcome)
    return outcome


async def test_goal_that_is_set_again_in_one_turn_is_one_goal(talk: Talk) -> None:
    """A model that asks twice sets nothing twice."""
    said = "I want to run twice a week from now on"
    uses = [{"text": "run twice a week", "words": each} for each in (said, "I want to run")]
    await use_often(talk, said, "set_goal", *uses)

    assert len(await goals(talk)) == 1


async def test_what_was_done_counts_once_in_one_turn(talk: Talk) -> None:
    """However often a model asks for it."""
    await ask(talk, "Run twice a week", tool="set_goal", text="run twice a week", words="Run twice")
    said = "That running for the week is behind me"
    uses = [{"goal": each, "action": "did", "words": said} for each in ("1", "run", "run week")]
    await use_often(talk, said, "update_goal", *uses)

    (state,) = await goals(talk)
    assert len(state.progress) == 1


async def test_goal_that_was_not_named_is_not_ended(talk: Talk) -> None:
    """Whatever a page makes the model do: its words are somebody else's."""
    told = "I want to run twice a week from now on"
    await ask(talk, told, tool="set_goal", text="run twice a week", words=told)
    told = "What does this page say?"
    for action in ("drop", "did"):
        await ask(talk, told, tool="update_goal", goal="1", action=action, words=told)

    (state,) = await goals(talk)
    assert (state.goal.status, state.progress) == ("active", ())
