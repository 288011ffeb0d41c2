"""How do the records of calls lose what is forgotten? That they were made, and what for, stays."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed:
    """The calls that saw what goes."""

    shown: tuple[str, ...]  # ids of calls that were shown it
    telling: tuple[str, ...]  # ids of others that say it
    turns: frozenset[str]  # in which any of these was made


async def find_exposed(
    tx: Transaction, person: PersonId, gone: Collection[str], holds_words: Callable[[str], bool]
) -> Exposed:
    """The model calls that were shown what goes, or answer its turn; and those that say it."""
    rows = await tx.rows(
        "SELECT id, turn, asked, shown, answer, error FROM model_call WHERE person = :person",
        person=person,
    )
    shown: list[str] = []
    telling: list[str] = []
    turns: set[str | None] = set()
    for call, turn, asked, ids, answer, error in rows:
        saw = not set(gone).isdisjoint(json.loads(ids)) or answers_any(asked, gone)
        if not saw and not any(text and holds_words(text) for text in (answer, error)):
            continue
        (shown if saw else telling).append(call)
        turns.add(turn)
    return Exposed(
        shown=tuple(shown), telling=tuple(telling),
        turns=frozenset(turn for turn in turns if turn is not None),
    )  # fmt: skip


def answers_any(asked: str | None, gone: Collection[str]) -> bool:
    """Whether a call was made for a turn that answers one of these messages."""
    return any(each.partition("@")[0] in gone for each in (asked or "").split())


async def redact_calls(
    tx: Transaction, person: PersonId, exposed: Exposed, gone: Collection[str],
    *, turns: Collection[str],
) -> None:  # fmt: skip
    """Take out of the records what these calls gave, and what their tools were told.

    ``turns`` are others whose tools may have been told of it. What was written down of recordings
    stands in the log: here all of it goes, for it names no message.
    """
    await tx.run(
        """UPDATE model_call SET answer = NULL, request = ''
           WHERE person = :person AND purpose = 'transcription'""",
        person=person,
    )
    calls = [*exposed.shown, *exposed.telling]
    rows = await tx.rows(
        "SELECT id, asked, shown FROM model_call WHERE person = :person", person=person
    )
    seen = {call: (asked, json.loads(ids)) for call, asked, ids in rows}
    await tx.run_many(
        """UPDATE model_call SET answer = NULL, error = NULL, request = '', shown = :shown,
             asked = :asked WHERE person = :person AND id = :id""",
        [
            {
                "person": person, "id": call,
                "asked": None if answers_any(seen[call][0], gone) else seen[call][0],
                "shown": json.dumps([each for each in seen[call][1] if each not in gone]),
            }
            for call in calls
        ],
    )  # fmt: skip
    await tx.run_many(
        """UPDATE tool_call SET arguments = '{}',
             result = CASE WHEN result IS NULL THEN NULL ELSE '' END
           WHERE person = :person AND turn = :turn""",
        [{"person": person, "turn": turn} for turn in sorted({*exposed.turns, *turns})],
    )
