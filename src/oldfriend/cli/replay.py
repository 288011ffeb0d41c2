"""oldfriend replay: derives a second memory from the same log with another model or by rules."""

import argparse
import asyncio
import json
from dataclasses import asdict, replace
from typing import Final

from oldfriend.app.spend_limits import load_allowances
from oldfriend.beliefs.queries import parse_as_of
from oldfriend.cli.consolidate_cmd import SEGMENT_NOUN
from oldfriend.cli.open_context import (
    confirm,
    get_person_by_name,
    get_person_option,
    load_settings_from_options,
)
from oldfriend.cli.output import StatusLine
from oldfriend.config.settings import Settings, is_same_database, to_database_url
from oldfriend.config.settings_schema import ModelSettings
from oldfriend.db.database import Database
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import AllowanceUsedUp, InvalidInput, ModelError
from oldfriend.domain.setting_parsers import redact_url
from oldfriend.presenters.base_schema import format_count, format_money
from oldfriend.presenters.usage_schemas import format_allowance
from oldfriend.replay.replay_run import ReplayEstimate, estimate_replay, run_replay
from oldfriend.replay.replay_types import RULES_MODEL, ReplayRequest, ReplayResult
from oldfriend.runtime.wiring import open_app, open_database
from oldfriend.usage.costs import MICRODOLLARS, SpendCap

RESUME_HINT: Final = "What has been done is kept. To continue, run the same command again."
UNKNOWN_PRICE: Final = (
    "The price of {model} is unknown, so --limit-usd cannot be applied. Use --limit-tokens."
)


async def run(options: argparse.Namespace) -> int:
    """Show the estimate, ask, and replay into the target. Raises InvalidInput."""
    settings = with_model(load_settings_from_options(options), options.model)
    target = to_database_url(options.into)
    if is_same_database(settings.database, target):
        raise InvalidInput(
            "--into names the memory that is to be replayed. Name an empty database instead."
        )
    source = await open_database(settings.database, create=False)
    try:
        request = await build_request(source, options)
        if not await confirm_replay(source, settings, request, options):
            print("Nothing was read.")
            return 1
        target_settings = replace(settings, database=target)
        result = await run_and_report(source, target_settings, request)
    finally:
        await source.close()
    if options.json:
        print(json.dumps(asdict(result)))
    else:
        print(format_result(result, settings.database, target))
    return 1 if result.failed else 0


def with_model(settings: Settings, model: str | None) -> Settings:
    """Return the settings with the model to extract with. Raises InvalidInput."""
    if model is None:
        return settings
    if model == RULES_MODEL:
        return replace(settings, models=ModelSettings())
    if ":" not in model:
        raise InvalidInput(
            f"{model!r} is not a model. Write it as PROVIDER:NAME, or use: {RULES_MODEL}"
        )
    return replace(settings, models=replace(settings.models, small=(model,), reflect=(model,)))


async def build_request(source: Database, options: argparse.Namespace) -> ReplayRequest:
    """Build the replay request. Raises NotFound, InvalidInput."""
    name = get_person_option(options)
    async with source.begin_read() as tx:
        person = None if name is None else await get_person_by_name(tx, name)
    since = None
    if options.since is not None:
        zone = "UTC" if person is None else person.zone
        since = parse_as_of(f"{options.since}T00:00", zone, now=system_clock())
    usd, tokens = options.limit_usd, options.limit_tokens
    limit = None
    if usd is not None or tokens is not None:
        limit = SpendCap(cost=None if usd is None else round(usd * MICRODOLLARS), tokens=tokens)
    return ReplayRequest(
        model=options.model or "",
        since=since,
        limit=limit,
        person=None if person is None else person.id,
    )


