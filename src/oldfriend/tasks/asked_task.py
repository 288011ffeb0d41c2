"""Asked task: what a sentence asks to do with a reminder or a to-do."""

from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.tasks.told_time import Told

Action = Literal["remind", "todo", "list", "done", "cancel", "snooze", "change"]
ACTIONS: Final[tuple[Action, ...]] = ("list", "todo", "cancel", "change", "snooze", "done")
ASKABLE: Final[tuple[Action, ...]] = ("list", "todo", "cancel", "snooze")
"""What a question may ask for; "is the laundry done?" asks for nothing to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTask:
    """What a sentence asks to do with a task."""

    action: Action
    what: str = ""  # what to remind of, or to do
    ref: str = ""  # words, a number or an id that name a task
    is_maybe: bool = False  # a request only if there is such a task
    deed: str = ""  # what was done with it, if the words say more than that it is done
    is_last: bool = False  # the last one that was spoken of
    is_newest: bool = False  # "the last one": of those spoken of, of those set, or of the list
    is_bare: bool = False  # only a correction, "no, 4", of what the last reply told of
    told: Told | None = None  # None: two times were told
    time_words: str = ""  # that told it
    is_again: bool = False  # the same reminder once more
    is_sure: bool = False  # a request even if there is no such task
    is_by_amount: bool = False  # put off by so much, "for an hour", not to "in an hour"
