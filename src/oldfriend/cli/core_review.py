"""Review of drafted core blocks and suggestions."""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from oldfriend.app.app_context import AppContext
from oldfriend.app.spend_limits import load_allowances
from oldfriend.cli.confirm import confirm
from oldfriend.cli.open_context import is_interactive
from oldfriend.cli.output import ask, dumps
from oldfriend.cli.progress import StatusLine
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.people import Person
from oldfriend.memory.core_blocks import Suggestion, list_suggestions
from oldfriend.persona.core_block_updates import accept_suggestion, decline_suggestion
from oldfriend.persona.drafts import (
    RULES_ORIGIN,
    CoreBlockDraft,
    draft_core_blocks,
    estimate_draft_tokens,
)
from oldfriend.persona.sources import SourceChunk, load_source_chunks
from oldfriend.presenters.formatting import format_count, format_money
from oldfriend.presenters.persona import format_suggestion, suggestion_as_json
from oldfriend.presenters.usage import format_allowance
from oldfriend.runtime.wiring import estimate_cost

RULES_DRAFT_NOTE = (
    "Drafted by plain rules, without a language model: it is rough, and much is missed."
)
DECIDE_HELP = """\
Decide: oldfriend core accept ID, accept ID "in other words", or decline ID."""
PENDING_NOTE = "Nothing is written before that."
QUESTION = "[a]ccept, [d]ecline, or later? "


async def draft_blocks(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """Draft blocks from files and have them reviewed; 1 if the user declines."""
    paths = [Path(name) for name in options.files]
    chunks = await asyncio.to_thread(load_source_chunks, paths, me=options.me)
    model = None if options.rules else app.models.get("small")
    if model is not None and not await confirm_drafting(
        app.db, app.clock, app.settings, model.name, chunks, options
    ):
        print("Nothing was drafted.")
        return 1
    line = StatusLine()
    try:
        draft = await draft_core_blocks(
            app,
            person,
            chunks,
            with_model=model is not None,
            on_progress=lambda done, total: line.show(f"reading {done + 1} of {total} …"),
        )
    finally:
        line.clear()
    print_draft(draft, options, person)
    if is_interactive() and not options.json:
        await review_suggestions(app.db, app.clock, person, draft.suggestions)
    return 0


async def confirm_drafting(
    db: Database,
    clock: Clock,
    settings: Settings,
    model: str,
    pieces: Sequence[SourceChunk],
    options: argparse.Namespace,
) -> bool:
    """Show what a model would read and its cost; return whether the user agrees."""
    tokens_in, tokens_out = estimate_draft_tokens(pieces)
    cost = estimate_cost(settings, model, tokens_in=tokens_in, tokens_out=tokens_out)
    price = "at an unknown price" if cost is None else f"for about {format_money(cost)}"
    print(
        f"{model} would read {format_count(len(pieces), 'piece')}, "
        f"about {tokens_in + tokens_out:,} tokens, "
        f"{price if cost != 0 else 'for nothing'}. Without it: --rules",
        file=sys.stderr if options.json else sys.stdout,
    )
    if cost == 0:
        return True
    async with db.begin_read() as tx:
        background, _ = await load_allowances(tx, settings, now=clock())
    print(format_allowance(background), file=sys.stderr if options.json else sys.stdout)
    return confirm(options, "Have it read?")


def print_draft(drafted: CoreBlockDraft, options: argparse.Namespace, person: Person) -> None:
    """Print the draft, and what was left out of it."""
    if options.json:
        print(
            dumps(
                {
                    "by": drafted.author,
                    "left_out": dict(drafted.skipped),
                    "suggestions": [
                        suggestion_as_json(each, person.zone) for each in drafted.suggestions
                    ],
                },
            )
        )
        return
    for each in drafted.suggestions:
        print(format_suggestion(each, person.zone), end="\n\n")
    if drafted.author == RULES_ORIGIN:
        print(RULES_DRAFT_NOTE)
    if drafted.skipped:
        print(format_left_out(drafted.skipped))
    print(
        f"{DECIDE_HELP} {PENDING_NOTE}" if drafted.suggestions else "There is nothing to suggest."
    )


def format_left_out(left_out: Mapping[str, int]) -> str:
    """Format what was found but is in no draft."""
    found = ", ".join(f"{kind} ({count})" for kind, count in left_out.items())
    hint = (
        " What happened and what was thought belongs to the memory: oldfriend import FILE"
        if left_out.keys() & {"events", "reflections"}
        else ""
    )
    return f"Left out: {found}.{hint}"


async def review_suggestions(
    db: Database, clock: Clock, person: Person, suggestions: Sequence[Suggestion]
) -> None:
    """Ask about each suggestion in turn."""
    for each in suggestions:
        verdict = ask_verdict(f"{shorten_id(each.id)}, {each.proposal.block}: {QUESTION}")
        if verdict in {"a", "accept"}:
            _, block = await accept_suggestion(db, clock, person.id, each.id)
            print(f"{block.name} is written (version {block.version}).")
        elif verdict in {"d", "decline"}:
            await decline_suggestion(db, clock, person.id, each.id)


def ask_verdict(question: str) -> str:
    """Ask at the terminal; an empty string at end of input."""
    try:
        return ask(question).strip().casefold()
    except EOFError:
        return ""


async def show_suggestions(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """Print pending suggestions; with --all also decided ones."""
    async with app.db.begin_read() as tx:
        found = await list_suggestions(tx, person.id, status=None if options.all else "pending")
    if options.json:
        print(dumps([suggestion_as_json(each, person.zone) for each in found]))
        return 0
    for each in found:
        print(format_suggestion(each, person.zone), end="\n\n")
    print(DECIDE_HELP if found else "Nothing is suggested.")
    return 0


async def accept_and_print(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """Accept a suggestion, perhaps in other words."""
    edited_text = sys.stdin.read() if options.text == "-" else options.text
    settled, block = await accept_suggestion(
        app.db, app.clock, person.id, options.id, edited_text=edited_text
    )
    if options.json:
        print(dumps(suggestion_as_json(settled, person.zone)))
        return 0
    print(f"{block.name} (version {block.version}):\n{block.text}")
    return 0


async def decline_and_print(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """Decline a suggestion."""
    settled = await decline_suggestion(app.db, app.clock, person.id, options.id)
    if options.json:
        print(dumps(suggestion_as_json(settled, person.zone)))
        return 0
    note = "It may be drafted anew." if settled.proposal.is_draft else "It does not come again."
    print(f"Declined. {note}")
    return 0
