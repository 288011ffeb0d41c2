"""What a receipt keeps of changed tasks, and how it sets them back."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY, parse_timestamp
from oldfriend.domain.ids import PersonId
from oldfriend.memory.receipts import MOVED_KEY, SET_KEY
from oldfriend.tasks.task import Task
from oldfriend.turn.task_changes import SaveTask, build_task_details, restore_times

NOW = parse_timestamp("2026-11-24T14:00", "UTC")[0]
TODO = Task(
    id="1" * 32,
    person=PersonId("p"),
    text="Fix the bike",
    language="en",
    kind="todo",
    zone="UTC",
    created_at=NOW,
    changed_at=NOW,
)
REMINDER = replace(TODO, kind="reminder", due_at=NOW + DAY)


@pytest.mark.parametrize("is_set_first", [False, True])
def test_task_that_a_turn_changes_twice_goes_back_to_how_it_stood_first(is_set_first: bool) -> None:
    """As one change, whether or not the turn has set it; what is set is taken off."""
    moved = replace(REMINDER, due_at=NOW + 2 * DAY)
    ended = replace(moved, status="cancelled")
    first = SaveTask(task=REMINDER) if is_set_first else SaveTask(task=moved, earlier=REMINDER)
    details = build_task_details([first, SaveTask(task=ended, earlier=first.task)])
    if is_set_first:
        assert details == {SET_KEY: [TODO.id]}
        return
    changes = details[MOVED_KEY]

    assert isinstance(changes, dict)
    assert restore_times(ended, changes[TODO.id], now=NOW) == REMINDER


def test_to_do_that_was_given_a_time_is_a_to_do_again() -> None:
    """A reminder without a time would come never."""
    change = SaveTask(task=REMINDER, earlier=TODO).change
    assert restore_times(REMINDER, change, now=NOW) == TODO


def test_change_that_another_followed_is_not_set_back() -> None:
    """The later one stands."""
    change = SaveTask(task=REMINDER, earlier=TODO).change
    assert restore_times(replace(REMINDER, due_at=NOW + 3 * DAY), change, now=NOW) is None
