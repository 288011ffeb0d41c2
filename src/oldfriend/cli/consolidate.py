"""oldfriend consolidate: have everything read that was said; by a model, what rules have read.

And say after how many turns that happens by itself.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from oldfriend.app.allowance import allowances
from oldfriend.app.believing.showing import segment_line
from oldfriend.app.catching_up import (
    CaughtUp,
    Progress,
    catch_up,
    pause,
    read_planned,
    resume,
)
from oldfriend.app.forming.rereading import Rereading, plan_rereading, what_rules_read
from oldfriend.app.house import House
from oldfriend.app.wiring import likely_cost
from oldfriend.cli.asking import is_agreed
from oldfriend.cli.columns import counted, money
from oldfriend.cli.cost import allowance_as_text
from oldfriend.cli.opening import opened
from oldfriend.cli.status_line import StatusLine, reading_line
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Person
from oldfriend.memory.segments import list_read_since
from oldfriend.memory.thresholds import RANGE, find_threshold, set_threshold

MOST_NAMED: Final = 20
STRETCH: Final = ("stretch of talk", "stretches of talk")
AS_THE_HOUSE: Final = "default"
NO_MODEL: Final = "No language model is connected: rules have read it. See: oldfriend connect model"


async def run(options: argparse.Namespace) -> int:
    """Read what is to be read, or hold it up."""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            someone = await person_looked_into(tx, options)
        person, began_at = someone.id, house.clock()
        if options.pause:
            waiting = await pause(house, person)
            print(f"Paused: {counted(waiting, *STRETCH)} to be read. Go on with --resume")
            return 0
        if options.every is not None:
            print(await choose_threshold(house, someone, options.every))
            return 0
        if options.with_model and not await is_wanted(house, person, options):
            print("Nothing was read anew.")
            return 1
        done = await read_all(house, person, options)
        async with house.db.reading() as tx:
            read = await list_read_since(tx, person, began_at)
    return told(options, done, [segment_line(each, zone=someone.zone) for each in read])


async def choose_threshold(house: House, person: Person, chosen: str) -> str:
    """Have somebody read after so many turns from now on, if so many are chosen; what holds.

    Raises InvalidInput.
    """
    async with house.db.writing() as tx:
        if chosen:
            await set_threshold(tx, person.id, None if chosen == AS_THE_HOUSE else turns_in(chosen))
        own = await find_threshold(tx, person.id)
    turns = own or house.settings.memory.read_every_turns
    whose = "as oldfriend.toml has it" if own is None else "as was chosen for them"
    return f"What {person.name} says is read after {counted(turns, 'turn')} at the latest, {whose}."


def turns_in(text: str) -> int:
    """The number that was typed. Raises InvalidInput."""
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"{RANGE}, or {AS_THE_HOUSE}; not {text!r}.") from None


async def read_all(house: House, person: PersonId, options: argparse.Namespace) -> CaughtUp:
    """Read everything that is planned, and all that was said since."""
    await resume(house, person)
    line = StatusLine()

    def show(progress: Progress) -> None:
        line.show(reading_line(progress))

    try:
        if options.now:
            return await catch_up(
                house, person, because="asked", imported=True, show=show, patience_s=math.inf
            )
        return await read_planned(house, person, show=show, patience_s=math.inf)
    finally:
        line.clear()


async def is_wanted(house: House, person: PersonId, options: argparse.Namespace) -> bool:
    """Show what a model would read, and what it costs; plan it, where that is agreed to.

    Raises InvalidInput where there is no model, or nobody to ask.
    """
    make = house.models.get("small")
    if make is None:
        raise InvalidInput(NO_MODEL)
    rereading = await what_rules_read(house, person)
    if not rereading.segments:
        print("There is nothing that only rules have read.")
        return True
    print(offered(house, rereading, make.name))
    async with house.db.reading() as tx:
        background, _ = await allowances(tx, house.settings, now=house.clock())
    print(f"{allowance_as_text(background)} What is over it waits for the next day.")
    if not is_agreed(options, "Have the model read it?"):
        return False
    await plan_rereading(house, rereading)
    return True


def offered(house: House, rereading: Rereading, model: str) -> str:
    """What a model would read, and what that costs."""
    tokens = rereading.tokens_in + rereading.tokens_out
    cost = likely_cost(
        house.settings, model, tokens_in=rereading.tokens_in, tokens_out=rereading.tokens_out
    )
    price = "at an unknown price" if cost is None else f"for about {money(cost)}" * bool(cost)
    return (
        f"{model} would read {counted(len(rereading.segments), *STRETCH)} "
        f"({counted(rereading.messages, 'message')}), about {tokens:,} tokens"
        f"{f', {price}' if price else ', for nothing'}."
    )


async def offer_model(house: House, person: PersonId) -> None:
    """Say that a model could read what rules have read, where one is connected."""
    make = house.models.get("small")
    rereading = await what_rules_read(house, person)
    if make is not None and rereading.segments:
        print(offered(house, rereading, make.name), "Say so: oldfriend consolidate --with-model")


def told(options: argparse.Namespace, done: CaughtUp, read: Sequence[str]) -> int:
    """Say what came of it, and what was read; 1 where something could not be read."""
    if options.json:
        print(json.dumps(asdict(done)))
    else:
        print(in_words(done))
        print(*(f"  {line}" for line in read[-MOST_NAMED:]), sep="\n", end="\n" * bool(read))
        if len(read) > MOST_NAMED:
            print(f"  and {counted(len(read) - MOST_NAMED, 'earlier one')}")
    return 1 if done.failed else 0


def in_words(done: CaughtUp) -> str:
    """What came of a reading, to read."""
    parts = [f"{counted(done.read, *STRETCH)} {'was' if done.read == 1 else 'were'} read"]
    if done.waiting:
        parts.append(f"{done.waiting:,} wait")
    if done.failed:
        parts.append(f"{done.failed:,} could not be read (oldfriend doctor)")
    return f"{', '.join(parts)}."
