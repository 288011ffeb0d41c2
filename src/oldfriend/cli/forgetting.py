"""oldfriend forget: show what would go, ask, take it away for good, and prove it."""

import argparse
import json

from oldfriend.app.forgetting import forget, preview, span_between
from oldfriend.app.showing_forgetting import (
    is_empty,
    preview_as_json,
    preview_as_text,
    report_as_json,
    report_as_text,
)
from oldfriend.cli.opening import is_at_terminal, opened
from oldfriend.cli.whom import is_yes, person_looked_into
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.memory.forgetting.choosing import Wish

NOT_DONE = 1
NOTHING_NAMED = (
    "Name what is to be forgotten: ids of messages or memories, --about NAME, "
    "--between DATE DATE, --import NUMBER, or --everything."
)


async def run(options: argparse.Namespace) -> int:
    """Show it, ask, forget it, and say whether it is gone.

    A program is not asked: without --yes it is shown what would go, and nothing is done.
    """
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
        wish = wish_from(options, person.zone)
        foreseen = await preview(house, person.id, wish, orphan=options.orphan)
        if options.dry_run or not (options.json and options.yes):
            show(options, preview_as_json(foreseen), preview_as_text(foreseen))
        if options.dry_run:
            return 0
        if options.json and not options.yes:
            return NOT_DONE
        if is_empty(foreseen.foreseen) or not (options.yes or is_agreed()):
            if not options.json:
                print("Nothing was forgotten.")
            return NOT_DONE
        report = await forget(house, person.id, wish, orphan=options.orphan)
        text = report_as_text(report, has_files=bool(house.db.files()))
        show(options, report_as_json(report), text)
    return 0 if report.is_proved else 1


def show(options: argparse.Namespace, values: JsonValue, text: str) -> None:
    """Print it as it was asked for."""
    print(json.dumps(values, ensure_ascii=False) if options.json else text)


def wish_from(options: argparse.Namespace, zone: str) -> Wish:
    """What was typed. Raises InvalidInput where nothing was named."""
    since, until = (None, None)
    if options.between:
        first, last = (text.strip() for text in options.between)
        since, until = span_between(first, last, zone)
    wish = Wish(
        ids=tuple(options.ids), about=options.about, since=since, until=until,
        batch=options.batch, everything=options.everything,
    )  # fmt: skip
    if wish == Wish():
        raise InvalidInput(NOTHING_NAMED)
    return wish


def is_agreed() -> bool:
    """Ask the person at the terminal. Raises InvalidInput where there is none."""
    if not is_at_terminal():
        raise InvalidInput(
            "What is forgotten does not come back. To look at it first: --dry-run. "
            "If you are sure, add --yes."
        )
    return is_yes("Forget all of this for good? [y/N] ")
