"""oldfriend memory: lists, searches and corrects beliefs."""

import argparse
import json

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.beliefs.correct import (
    Correction,
    apply_belief_action,
    correct_belief,
    merge_beliefs,
    merge_duplicates,
    parse_due_date,
    parse_since,
    separate_beliefs,
)
from oldfriend.beliefs.queries import (
    BeliefDetails,
    get_belief,
    list_beliefs,
    list_unconfirmed,
    search_beliefs,
)
from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.memories import JournalObject
from oldfriend.domain.messages import Person
from oldfriend.learning.eager_extraction import extract_unread
from oldfriend.learning.merge_duplicates import MergeResult
from oldfriend.presenters.base_schema import format_count
from oldfriend.presenters.belief_schemas import belief_as_json, content_as_json
from oldfriend.presenters.belief_text import format_belief, format_belief_line, format_belief_lines
from oldfriend.presenters.message_schemas import evidence_as_text

MAX_FOUND = 20
UNCONFIRMED_HINT = (
    "If it is true: oldfriend memory confirm ID. If not: oldfriend memory reject ID. Until then it "
    "is not believed."
)
NOTHING_UNCONFIRMED_HINT = "Nothing is waiting for your word."
EMPTY_HINT = "Nothing yet. To see how much is still to be read: oldfriend stats"
NO_MATCH_HINT = "No belief matches that. To search the messages, too: oldfriend recall WORDS"


async def run(options: argparse.Namespace) -> int:
    """Look beliefs up, or correct them."""
    async with open_from_options(options, create=False, maintain_after=True) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        match options.action:
            case "list":
                await extract_unread(app, person.id)
                found = await load_beliefs(app.db, person, options)
                print_beliefs(options, person, found, now=app.clock())
            case "unconfirmed":
                async with app.db.begin_read() as tx:
                    print_unconfirmed(options, person, await list_unconfirmed(tx, person.id))
            case "search":
                query = " ".join(options.words)
                found = await search_beliefs(
                    app.db, app.embedder, person, query, live=not options.all
                )
                print_beliefs(
                    options, person, found[:MAX_FOUND], now=app.clock(), empty_hint=NO_MATCH_HINT
                )
            case "show":
                async with app.db.begin_read() as tx:
                    found_one = await get_belief(tx, person.id, options.id)
                print_belief(options, person, found_one, now=app.clock())
            case "merge" if options.duplicates or options.dry_run:
                print_merged(
                    options, person, await merge_duplicates(app, person.id, dry_run=options.dry_run)
                )
            case _:
                print_outcome(options, person, await apply_correction(app, person, options))
                async with app.db.begin_write() as tx:
                    await plan_embedding(tx, now=app.clock())
    return 0


async def load_beliefs(
    db: Database, person: Person, options: argparse.Namespace
) -> list[BeliefDetails]:
    """Load beliefs, of one kind or of all."""
    kinds = [options.kind] if options.kind else []
    async with db.begin_read() as tx:
        return await list_beliefs(tx, person.id, kinds=kinds, live=not options.all)


async def apply_correction(
    app: AppContext, person: Person, options: argparse.Namespace
) -> list[JournalObject]:
    """Apply the person's decision; return the objects that changed. Raises InvalidInput."""
    match options.action:
        case "edit":
            return await edit_belief(app.db, app.clock, person, options)
        case "merge":
            if options.other is None:
                raise InvalidInput(
                    "Give the ids of two beliefs, or find duplicates: oldfriend memory merge "
                    "--duplicates"
                )
            return await merge_beliefs(app, person.id, options.id, options.other)
        case "separate":
            return await separate_beliefs(app, person.id, options.id, options.other)
        case verdict:
            return await apply_belief_action(app.db, app.clock, person.id, verdict, options.id)


async def edit_belief(
    db: Database, clock: Clock, person: Person, options: argparse.Namespace
) -> list[JournalObject]:
    """Correct a belief's text, its due date, or both. Raises InvalidInput."""
    text = " ".join(options.text)
    if not text and (options.due is None or options.value or options.since):
        raise InvalidInput(
            "Give the correct text or date: oldfriend memory edit ID TEXT, or --due WHEN"
        )
    correction = Correction(
        text=text or None,
        value=options.value,
        since=parse_since(options.since, person.zone),
        due=parse_due_date(options.due, person.zone),
    )
    return await correct_belief(db, clock, person.id, options.id, correction)


def print_beliefs(
    options: argparse.Namespace,
    person: Person,
    found: list[BeliefDetails],
    *,
    now: Micros,
    empty_hint: str = EMPTY_HINT,
) -> None:
    """Print beliefs, one per line, or ``empty_hint`` if there are none."""
    if options.json:
        print(dumps([belief_as_json(each, zone=person.zone, now=now) for each in found]))
        return
    print("\n".join(format_belief_lines(found, zone=person.zone, now=now)) or empty_hint)


def print_belief(
    options: argparse.Namespace, person: Person, belief: BeliefDetails, *, now: Micros
) -> None:
    """Print one belief with its evidence."""
    if options.json:
        print(dumps(belief_as_json(belief, zone=person.zone, now=now)))
    else:
        print(format_belief(belief, zone=person.zone, now=now))


def print_unconfirmed(
    options: argparse.Namespace, person: Person, waiting: list[BeliefDetails]
) -> None:
    """Print what waits for the person's word, each with its quotes."""
    if options.json:
        print(dumps([belief_as_json(each, zone=person.zone) for each in waiting]))
        return
    lines: list[str] = []
    for each in waiting:
        lines.append(format_belief_line(each.content, zone=person.zone))
        lines += [f"    {evidence_as_text(one)}" for one in each.evidence]
    print("\n".join([*lines, UNCONFIRMED_HINT] if lines else [NOTHING_UNCONFIRMED_HINT]))


def print_merged(options: argparse.Namespace, person: Person, result: MergeResult) -> None:
    """Print what was merged and deprecated, or would be."""
    if options.json:
        pairs = [
            {"kept": e.stronger.memory.id, "merged": e.weaker.memory.id} for e in result.merges
        ]
        deprecated = [each.memory.id for each in result.deprecated]
        print(json.dumps({"joined": pairs, "let_go": deprecated, "unclear": result.unclear}))
        return
    lines = [
        f"{format_belief_line(each.weaker.memory, zone=person.zone)}\n"
        f"    joins {format_belief_line(each.stronger.memory, zone=person.zone)}"
        for each in result.merges
    ]
    lines += [
        f"{format_belief_line(each.memory, zone=person.zone)}\n    is dropped: too weak to keep"
        for each in result.deprecated
    ]
    if result.unclear:
        lines.append(
            f"{format_count(result.unclear, 'pair')} may say the same thing. To merge two: "
            "oldfriend memory merge A B"
        )
    if options.dry_run and (result.merges or result.deprecated):
        lines.append("Nothing was changed. To merge them: oldfriend memory merge --duplicates")
    print("\n".join(lines) or "No duplicates were found.")


def print_outcome(
    options: argparse.Namespace, person: Person, changed: list[JournalObject]
) -> None:
    """Print the state after the person's decision."""
    if options.json:
        values = [content_as_json(each, zone=person.zone) for each in changed]
        print(dumps(values))
    else:
        print("\n".join(format_belief_line(each, zone=person.zone) for each in changed))
        if options.action == "merge":
            ids = " ".join(shorten_id(each.id) for each in changed)
            print(f"If they are different after all: oldfriend memory separate {ids}")
