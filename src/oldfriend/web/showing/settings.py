"""How is shown what is chosen, what was spent, what waits?"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from oldfriend.app.allowance import Allowance
from oldfriend.app.choices.listing import Chosen
from oldfriend.domain.letters import Letter, Queue
from oldfriend.domain.sayings import saying
from oldfriend.ledger.spending import DOLLAR, Spent
from oldfriend.queues.counting import QUEUES
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.common import saying_shape
from oldfriend.web.shapes.settings import Choice, Left, LetterShape, Sum
from oldfriend.web.showing.common import in_zone

KIND: Final = re.compile(
    r"(?:given up after \d+ attempts: |with letter \d+: )*"
    r"([A-Z][A-Za-z]+(?=: )|interrupted$|the platform did not answer$|\[memory\] forms is off$"
    r"|whoever worked on it ended each time$)"
)
"""How an error is kept that tells its kind, and what else is kept without anybody's words."""
OTHERWISE: Final = saying("letter_went_wrong", "something went wrong")
KEPT_AS: Final[Mapping[str, str]] = {
    "interrupted": saying("letter_interrupted", "interrupted"),
    "the platform did not answer": saying("letter_unanswered", "the platform did not answer"),
    "[memory] forms is off": saying("letter_forms_off", "[memory] forms is off"),
    "whoever worked on it ended each time": saying(
        "letter_ended_each_time", "whoever worked on it ended each time"
    ),
}
"""What is kept besides kinds of errors; a kind goes by its name everywhere."""


def choice_shape(chosen: Chosen) -> Choice:
    """One setting."""
    return Choice(
        name=chosen.name, value=plain(chosen.value), default=plain(chosen.default),
        written=plain(chosen.written), fixed_by=chosen.fixed_by,
        takes_new_start=chosen.takes_new_start,
    )  # fmt: skip


def plain(
    value: bool | int | float | str | Sequence[str] | None,
) -> bool | int | float | str | list[str] | None:
    """A value as JSON has it."""
    return value if value is None or isinstance(value, bool | int | float | str) else [*value]


def sum_shape(heading: str, spent: Spent) -> Sum:
    """What was spent under a heading; what is not known is not taken for nothing."""
    is_unknown = spent.unknown > 0 and not spent.cost
    return Sum(
        heading=heading, calls=spent.calls, failed=spent.failed, tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out, dollars=None if is_unknown else spent.cost / DOLLAR,
        unknown_calls=spent.unknown,
    )  # fmt: skip


def left_shape(allowance: Allowance) -> Left:
    """What may still be spent today."""
    left = allowance.money_left
    return Left(
        purpose=allowance.purpose, dollars=None if left is None else left / DOLLAR,
        tokens=allowance.tokens_left, is_used_up=allowance.is_used_up,
    )  # fmt: skip


def letter_shape(letter: Letter, person: str | None, *, zone: str) -> LetterShape:
    """Something that waits."""
    return LetterShape(
        id=letter_id(letter.queue, letter.lane, letter.seq), queue=letter.queue, person=person,
        since=in_zone(letter.put_at, zone), due_at=in_zone(letter.due_at, zone),
        attempts=letter.attempts, is_parked=letter.is_parked,
        error=None if letter.error is None else saying_shape(kind_of_error(letter.error)),
    )  # fmt: skip


def kind_of_error(told: str) -> str:
    """What went wrong, without the words of an error, which may quote what somebody said."""
    found = KIND.match(told)
    return OTHERWISE if found is None else KEPT_AS.get(found[1], found[1])


def letter_id(queue: Queue, lane: str, seq: int) -> str:
    """The place of a letter as one word; lanes have slashes in their names."""
    return base64.urlsafe_b64encode(json.dumps([queue, lane, seq]).encode()).decode().rstrip("=")


def place_from(name: str) -> tuple[Queue, str, int]:
    """The place that a word names. Raises Refused."""
    found = find_place(name)
    if found is None:
        raise Refused(
            404, "There is no such letter", saying("letter_gone", "It may be done by now.")
        )
    return found


def find_place(name: str) -> tuple[Queue, str, int] | None:
    """The place that a word names; None: it names none."""
    try:
        queue, lane, seq = json.loads(base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)))
        known = next(each for each in QUEUES if each == queue)
    except (ValueError, TypeError, StopIteration, binascii.Error, RecursionError):
        return None
    is_place = isinstance(lane, str) and type(seq) is int and 0 <= seq < 1 << 62
    return (known, lane, seq) if is_place and "\x00" not in lane else None
