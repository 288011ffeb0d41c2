"""oldfriend memory: look at what is believed, and set it right."""

import argparse
import json

from oldfriend.app.believing.correcting import (
    Correction,
    changed_on,
    due_on,
    judge,
    merge,
    merge_duplicates,
    put_right,
    separate,
)
from oldfriend.app.believing.looking import Belief, find_belief, list_beliefs, search_beliefs
from oldfriend.app.believing.showing import (
    belief_as_json,
    belief_as_text,
    believed_as_json,
    line_of,
    listed,
)
from oldfriend.app.embedding import plan_embedding
from oldfriend.app.house import House
from oldfriend.background.merging import Merged
from oldfriend.cli.columns import counted
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import short
from oldfriend.domain.memories import Believed
from oldfriend.domain.people import Person

MOST_FOUND = 20
NOTHING = "Nothing yet. What was said and is not read: oldfriend stats"
NOTHING_LIKE_IT = "Nothing that is believed is about that. What was said: oldfriend recall WORDS"


async def run(options: argparse.Namespace) -> int:
    """Look, or correct."""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
        match options.action:
            case "list":
                found = await beliefs(house, person, options)
                print_list(options, person, found, now=house.clock())
            case "search":
                words = " ".join(options.words)
                found = await search_beliefs(house, person, words, live=not options.all)
                print_list(
                    options, person, found[:MOST_FOUND], now=house.clock(), nothing=NOTHING_LIKE_IT
                )
            case "show":
                async with house.db.reading() as tx:
                    found_one = await find_belief(tx, person.id, options.id)
                print_one(options, person, found_one, now=house.clock())
            case "merge" if options.duplicates or options.dry_run:
                print_merged(options, person, await merge_duplicates(
                    house, person.id, dry_run=options.dry_run
                ))  # fmt: skip
            case _:
                print_decided(options, person, await correct(house, person, options))
                async with house.db.writing() as tx:
                    await plan_embedding(tx, now=house.clock())
    return 0


async def beliefs(house: House, person: Person, options: argparse.Namespace) -> list[Belief]:
    """What is believed, of one kind or of all."""
    kinds = [options.kind] if options.kind else []
    async with house.db.reading() as tx:
        return await list_beliefs(tx, person.id, kinds=kinds, live=not options.all)


async def correct(house: House, person: Person, options: argparse.Namespace) -> list[Believed]:
    """Have a decision of the person written; what it led to."""
    match options.action:
        case "edit":
            return await edit_one(house, person, options)
        case "merge":
            if options.other is None:
                raise InvalidInput("Name two, or have them found: memory merge --duplicates")
            return await merge(house, person.id, options.id, options.other)
        case "separate":
            return await separate(house, person.id, options.id, options.other)
        case verdict:
            return await judge(house, person.id, verdict, options.id)


async def edit_one(house: House, person: Person, options: argparse.Namespace) -> list[Believed]:
    """Have something said right, or due at another time, or both."""
    text = " ".join(options.text)
    if not text and (options.due is None or options.value or options.since):
        raise InvalidInput("Say what is right: memory edit ID TEXT, or --due WHEN")
    how = Correction(
        text=text or None, value=options.value, since=changed_on(options.since, person.zone),
        due=due_on(options.due, person.zone),
    )  # fmt: skip
    return await put_right(house, person.id, options.id, how)


def print_list(
    options: argparse.Namespace, person: Person, told: list[Belief], *, now: Micros,
    nothing: str = NOTHING,
) -> None:  # fmt: skip
    """Beliefs, a line each; where there is none, that there is ``nothing``."""
    if options.json:
        print(json.dumps([belief_as_json(each, zone=person.zone) for each in told],
                         ensure_ascii=False))  # fmt: skip
        return
    print("\n".join(listed(told, zone=person.zone, now=now)) or nothing)


def print_one(
    options: argparse.Namespace, person: Person, belief: Belief, *, now: Micros
) -> None:  # fmt: skip
    """One thing, with its words."""
    if options.json:
        print(json.dumps(belief_as_json(belief, zone=person.zone), ensure_ascii=False))
    else:
        print(belief_as_text(belief, zone=person.zone, now=now))


def print_merged(options: argparse.Namespace, person: Person, done: Merged) -> None:
    """What was joined and let go, or would be."""
    if options.json:
        pairs = [{"kept": e.stronger.memory.id, "merged": e.weaker.memory.id} for e in done.joined]
        faded = [each.memory.id for each in done.faded]
        print(json.dumps({"joined": pairs, "let_go": faded, "unclear": done.unclear}))
        return
    lines = [
        f"{line_of(each.weaker.memory, zone=person.zone)}\n"
        f"    joins {line_of(each.stronger.memory, zone=person.zone)}"
        for each in done.joined
    ]
    lines += [
        f"{line_of(each.memory, zone=person.zone)}\n    is let go: too weak to keep"
        for each in done.faded
    ]
    if done.unclear:
        lines.append(f"{counted(done.unclear, 'pair')} may say the same: memory merge A B")
    if options.dry_run and (done.joined or done.faded):
        lines.append("Nothing was changed. To do it: oldfriend memory merge --duplicates")
    print("\n".join(lines) or "Nothing says the same twice.")


def print_decided(options: argparse.Namespace, person: Person, after: list[Believed]) -> None:
    """What is so now, after the person's decision."""
    if options.json:
        decided = [believed_as_json(each, zone=person.zone) for each in after]
        print(json.dumps(decided, ensure_ascii=False))
    else:
        print("\n".join(line_of(each, zone=person.zone) for each in after))
        if options.action == "merge":
            both = " ".join(short(each.id) for each in after)
            print(f"If they are two after all: oldfriend memory separate {both}")
