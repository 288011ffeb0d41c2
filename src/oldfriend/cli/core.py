"""oldfriend core: shows and edits the core blocks (persona, user, style)."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.spend_limits import load_allowances
from oldfriend.cli.open_context import (
    confirm,
    is_interactive,
    open_from_options,
    resolve_chat_person,
)
from oldfriend.cli.output import StatusLine, ask, dumps, format_table
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, from_micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.messages import Person, estimate_tokens
from oldfriend.inbound.accept import open_local_chat
from oldfriend.memory.core_blocks import (
    STYLE_ACTIONS,
    BlockName,
    GlobalPersona,
    StyleAction,
    Suggestion,
    diff_lines,
    list_block_versions,
    list_blocks,
    list_persona_versions,
    list_suggestions,
)
from oldfriend.memory.people import get_companion
from oldfriend.persona.core_block_updates import (
    accept_suggestion,
    apply_starting_point,
    decline_suggestion,
    update_style,
    write_core_block,
)
from oldfriend.persona.drafts import (
    RULES_ORIGIN,
    CoreBlockDraft,
    draft_core_blocks,
    estimate_draft_tokens,
)
from oldfriend.persona.profile_names import set_companion_name
from oldfriend.persona.soul_file import SOUL_FILE_NAME
from oldfriend.persona.sources import SourceChunk, load_source_chunks
from oldfriend.presenters.base_schema import format_count, format_money
from oldfriend.presenters.persona_schemas import (
    Version,
    format_suggestion,
    get_block_name,
    get_written_at,
    suggestion_as_json,
    version_as_json,
)
from oldfriend.presenters.usage_schemas import format_allowance
from oldfriend.prompts.starter_personas import StarterPersona, load_starter_personas
from oldfriend.prompts.token_budget import BUDGETS
from oldfriend.runtime.wiring import estimate_cost

RULES_DRAFT_NOTE = (
    "Drafted by plain rules, without a language model, so it is rough and misses much."
)
DECIDE_HELP = """\
Decide: oldfriend core accept ID, accept ID "in other words", or decline ID."""
PENDING_NOTE = "Nothing is written before you decide."
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
        f"{model} would read {format_count(len(pieces), 'piece')}, about "
        f"{tokens_in + tokens_out:,} tokens, {price if cost != 0 else 'free of charge'}. To use "
        "rules instead: --rules",
        file=sys.stderr if options.json else sys.stdout,
    )
    if cost == 0:
        return True
    async with db.begin_read() as tx:
        background, _ = await load_allowances(tx, settings, now=clock())
    print(format_allowance(background), file=sys.stderr if options.json else sys.stdout)
    return confirm(options, "Let it read them?")


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
        " Events and thoughts belong in the memory: oldfriend import FILE"
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
            print(f"{block.name} was written (version {block.version}).")
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
    print(DECIDE_HELP if found else "There are no suggestions.")
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
    note = (
        "It may be drafted again."
        if settled.proposal.is_draft
        else "It will not be suggested again."
    )
    print(f"Declined. {note}")
    return 0


EMPTY_TEXT = "(empty)"
LARGE_PROMPT_FRACTION = 4
"""Divisor of the token budget: a larger share (one fourth) is reported."""
EMPTY_HINT = """\
Nothing is written yet. To say who your companion is:
  oldfriend core persona "You are …"
Likewise, `core user` says who you are, and `core style` how it talks to you.
To begin with a ready-made persona: oldfriend core start"""
OFFLINE_NOTE = (
    "No language model is connected. Without one, the companion only quotes what was said; of "
    "these blocks it uses only `user`, when you ask what it knows about you. To connect one: "
    "oldfriend connect model"
)


async def run(options: argparse.Namespace) -> int:
    """Open the app as the person who chats, and run the chosen action."""
    async with open_from_options(options, create=True) as app:
        chat_context = await open_local_chat(
            app.db,
            app.clock,
            app.settings,
            person=await resolve_chat_person(app.db, options),
            channel="terminal",
        )
        return await ACTIONS[options.action](app, chat_context.person, options)


async def show_blocks(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """Show the global persona, the core blocks, and how many suggestions are pending."""
    async with app.db.begin_read() as tx:
        souls = await list_persona_versions(tx, (await get_companion(tx)).id)
        blocks = await list_blocks(tx, person.id)
        pending_count = len(await list_suggestions(tx, person.id, status="pending"))
    newest: list[Version] = [*souls[-1:], *blocks]
    shown = [each for each in newest if each.text]
    print_versions(shown, options, person)
    if options.json:
        return 0
    if souls and souls[-1].text and not (app.settings.data / SOUL_FILE_NAME).exists():
        print(
            f"{SOUL_FILE_NAME} was deleted, but its last version stays in effect. To end that, "
            "leave an empty file."
        )
    if pending_count:
        print(f"{format_count(pending_count, 'suggestion')} for you: oldfriend core suggestions")
    if shown:
        print_token_share(app, shown)
    else:
        print(EMPTY_HINT)
    return 0


def print_token_share(app: AppContext, versions: Sequence[Version]) -> None:
    """Print a note if the blocks take much of every prompt, or if no model reads them."""
    if not app.models:
        print(OFFLINE_NOTE)
        return
    budget = BUDGETS[app.settings.context.preset]
    tokens = sum(estimate_tokens(each.text) for each in versions)
    if tokens > budget.total // LARGE_PROMPT_FRACTION:
        print(
            f"These words take about {tokens:,} of the {budget.total:,} tokens of every prompt; "
            "the shorter they are, the more the companion can remember at once."
        )


async def show_or_write(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """Show one block, after writing it if there is text."""
    name: BlockName = options.action
    action, text = parse_block_edit(options)
    if action is not None:
        new_text = sys.stdin.read() if text == "-" else text
        if name == "style":
            await update_style(app.db, app.clock, person.id, action, new_text)
        else:
            await write_core_block(app.db, app.clock, person.id, name, new_text)
    async with app.db.begin_read() as tx:
        blocks = [each for each in await list_blocks(tx, person.id) if each.name == name]
    print_versions(blocks, options, person)
    if blocks and not options.json:
        print_token_share(app, blocks)
    elif not options.json:
        print(f"{name}: {EMPTY_TEXT}")
    return 0


def parse_block_edit(options: argparse.Namespace) -> tuple[StyleAction | None, str]:
    """Parse what to do with a block, and the text; None means nothing. Raises InvalidInput."""
    arguments = [each for each in (getattr(options, "how", None), options.text) if each is not None]
    if not arguments:
        return None, ""
    action = next((each for each in STYLE_ACTIONS if each == arguments[0]), None)
    if options.action != "style" or action is None:
        if len(arguments) > 1:
            raise InvalidInput(f"{arguments[0][:40]!r} is not one of: {', '.join(STYLE_ACTIONS)}.")
        return "set", arguments[0]
    return action, "".join(arguments[1:])


async def show_or_set_name(app: AppContext, _: Person, options: argparse.Namespace) -> int:
    """Show the companion's name, after setting it if one was given."""
    if options.name is not None:
        await set_companion_name(app.db, app.clock, app.notifier, options.name)
    async with app.db.begin_read() as tx:
        name = (await get_companion(tx)).name
    print(dumps({"name": name}) if options.json else name)
    return 0


