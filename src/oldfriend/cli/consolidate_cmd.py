"""oldfriend consolidate: extracts beliefs from everything that was said.

Also has a model read what none has read, and sets after how many turns extraction runs
by itself.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.spend_limits import load_allowances
from oldfriend.cli.open_context import confirm, get_selected_person, open_from_options
from oldfriend.cli.output import StatusLine
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.learning.re_extraction import (
    ReextractionPlan,
    count_unlearned_messages,
    format_unlearned_messages,
    plan_reextraction,
    schedule_reextraction,
)
from oldfriend.memory.journal import list_endings
from oldfriend.memory.segments import (
    RANGE_TEXT,
    Segment,
    find_learning_threshold,
    list_segments_read_since,
    save_learning_threshold,
)
from oldfriend.presenters.base_schema import format_count, format_money
from oldfriend.presenters.history_schemas import format_ending, format_segment_line
from oldfriend.presenters.usage_schemas import format_allowance
from oldfriend.runtime.learn_now import (
    LearningResult,
    LearnNowProgress,
    learn_now,
    pause_learning,
    process_due_segments,
    resume_learning,
)
from oldfriend.runtime.maintenance import maintain
from oldfriend.runtime.wiring import estimate_cost

MAX_LISTED: Final = 20
MAX_ENDINGS: Final = 10
SEGMENT_NOUN: Final = ("segment of conversation", "segments of conversation")
DEFAULT_WORD: Final = "default"
NO_MODEL: Final = (
    "No language model is connected, so rules have read everything. To connect one: oldfriend "
    "connect model"
)
NOTHING_TO_REREAD: Final = (
    "A model has read everything that was read before. What is new is read now."
)


async def run(options: argparse.Namespace) -> int:
    """Extract what is pending, pause it, or set the threshold."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            selected = await get_selected_person(tx, options)
        person, began_at = selected.id, app.clock()
        if options.pause:
            pending = await pause_learning(app.db, app.clock, person)
            print(
                f"Paused: {format_count(pending, *SEGMENT_NOUN)} still to be read. To continue: "
                "oldfriend consolidate --resume"
            )
            return 0
        if options.every is not None:
            print(await set_learning_threshold(app.db, app.settings, selected, options.every))
            return 0
        if options.with_model and not await confirm_rereading(app, person, options):
            print("Nothing was read again.")
            return 1
        result = await learn_all(app, person, options)
        await maintain(app, person)
        async with app.db.begin_read() as tx:
            read = await list_segments_read_since(tx, person, began_at)
            lines = [await format_reading(tx, each, zone=selected.zone) for each in read]
            unlearned = 0 if app.models else await count_unlearned_messages(tx, person)
    code = print_result(options, result, lines)
    if unlearned and not options.json:
        print(format_unlearned_messages(selected, unlearned))
    return code


async def format_reading(tx: Transaction, segment: Segment, *, zone: str) -> str:
    """Format a segment that was read, and below it what the reading has ended."""
    endings = await list_endings(tx, segment.person, segment.id, read_at=segment.ended_at)
    lines = [
        format_segment_line(segment, zone=zone),
        *(format_ending(each) for each in endings[:MAX_ENDINGS]),
    ]
    if len(endings) > MAX_ENDINGS:
        left = format_count(len(endings) - MAX_ENDINGS, "more belief", "more beliefs")
        lines.append(f"and {left} that ended")
    return "\n    ".join(lines)


async def set_learning_threshold(
    db: Database, settings: Settings, person: Person, value: str
) -> str:
    """Set after how many turns a person's messages are read; return the value in effect as text.

    An empty value changes nothing. Raises InvalidInput.
    """
    async with db.begin_write() as tx:
        if value:
            await save_learning_threshold(
                tx, person.id, None if value == DEFAULT_WORD else parse_turns(value)
            )
        own = await find_learning_threshold(tx, person.id)
    turns = own or settings.memory.read_every_turns
    source = "as set in oldfriend.toml" if own is None else "as chosen for this person"
    return (
        f"A conversation with {person.name} is read after at most {format_count(turns, 'turn')}, "
        f"{source}."
    )


