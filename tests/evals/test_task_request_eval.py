"""Grades of task requests: what is right, asked about or silently wrong."""

import pytest

from oldfriend.domain.ids import ChatId, PersonId, new_random_id
from oldfriend.tasks.task import Task, TaskStatus
from oldfriend_evals.task_request_eval import grade

CASE = {"zone": "UTC", "expect": {"kind": "todo", "about": ["milk", "stamps"]}}


def build_task(text: str, *, due_at: int | None = None, status: TaskStatus = "open") -> Task:
    """A task as it was understood."""
    return Task(
        id=new_random_id(),
        person=PersonId("p"),
        chat=ChatId("c"),
        text=text,
        language="en",
        kind="todo" if due_at is None else "reminder",
        status=status,
        due_at=due_at,
        zone="UTC",
        created_at=0,
        changed_at=0,
    )


@pytest.mark.parametrize(
    ("tasks", "found"),
    [
        ([build_task("Milk and stamps")], "right"),
        ([build_task("milk"), build_task("stamps")], "right"),
        ([build_task("milk")], "wrong text"),
        ([build_task("milk and stamps", due_at=1)], "invented"),
        ([build_task("milk and stamps", status="asking")], "asked"),
        ([], "missed"),
    ],
)
def test_to_do_is_graded_by_its_text_and_has_no_time(tasks: list[Task], found: str) -> None:
    """A time that nobody told is silently wrong."""
    assert grade(CASE, tasks) == found
