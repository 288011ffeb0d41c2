"""What a model has done later: only what the person has just asked for (ACCEPTANCE L6, L8)."""

import pytest

from tests.turn.conftest import Talk, wants
from tests.turn.test_action_requests import actions
from tests.turn.test_measurement_requests import apply


@pytest.mark.parametrize(
    ("told", "text", "words", "count"),
    [
        ("Could you sum up the news once it is eight?", "sum up the news", None, 1),
        ("Could you sum up the news once it is eight?", "buy gold", None, 0),
        ("Hello", "sum up the news", "sum up the news at eight", 0),
    ],
)
async def test_action_is_kept_for_words_of_the_person(
    talk: Talk, told: str, text: str, words: str | None, count: int
) -> None:
    """And confirmed from what is stored (ACCEPTANCE L9)."""
    said = await talk.hears(told)
    due = "2035-11-24T08:00"
    call = wants("schedule_action", 1, text=text, words=words or told, due=due)
    deps = talk.mind(wants("more_tools", kind="tasks"), call, "All right.")
    outcome = await talk.turn(said, deps)
    await apply(talk, said, outcome)

    assert [each.text for each in await actions(talk)] == [text] * count
    assert (text in outcome.reply.text) == bool(count)