async def show_history(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """Show every version of a block, or of the global persona."""
    print_versions(await load_versions(app.db, person, options), options, person)
    return 0


async def show_diff(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """Show what changed between two versions. Raises NotFound."""
    print_diff(await load_versions(app.db, person, options), options)
    return 0


async def load_versions(
    db: Database, person: Person, options: argparse.Namespace
) -> Sequence[Version]:
    """Load every version of a block, or of the global persona, oldest first."""
    async with db.begin_read() as tx:
        if options.block == "soul":
            return await list_persona_versions(tx, (await get_companion(tx)).id)
        return await list_block_versions(tx, person.id, options.block)


def print_versions(
    versions: Sequence[Version], options: argparse.Namespace, person: Person
) -> None:
    """Print versions."""
    if options.json:
        print(dumps([version_as_json(each, person.zone) for each in versions]))
        return
    for each in versions:
        day = from_micros(get_written_at(each), person.zone).strftime("%Y-%m-%d")
        origin = f", from {SOUL_FILE_NAME}" if isinstance(each, GlobalPersona) else ""
        print(
            f"{get_block_name(each)} (version {each.version}, "
            f"{day}{origin}):\n{each.text or EMPTY_TEXT}\n"
        )


def print_diff(versions: Sequence[Version], options: argparse.Namespace) -> None:
    """Print what changed between two versions. Raises NotFound."""
    by_number = {0: "", **{each.version: each.text for each in versions}}
    new = options.new or max(by_number)
    old = options.old or max((number for number in by_number if number < new), default=0)
    missing = [number for number in (old, new) if number not in by_number]
    if missing or not versions:
        raise NotFound(f"There is no version {missing[0] if missing else 1} of it.")
    lines = [*diff_lines(by_number[old], by_number[new])]
    if options.json:
        print(dumps({"old": old, "new": new, "lines": lines}))
        return
    print(f"{options.block}, from {f'version {old}' if old else 'nothing'} to version {new}:")
    print("\n".join(lines) or "No difference.")


async def start_from_preset(app: AppContext, person: Person, options: argparse.Namespace) -> int:
    """List the starter personas, or apply one; 1 if the user declines. Raises InvalidInput."""
    presets = load_starter_personas()
    if options.name is None:
        print_presets(presets.values(), options)
        return 0
    preset = presets.get(options.name)
    if preset is None:
        raise InvalidInput(f"{options.name[:40]!r} is not one of: {', '.join(presets)}.")
    async with app.db.begin_read() as tx:
        blocks = {each.name: each for each in await list_blocks(tx, person.id)}
    existing = [name for name in ("persona", "style") if name in blocks]
    if existing:
        if not options.json:
            print(
                f"You have already written: {' and '.join(existing)}. They are kept as earlier "
                "versions."
            )
        if not confirm(options, f"Replace them with “{preset.name}”?"):
            print("Nothing was changed.")
            return 1
    written = await apply_starting_point(app.db, app.clock, person.id, preset)
    print_versions(written, options, person)
    if not options.json:
        print_token_share(app, written)
    return 0


def print_presets(presets: Iterable[StarterPersona], options: argparse.Namespace) -> None:
    """Print the starter personas."""
    if options.json:
        rows = [{"name": each.name, "about": each.summary} for each in presets]
        print(dumps(rows))
        return
    print(format_table([(each.name, each.summary) for each in presets], align_right=False))
    print(
        "To begin with one: oldfriend core start NAME. The texts are in English, but a model "
        "answers in your language."
    )


ActionHandler = Callable[[AppContext, Person, argparse.Namespace], Awaitable[int]]

ACTIONS: Final[Mapping[str, ActionHandler]] = MappingProxyType(
    {
        "show": show_blocks,
        "name": show_or_set_name,
        "persona": show_or_write,
        "user": show_or_write,
        "style": show_or_write,
        "history": show_history,
        "diff": show_diff,
        "start": start_from_preset,
        "draft": draft_blocks,
        "suggestions": show_suggestions,
        "accept": accept_and_print,
        "decline": decline_and_print,
    }
)
