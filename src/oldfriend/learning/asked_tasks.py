"""Asked tasks: what somebody asked to be reminded of stands on their list, and is no belief beside.

A reminder that is moved or cancelled would else live on as a promise or an expectation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Database
from oldfriend.domain.clock import MINUTE, from_micros
from oldfriend.domain.memories import MemoryKind
from oldfriend.domain.messages import Message
from oldfriend.learning.extraction import Claim, Extraction
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.tasks.task import STATUSES, Task
from oldfriend.tasks.task_store import list_tasks

LISTED_KINDS: Final[frozenset[MemoryKind]] = frozenset({"commitment", "expectation", "note"})
SET_WITHIN: Final = 2 * MINUTE
"""A task that was changed later than that after it was set was moved."""
MIN_SHARED: Final = 0.5
"""Share of a task's terms in the words of a claim that says the same."""


async def drop_asked(
    db: Database, messages: Sequence[Message], extraction: Extraction
) -> Extraction:
    """Return what was extracted without what the same messages have put on the person's list."""
    if not any(each.kind in LISTED_KINDS for each in extraction.claims):
        return extraction
    ids = {each.id for each in messages}
    async with db.begin_read() as tx:
        tasks = await list_tasks(tx, messages[0].person, statuses=STATUSES)
    asked = [each for each in tasks if each.message in ids]
    claims = tuple(each for each in extraction.claims if not is_listed(each, asked))
    return replace(extraction, claims=claims)


def is_listed(claim: Claim, tasks: Iterable[Task]) -> bool:
    """Return whether a claim says only what one of some tasks is about."""
    if claim.kind not in LISTED_KINDS or not claim.quotes:
        return False
    return any(
        all(quote.message == each.message for quote in claim.quotes) and is_same(claim, each)
        for each in tasks
    )


def is_same(claim: Claim, task: Task) -> bool:
    """Return whether a claim from the message of a task says what the task is about.

    What is expected at another time than that of the reminder is an event of its own.
    """
    words = " ".join(each.text for each in claim.quotes)
    terms = extract_content_terms(task.text, task.language)
    shared = terms & extract_content_terms(words, task.language)
    if len(shared) < max(1.0, MIN_SHARED * len(terms)):
        return False
    return claim.kind != "expectation" or is_same_time(claim, task)


def is_same_time(claim: Claim, task: Task) -> bool:
    """Return whether something is expected when its reminder was to come, as far as is known."""
    is_moved = task.status == "cancelled" or task.changed_at > task.created_at + SET_WITHIN
    if claim.due_at is None or task.due_at is None or is_moved:
        return True
    due = from_micros(task.due_at, task.zone)
    expected = from_micros(claim.due_at, task.zone)
    return due.date() == expected.date() and (
        bool(claim.grain) or task.is_date_only or due == expected
    )
