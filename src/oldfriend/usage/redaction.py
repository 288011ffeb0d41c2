"""Redaction: removes deleted content from the records of calls; that they were made is kept."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.db.message_numbers import load_all_numbers
from oldfriend.domain.codec import Reference, pack_references, unpack_references
from oldfriend.domain.ids import PersonId


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedCalls:
    """The calls that have seen deleted content."""

    shown_calls: tuple[str, ...]  # ids of calls that were shown it
    quoting_calls: tuple[str, ...]  # ids of other calls whose answer or error quotes it
    turns: frozenset[str]  # in which any of these calls was made


async def find_exposed_calls(
    tx: Transaction, person: PersonId, gone: Collection[str], holds_words: Callable[[str], bool]
) -> ExposedCalls:
    """Find the model calls that were shown deleted content, answered it, or quote it."""
    rows = await tx.rows(
        "SELECT id, turn, asked, shown, answer, error FROM model_call WHERE person = :person",
        person=person,
    )
    references = await list_references(tx, person, gone)
    shown: list[str] = []
    quoting: list[str] = []
    turns: set[str | None] = set()
    for call, turn, asked, ids, answer, error in rows:
        was_shown = not references.isdisjoint(unpack_references(ids)) or is_answering_any(
            asked, gone
        )
        if not was_shown and not any(text and holds_words(text) for text in (answer, error)):
            continue
        (shown if was_shown else quoting).append(call)
        turns.add(turn)
    return ExposedCalls(
        shown_calls=tuple(shown),
        quoting_calls=tuple(quoting),
        turns=frozenset(turn for turn in turns if turn is not None),
    )


async def list_references(
    tx: Transaction, person: PersonId, gone: Collection[str]
) -> frozenset[Reference]:
    """Return every form in which a packed value may refer to deleted content."""
    numbers = await load_all_numbers(tx, person)
    return frozenset(gone) | {number for number, (name, _) in numbers.items() if name in gone}


def is_answering_any(answered_versions: str | None, gone: Collection[str]) -> bool:
    """Return whether a call was made for a turn that answers one of these messages."""
    return any(each.partition("@")[0] in gone for each in (answered_versions or "").split())


async def redact_calls(
    tx: Transaction,
    person: PersonId,
    exposed: ExposedCalls,
    gone: Collection[str],
    *,
    turns: Collection[str],
) -> None:
    """Delete the answers of these calls from the records, and the arguments of their tools.

    ``turns`` are further turns whose tools may have received deleted content. Transcripts are in
    the log: here all of them are deleted, since they do not name their message.
    """
    await tx.run(
        """UPDATE model_call SET answer = NULL, request = ''
           WHERE person = :person AND purpose = 'transcription'""",
        person=person,
    )
    calls = [*exposed.shown_calls, *exposed.quoting_calls]
    rows = await tx.rows(
        "SELECT id, asked, shown FROM model_call WHERE person = :person", person=person
    )
    references = await list_references(tx, person, gone)
    seen = {call: (asked, ids) for call, asked, ids in rows}
    await tx.run_many(
        """UPDATE model_call SET answer = NULL, error = NULL, request = '', shown = :shown,
             asked = :asked WHERE person = :person AND id = :id""",
        [
            {
                "person": person,
                "id": call,
                "asked": None if is_answering_any(seen[call][0], gone) else seen[call][0],
                "shown": pack_references(set(unpack_references(seen[call][1])) - references),
            }
            for call in calls
        ],
    )
    await tx.run_many(
        """UPDATE tool_call SET arguments = '{}',
             result = CASE WHEN result IS NULL THEN NULL ELSE '' END
           WHERE person = :person AND turn = :turn""",
        [{"person": person, "turn": turn} for turn in sorted({*exposed.turns, *turns})],
    )