async def confirm_replay(
    source: Database, settings: Settings, replay_request: ReplayRequest, options: argparse.Namespace
) -> bool:
    """Show the estimate; return whether the user agrees, asking only if it may cost something."""
    model = next(iter(settings.models.for_role("small")), None)
    async with source.begin_read() as tx:
        estimate = await estimate_replay(tx, settings, replay_request, model=model)
        background, _ = await load_allowances(tx, settings, now=system_clock())
    if not options.json:
        print("\n".join(format_estimate(estimate, model)))
    if estimate.cost == 0:
        return True
    if estimate.cost is None and has_only_money_limit(replay_request.limit):
        raise InvalidInput(UNKNOWN_PRICE.format(model=model))
    if not options.json:
        print(format_limit(replay_request.limit) or format_allowance(background))
    return confirm(options, "Let the model read it?")


def has_only_money_limit(limit: SpendCap | None) -> bool:
    """Tell whether a limit cannot hold when the price is unknown."""
    return limit is not None and limit.cost is not None and limit.tokens is None


def format_estimate(expected: ReplayEstimate, model: str | None) -> list[str]:
    """Format what a replay takes."""
    lines = [
        f"{format_count(expected.segments, *SEGMENT_NOUN)} would be read again: "
        f"{format_count(expected.words, 'word')}. Kept as you decided: "
        f"{format_count(expected.decisions, 'decision')}."
    ]
    if expected.tokens:
        lines.append(
            f"{model} would read {expected.by_model:,} of "
            f"them{f', and think {expected.reflections:,} times' * bool(expected.reflections)}: "
            f"at most {expected.tokens:,} tokens, {format_price(expected.cost)}. It has given "
            f"{format_count(expected.cached_responses, 'answer')} before; the same request is not "
            "paid for twice."
        )
    else:
        lines.append("Rules will read them: no model is asked, and nothing leaves this machine.")
    if expected.unread:
        lines.append(
            "Not read here yet, and so not read there: "
            f"{format_count(expected.unread, 'message')}. To read them first: oldfriend "
            "consolidate --now"
        )
    return lines


def format_price(cost: int | None) -> str:
    """Format an estimated cost, which may be unknown."""
    if cost is None:
        return "price unknown"
    return f"about {format_money(cost)}" if cost else "free of charge"


def format_limit(limit: SpendCap | None) -> str:
    """Format the limit of the whole replay, if there is one."""
    if limit is None:
        return ""
    parts = [] if limit.cost is None else [format_money(limit.cost)]
    parts += [] if limit.tokens is None else [f"{limit.tokens:,} tokens"]
    return f"It stops at {' or '.join(parts)}."


async def run_and_report(
    source: Database, settings: Settings, replay_request: ReplayRequest
) -> ReplayResult:
    """Run the replay with progress; if it stops, say that it can be resumed."""
    line = StatusLine()

    def show(done: int, total: int) -> None:
        line.show(f"Deriving again: {done:,} of {total:,}")

    try:
        async with open_app(settings) as app:
            return await run_replay(source, app, replay_request, on_progress=show)
    except (AllowanceUsedUp, ModelError) as error:
        raise type(error)(f"{error} {RESUME_HINT}") from error
    except asyncio.CancelledError:
        line.clear()
        print(RESUME_HINT)
        raise
    finally:
        line.clear()


def format_result(result: ReplayResult, source: str, target: str) -> str:
    """Format the result of a replay."""
    lines = [
        f"{format_count(result.read, *SEGMENT_NOUN)} read, "
        f"{format_count(result.upheld, 'decision')} applied again; "
        f"{format_count(result.asked, 'question')} asked of a model, {result.reused:,} answered "
        "from stored answers."
    ]
    if result.failed:
        lines.append(f"{format_count(result.failed, *SEGMENT_NOUN)} could not be read.")
    lines += [f"Could not be applied there: {each}" for each in result.lost]
    lines.append(
        f"The result is in {redact_url(target)}. To see what is believed differently:\n"
        f"  oldfriend diff {redact_url(source)} {redact_url(target)}"
    )
    return "\n".join(lines)