def parse_turns(text: str) -> int:
    """Parse a number of turns. Raises InvalidInput."""
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"{RANGE_TEXT}, or {DEFAULT_WORD}; not {text!r}.") from None


async def learn_all(
    app: AppContext, person: PersonId, options: argparse.Namespace
) -> LearningResult:
    """Resume, and extract everything that was said; with another option only what is planned."""
    await resume_learning(app.db, app.clock, person)
    line = StatusLine()

    def show(progress: LearnNowProgress) -> None:
        line.show(format_learning_progress(progress))

    try:
        if options.now or not (options.with_model or options.resume):
            return await learn_now(
                app, person, cut_reason="asked", on_progress=show, wait_s=math.inf
            )
        return await process_due_segments(app, person, on_progress=show, wait_s=math.inf)
    finally:
        line.clear()


async def confirm_rereading(app: AppContext, person: PersonId, options: argparse.Namespace) -> bool:
    """Show what a model would re-extract and what it costs; schedule it if the user agrees.

    Raises InvalidInput without a model, or without a terminal to ask at.
    """
    model = app.models.get("small")
    if model is None:
        raise InvalidInput(NO_MODEL)
    plan = await plan_reextraction(app.db, app.settings, person)
    if not plan.segments:
        print(NOTHING_TO_REREAD)
        return True
    print(format_rereading_offer(app.settings, plan, model.name))
    async with app.db.begin_read() as tx:
        background, _ = await load_allowances(tx, app.settings, now=app.clock())
    print(f"{format_allowance(background)} What exceeds it waits until the next day.")
    if not confirm(options, "Let the model read it?"):
        return False
    await schedule_reextraction(app.db, app.clock, app.notifier, plan)
    return True


def format_rereading_offer(settings: Settings, rereading: ReextractionPlan, model: str) -> str:
    """Format what a model would re-extract, and its estimated cost."""
    tokens = rereading.tokens_in + rereading.tokens_out
    cost = estimate_cost(
        settings, model, tokens_in=rereading.tokens_in, tokens_out=rereading.tokens_out
    )
    price = (
        "at an unknown price" if cost is None else f"for about {format_money(cost)}" * bool(cost)
    )
    return (
        f"{model} would read {format_count(len(rereading.segments), *SEGMENT_NOUN)} "
        f"({format_count(rereading.messages, 'message')}), about {tokens:,} tokens"
        f"{f', {price}' if price else ', free of charge'}."
    )


async def print_rereading_offer(app: AppContext, person: PersonId) -> None:
    """Print the offer to re-extract with a model, if one is connected and there is something."""
    model = app.models.get("small")
    plan = await plan_reextraction(app.db, app.settings, person)
    if model is not None and plan.segments:
        print(
            format_rereading_offer(app.settings, plan, model.name),
            "To let it: oldfriend consolidate --with-model",
        )


def print_result(
    options: argparse.Namespace, result: LearningResult, segments: Sequence[str]
) -> int:
    """Print the result and the segments read; return 1 if some could not be read."""
    if options.json:
        print(json.dumps(asdict(result)))
    else:
        print(format_learning_result(result))
        print(
            *(f"  {line}" for line in segments[-MAX_LISTED:]), sep="\n", end="\n" * bool(segments)
        )
        if len(segments) > MAX_LISTED:
            print(f"  and {format_count(len(segments) - MAX_LISTED, 'earlier one')}")
    return 1 if result.failed else 0


def format_learning_result(result: LearningResult) -> str:
    """Format the result of a learning run."""
    parts = [
        f"{format_count(result.read, *SEGMENT_NOUN)} {'was' if result.read == 1 else 'were'} read"
    ]
    if result.waiting:
        parts.append(f"{result.waiting:,} still waiting")
    if result.failed:
        parts.append(f"{result.failed:,} could not be read (see: oldfriend doctor)")
    return f"{', '.join(parts)}."


def format_learning_progress(progress: LearnNowProgress) -> str:
    """Format the progress of extraction."""
    return f"Reading your chats: {progress.done:,} of {progress.total:,}"
