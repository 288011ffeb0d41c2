"""oldfriend replay: a second memory from the same log, read by another model, or by rules."""

import argparse
import asyncio
import json
from dataclasses import asdict, replace
from typing import Final

from oldfriend.app.allowance import allowances
from oldfriend.app.believing.looking import moment_named
from oldfriend.app.choices.database_url import database_meant, is_same_database, shown_url
from oldfriend.app.choices.sections import Models
from oldfriend.app.choices.settings import Settings
from oldfriend.app.replaying.estimating import Estimate, estimate
from oldfriend.app.replaying.going import replay
from oldfriend.app.replaying.wanting import RULES, Told, Wanted
from oldfriend.app.wiring import open_database, open_house
from oldfriend.cli.asking import is_agreed
from oldfriend.cli.columns import counted, money
from oldfriend.cli.consolidate import STRETCH
from oldfriend.cli.cost import allowance_as_text
from oldfriend.cli.opening import person_named, settings_from
from oldfriend.cli.status_line import StatusLine
from oldfriend.cli.whom import person_by_name
from oldfriend.db.database import Database
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import AllowanceUsedUp, InvalidInput, ModelError
from oldfriend.ledger.spending import DOLLAR, Cap

GO_ON: Final = "What is done is kept. Run the same command again, and it goes on from here."
NO_PRICE: Final = (
    "What {model} costs is not known, so that --limit-usd cannot hold. Name --limit-tokens."
)


async def run(options: argparse.Namespace) -> int:
    """Say what it takes, ask, and derive everything anew."""
    settings = with_model(settings_from(options), options.model)
    target = database_meant(options.into)
    if is_same_database(settings.database, target):
        raise InvalidInput("--into names the memory itself. Name an empty database.")
    source = await open_database(settings.database, create=False)
    try:
        wanted = await wanted_in(source, options)
        if not await is_wanted(source, settings, wanted, options):
            print("Nothing was read.")
            return 1
        there = replace(settings, database=target)
        told = await carried_out(source, there, wanted)
    finally:
        await source.close()
    if options.json:
        print(json.dumps(asdict(told)))
    else:
        print(told_as_text(told, settings.database, target))
    return 1 if told.failed else 0


def with_model(settings: Settings, model: str | None) -> Settings:
    """The settings, in which the model that is wanted reads. Raises InvalidInput."""
    if model is None:
        return settings
    if model == RULES:
        return replace(settings, models=Models())
    if ":" not in model:
        raise InvalidInput(f"{model!r} is no model. Name it as PROVIDER:NAME, or say: {RULES}")
    return replace(settings, models=replace(settings.models, small=(model,), reflect=(model,)))


async def wanted_in(source: Database, options: argparse.Namespace) -> Wanted:
    """What is asked for. Raises NotFound, InvalidInput."""
    name = person_named(options)
    async with source.reading() as tx:
        person = None if name is None else await person_by_name(tx, name)
    since = None
    if options.since is not None:
        zone = "UTC" if person is None else person.zone
        since = moment_named(f"{options.since}T00:00", zone, now=system_clock())
    usd, tokens = options.limit_usd, options.limit_tokens
    limit = None
    if usd is not None or tokens is not None:
        limit = Cap(cost=None if usd is None else round(usd * DOLLAR), tokens=tokens)
    return Wanted(
        model=options.model or "", since=since, limit=limit,
        person=None if person is None else person.id,
    )  # fmt: skip


async def is_wanted(
    source: Database, settings: Settings, wanted: Wanted, options: argparse.Namespace
) -> bool:
    """Show what it takes; whether that is agreed to, where it may cost anything."""
    model = next(iter(settings.models.for_role("small")), None)
    async with source.reading() as tx:
        foreseen = await estimate(tx, settings, wanted, model=model)
        background, _ = await allowances(tx, settings, now=system_clock())
    if not options.json:
        print("\n".join(foreseen_as_text(foreseen, model)))
    if foreseen.cost == 0:
        return True
    if foreseen.cost is None and is_by_money_only(wanted.limit):
        raise InvalidInput(NO_PRICE.format(model=model))
    if not options.json:
        print(limit_as_text(wanted.limit) or allowance_as_text(background))
    return is_agreed(options, "Have the model read it?")


def is_by_money_only(limit: Cap | None) -> bool:
    """Whether a limit does not hold where a price is not known."""
    return limit is not None and limit.cost is not None and limit.tokens is None


def foreseen_as_text(foreseen: Estimate, model: str | None) -> list[str]:
    """What a replay takes, to read."""
    lines = [
        f"{counted(foreseen.stretches, *STRETCH)} would be read again: "
        f"{counted(foreseen.words, 'word')}. What you decided yourself stands: "
        f"{counted(foreseen.decisions, 'decision')}."
    ]
    if foreseen.tokens:
        lines.append(
            f"{model} would read {foreseen.by_model:,} of them"
            f"{f', and think {foreseen.thoughts:,} times' * bool(foreseen.thoughts)}: at most "
            f"{foreseen.tokens:,} tokens, {price_as_text(foreseen.cost)}. It has given "
            f"{counted(foreseen.answers, 'answer')} before: what asks the very same is not paid "
            "for again."
        )
    else:
        lines.append("Rules read it: no model is asked, and nothing leaves this machine.")
    if foreseen.unread:
        lines.append(
            f"{counted(foreseen.unread, 'message')} not read yet here, nor will be there. "
            "To have them read first: oldfriend consolidate --now"
        )
    return lines


def price_as_text(cost: int | None) -> str:
    """What it may cost, as far as that is known."""
    if cost is None:
        return "price unknown"
    return f"about {money(cost)}" if cost else "for nothing"


def limit_as_text(limit: Cap | None) -> str:
    """What the whole replay may cost, if that was said."""
    if limit is None:
        return ""
    parts = [] if limit.cost is None else [money(limit.cost)]
    parts += [] if limit.tokens is None else [f"{limit.tokens:,} tokens"]
    return f"It stops at {' or '.join(parts)}."


async def carried_out(source: Database, settings: Settings, wanted: Wanted) -> Told:
    """Derive everything, with its progress shown; where it stops, it can go on."""
    line = StatusLine()

    def show(done: int, total: int) -> None:
        line.show(f"Deriving anew: {done:,} of {total:,}")

    try:
        async with open_house(settings) as house:
            return await replay(source, house, wanted, show=show)
    except (AllowanceUsedUp, ModelError) as error:
        raise type(error)(f"{error} {GO_ON}") from error
    except asyncio.CancelledError:
        line.clear()
        print(GO_ON)
        raise
    finally:
        line.clear()


def told_as_text(told: Told, source: str, target: str) -> str:
    """What came of it, to read."""
    lines = [
        f"{counted(told.read, *STRETCH)} read, {counted(told.upheld, 'decision')} upheld; "
        f"{counted(told.asked, 'question')} asked of a model, {told.reused:,} answered from before."
    ]
    if told.failed:
        lines.append(f"{counted(told.failed, *STRETCH)} could not be read.")
    lines += [f"Could not hold there: {each}" for each in told.lost]
    lines.append(
        f"It is in {shown_url(target)}. What is believed differently:\n"
        f"  oldfriend diff {shown_url(source)} {shown_url(target)}"
    )
    return "\n".join(lines)
