"""oldfriend forget: previews, confirms, performs and proves a deletion."""

import argparse

from oldfriend.cli.open_context import (
    ask_yes_no,
    get_selected_person,
    is_interactive,
    open_from_options,
)
from oldfriend.cli.output import dumps
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.forgetting.delete import forget, parse_span, preview_forget
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.presenters.deletion_schemas import preview_as_json, report_as_json
from oldfriend.presenters.deletion_text import is_empty_plan, preview_as_text, report_as_text

NOT_DONE = 1
NO_SELECTION = (
    "Say what to forget: ids of messages or beliefs, --about NAME, --between DATE DATE, --import "
    "NUMBER, or --everything."
)


async def run(options: argparse.Namespace) -> int:
    """Preview, confirm and perform a deletion, then report whether it is proved.

    With --json and without --yes it only previews, because a program cannot be asked.
    """
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        request = build_request(options, person.zone)
        preview = await preview_forget(app.db, person.id, request, orphan=options.orphan)
        if options.dry_run or not (options.json and options.yes):
            print_result(options, preview_as_json(preview), preview_as_text(preview))
        if options.dry_run:
            return 0
        if options.json and not options.yes:
            return NOT_DONE
        if is_empty_plan(preview.plan) or not (options.yes or confirm_deletion()):
            if not options.json:
                print("Nothing was forgotten.")
            return NOT_DONE
        report = await forget(app, person.id, request, orphan=options.orphan)
        text = report_as_text(report, has_files=bool(app.db.list_files()))
        print_result(options, report_as_json(report), text)
    return 0 if report.is_proved else 1


def print_result(options: argparse.Namespace, values: JsonValue, text: str) -> None:
    """Print as JSON or as text."""
    print(dumps(values) if options.json else text)


def build_request(options: argparse.Namespace, zone: str) -> DeletionRequest:
    """Build a deletion request. Raises InvalidInput if nothing is selected."""
    since, until = (None, None)
    if options.between:
        first, last = (text.strip() for text in options.between)
        since, until = parse_span(first, last, zone)
    request = DeletionRequest(
        ids=tuple(options.ids),
        about=options.about,
        since=since,
        until=until,
        batch=options.batch,
        everything=options.everything,
    )
    if request == DeletionRequest():
        raise InvalidInput(NO_SELECTION)
    return request


def confirm_deletion() -> bool:
    """Ask the user at the terminal. Raises InvalidInput without one."""
    if not is_interactive():
        raise InvalidInput(
            "Forgetting cannot be undone. To see first what would go, use --dry-run. If you are "
            "sure, add --yes."
        )
    return ask_yes_no("Forget all of this for good? [y/N] ")
