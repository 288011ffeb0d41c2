"""Watch edits: what a person has watched by a program, stored at once."""

from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import new_random_id
from oldfriend.domain.messages import Person
from oldfriend.measurements.number_source import NumberSource
from oldfriend.memory.people import lock_person
from oldfriend.prompts.locale_phrases import choose_language
from oldfriend.watches.watch import Condition, Watch
from oldfriend.watches.watch_phrases import WatchPhrases, load_watch_phrases
from oldfriend.watches.watch_store import (
    MAX_WATCHES,
    get_watch,
    list_watches,
    save_watch,
    schedule_watch,
)


def load_phrases_of(person: Person) -> WatchPhrases:
    """Return the phrases in which a person is told of their watches outside of a chat."""
    return load_watch_phrases(choose_language(person.language))


async def add_watch(
    tx: Transaction,
    person: Person,
    url: str,
    *,
    now: Micros,
    below: float | None = None,
    above: float | None = None,
) -> Watch:
    """Watch an address, and return the watch, or the same one that there is. Raises InvalidInput.

    The address is one that may be asked for, or the source of a number.
    """
    number = NumberSource.parse(url)
    if number is not None and (below is above or not number.is_known):
        raise InvalidInput("A number needs a measure, a unit that it is told in, and one limit.")
    if below is not None and above is not None:
        raise InvalidInput("Watch for a price below or above a limit, not both.")
    await lock_person(tx, person.id)
    condition: Condition = "changes" if below is above else "above" if below is None else "below"
    threshold = above if below is None else below
    active = await list_watches(tx, person.id)
    for each in active:
        if (each.url, each.condition, each.threshold) == (url, condition, threshold):
            return each
    if len(active) >= MAX_WATCHES:
        raise InvalidInput(f"{MAX_WATCHES} watches are the most there can be; end one first.")
    watch = Watch(
        id=new_random_id(),
        person=person.id,
        text=url,
        language=choose_language(person.language),
        url=url,
        condition=condition,
        threshold=threshold,
        next_check_at=now,
        created_at=now,
        changed_at=now,
    )
    watch = replace(watch, text=load_phrases_of(person).name(watch))
    await save_watch(tx, watch)
    await schedule_watch(tx, watch, now=now)
    await tx.notify()
    return watch


async def end_watch(tx: Transaction, person: Person, name: str, *, now: Micros) -> Watch:
    """End the watch that a number of the list, a partial id or an address names.

    Raises NotFound, InvalidInput.
    """
    await lock_person(tx, person.id)
    watch = replace(await get_watch(tx, person.id, name), status="ended", changed_at=now)
    await save_watch(tx, watch)
    return watch
