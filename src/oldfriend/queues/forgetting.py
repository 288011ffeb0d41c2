"""How do letters go that speak of what is forgotten? Undone, whoever is at work on their lane."""

from collections.abc import Callable, Collection
from itertools import groupby

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Letter
from oldfriend.queues.lanes import lock, settle
from oldfriend.queues.letters import COLUMNS, letter_from, remove


async def withdraw_letters(
    tx: Transaction, person: PersonId, gone: Collection[str], holds_words: Callable[[str], bool]
) -> int:
    """Take away the letters that name or say what goes, and their keys; how many."""
    rows = await tx.rows(
        f"SELECT {COLUMNS} FROM letter WHERE person = :person ORDER BY queue, lane, seq",
        person=person,
    )
    going = [
        letter for letter in map(letter_from, rows)
        if any(text in gone or holds_words(text) for text in texts_in(letter))
    ]  # fmt: skip
    for (queue, lane), letters in groupby(going, key=lambda each: (each.queue, each.lane)):
        await lock(tx, queue, lane)
        await remove(tx, letters)
        await settle(tx, queue, lane)
    await remove_keys(tx, gone)
    return len(going)


async def remove_keys(tx: Transaction, gone: Collection[str]) -> None:
    """Take away the keys of parts of replies that go: they name the reply."""
    rows = await tx.rows("SELECT lane, key FROM letter_key WHERE queue = 'outbox'")
    await tx.run_many(
        "DELETE FROM letter_key WHERE queue = 'outbox' AND lane = :lane AND key = :key",
        [{"lane": lane, "key": key} for lane, key in rows if key.partition("/")[0] in gone],
    )


def texts_in(letter: Letter) -> list[str]:
    """Every text in a letter."""
    found: list[str] = [letter.error or "", letter.group or ""]
    waiting: list[JsonValue] = [*letter.body.values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
    return found
