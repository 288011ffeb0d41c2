"""oldfriend facts, entities, summaries, beliefs, history: what is known, and how it came to be."""

import argparse
import json
from collections.abc import Sequence

from oldfriend.app.believing.history import history_of
from oldfriend.app.believing.looking import (
    Belief,
    about,
    beliefs_at,
    list_about,
    list_beliefs,
    list_names,
    list_told,
    moment_named,
)
from oldfriend.app.believing.showing import (
    belief_as_json,
    history_as_json,
    history_as_text,
    line_of,
    listed,
)
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.memories import Memory, Summary
from oldfriend.domain.people import Person

NOTHING = "Nothing yet. To have everything read that was said: oldfriend consolidate --now"
NOTHING_THEN = "Nothing was believed then: a belief counts from the day on which it was learned."


async def run(options: argparse.Namespace) -> int:
    """Look it up, and print it."""
    async with opened(options, create=False) as house, house.db.reading() as tx:
        person = await person_looked_into(tx, options)
        if options.look == "history":
            history = await history_of(tx, person.id, options.id)
            if options.json:
                told = history_as_json(history, zone=person.zone)
                print(json.dumps(told, ensure_ascii=False))
            else:
                print(history_as_text(history, zone=person.zone))
            return 0
        at = moment_of(options, person.zone, now=house.clock())
        found = await looked_up(tx, person, options, at=at)
    if options.json:
        as_json = [belief_as_json(each, zone=person.zone) for each in found]
        print(json.dumps(as_json, ensure_ascii=False))
    else:
        nothing = NOTHING_THEN if is_of_the_past(options) else NOTHING
        print("\n".join(lines_of(options, found, zone=person.zone, at=at)) or nothing)
    return 0


def moment_of(options: argparse.Namespace, zone: str, *, now: Micros) -> Micros:
    """The moment that is looked at. Raises InvalidInput."""
    return moment_named(options.as_of, zone, now=now) if is_of_the_past(options) else now


def is_of_the_past(options: argparse.Namespace) -> bool:
    """Whether what was believed on a day is looked at."""
    return options.look == "beliefs" and options.as_of is not None


async def looked_up(
    tx: Transaction, person: Person, options: argparse.Namespace, *, at: Micros
) -> list[Belief]:
    """What was asked for. Raises NotFound, InvalidInput."""
    match options.look:
        case "facts":
            facts = await list_beliefs(
                tx, person.id, kinds=["fact", "preference"], live=not options.all
            )
            return facts if options.key is None else under(options.key, facts)
        case "entities" if options.name is not None:
            return await list_about(tx, person.id, options.name)
        case "entities":
            return await list_names(tx, person.id, live=not options.all)
        case "summaries":
            summaries = await list_told(tx, person.id, active=not options.all)
            return [Belief(what=each) for each in summaries]
        case _:
            return await believed(tx, person, options, at=at)


async def believed(
    tx: Transaction, person: Person, options: argparse.Namespace, *, at: Micros
) -> list[Belief]:
    """What is believed, or was at a moment; all of it, or what is about a name."""
    found = await beliefs_at(tx, person.id, at)
    return found if options.about is None else await about(tx, person.id, options.about, found)


def lines_of(
    options: argparse.Namespace, found: Sequence[Belief], *, zone: str, at: Micros
) -> list[str]:  # fmt: skip
    """What was found, to read: facts by their keys, all else as everywhere."""
    if options.look != "facts":
        in_order = sorted(found, key=lambda each: isinstance(each.what, Summary))
        return listed(in_order, zone=zone, now=at)
    in_order = sorted(found, key=key_of)
    return [
        f"{line_of(each.what, zone=zone)}  ({': '.join(key_of(each)[1:])})" for each in in_order
    ]


def under(key: str, facts: Sequence[Belief]) -> list[Belief]:
    """Those that are filed under a key. Raises NotFound."""
    wanted = key.casefold()
    found = [each for each in facts if key_of(each)[1].casefold() == wanted]
    if not found:
        known = ", ".join(sorted({key_of(each)[1] for each in facts})) or "none yet"
        raise NotFound(f"Nothing is known under {key!r}. Keys: {known}.")
    return found


def key_of(belief: Belief) -> tuple[str, str, str]:
    """Facts before preferences, each by its key."""
    what = belief.what
    return (what.kind, what.key, what.value) if isinstance(what, Memory) else ("", "", "")
