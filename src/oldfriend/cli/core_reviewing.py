"""How are drafts and suggestions shown, and decided one by one?"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from oldfriend.app.allowance import allowances
from oldfriend.app.house import House
from oldfriend.app.persona.approving import accept, decline
from oldfriend.app.persona.drafting import Draft, draft, tokens_to_read
from oldfriend.app.persona.material import Piece, pieces_in
from oldfriend.app.persona.plain_rules import BY_RULES
from oldfriend.app.wiring import likely_cost
from oldfriend.cli.asking import is_agreed
from oldfriend.cli.columns import counted, money
from oldfriend.cli.cost import allowance_as_text
from oldfriend.cli.opening import is_at_terminal
from oldfriend.cli.status_line import StatusLine
from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import short
from oldfriend.domain.json import JsonValue
from oldfriend.domain.people import Person
from oldfriend.memory.suggestions import Suggestion, list_suggestions

ROUGH = "Drafted by plain rules, without a language model: it is rough, and much is missed."
HOW = """\
Decide: oldfriend core accept ID, accept ID "in other words", or decline ID."""
LATER = "Nothing is written before that."
QUESTION = "[a]ccept, [d]ecline, or later? "


async def draft_from(house: House, person: Person, options: argparse.Namespace) -> int:
    """Draft blocks from files, and have them reviewed; 1 where that is not wanted after all."""
    paths = [Path(name) for name in options.files]
    pieces = await asyncio.to_thread(pieces_in, paths, me=options.me)
    make = None if options.rules else house.models.get("small")
    if make is not None and not await is_wanted(house, make.name, pieces, options):
        print("Nothing was drafted.")
        return 1
    line = StatusLine()
    try:
        made = await draft(
            house, person, pieces, with_model=make is not None,
            show=lambda done, total: line.show(f"reading {done + 1} of {total} …"),
        )  # fmt: skip
    finally:
        line.clear()
    show_draft(made, options, person)
    if is_at_terminal() and not options.json:
        await review(house, person, made.suggestions)
    return 0


async def is_wanted(
    house: House, model: str, pieces: Sequence[Piece], options: argparse.Namespace
) -> bool:
    """Show what a model would read and what that costs; whether it is agreed to."""
    taken, given = tokens_to_read(pieces)
    cost = likely_cost(house.settings, model, tokens_in=taken, tokens_out=given)
    price = "at an unknown price" if cost is None else f"for about {money(cost)}"
    print(
        f"{model} would read {counted(len(pieces), 'piece')}, about {taken + given:,} tokens, "
        f"{price if cost != 0 else 'for nothing'}. Without it: --rules",
        file=sys.stderr if options.json else sys.stdout,
    )
    if cost == 0:
        return True
    async with house.db.reading() as tx:
        background, _ = await allowances(tx, house.settings, now=house.clock())
    print(allowance_as_text(background), file=sys.stderr if options.json else sys.stdout)
    return is_agreed(options, "Have it read?")


def show_draft(made: Draft, options: argparse.Namespace, person: Person) -> None:
    """Print what was drafted, and what of it belongs elsewhere."""
    if options.json:
        print(json.dumps(
            {"by": made.by, "left_out": dict(made.left_out),
             "suggestions": [as_json(each, person.zone) for each in made.suggestions]},
            ensure_ascii=False,
        ))  # fmt: skip
        return
    for each in made.suggestions:
        print(as_text(each, person.zone), end="\n\n")
    if made.by == BY_RULES:
        print(ROUGH)
    if made.left_out:
        print(left_out_as_text(made.left_out))
    print(f"{HOW} {LATER}" if made.suggestions else "There is nothing to suggest.")


def left_out_as_text(left_out: Mapping[str, int]) -> str:
    """What was found and is in no draft."""
    found = ", ".join(f"{what} ({count})" for what, count in left_out.items())
    hint = (
        " What happened and what was thought belongs to the memory: oldfriend import FILE"
        if left_out.keys() & {"events", "reflections"} else ""
    )  # fmt: skip
    return f"Left out: {found}.{hint}"


async def review(house: House, person: Person, suggestions: Sequence[Suggestion]) -> None:
    """Ask about each, one after the other."""
    for each in suggestions:
        verdict = asked(f"{short(each.id)}, {each.what.block}: {QUESTION}")
        if verdict in {"a", "accept"}:
            _, block = await accept(house, person.id, each.id)
            print(f"{block.name} is written (version {block.version}).")
        elif verdict in {"d", "decline"}:
            await decline(house, person.id, each.id)


def asked(question: str) -> str:
    """What somebody at the terminal answers; nothing where they leave."""
    try:
        return input(question).strip().casefold()
    except EOFError:
        return ""


async def show_suggestions(house: House, person: Person, options: argparse.Namespace) -> int:
    """Print what waits for a decision; with --all also what was decided."""
    async with house.db.reading() as tx:
        found = await list_suggestions(tx, person.id, status=None if options.all else "pending")
    if options.json:
        print(json.dumps([as_json(each, person.zone) for each in found], ensure_ascii=False))
        return 0
    for each in found:
        print(as_text(each, person.zone), end="\n\n")
    print(HOW if found else "Nothing is suggested.")
    return 0


async def accept_one(house: House, person: Person, options: argparse.Namespace) -> int:
    """Let a suggestion stand, perhaps in other words."""
    words = sys.stdin.read() if options.text == "-" else options.text
    settled, block = await accept(house, person.id, options.id, words=words)
    if options.json:
        print(json.dumps(as_json(settled, person.zone), ensure_ascii=False))
        return 0
    print(f"{block.name} (version {block.version}):\n{block.text}")
    return 0


async def decline_one(house: House, person: Person, options: argparse.Namespace) -> int:
    """Let a suggestion be."""
    settled = await decline(house, person.id, options.id)
    if options.json:
        print(json.dumps(as_json(settled, person.zone), ensure_ascii=False))
        return 0
    again = "It may be drafted anew." if settled.what.is_draft else "It does not come again."
    print(f"Declined. {again}")
    return 0


def as_text(each: Suggestion, zone: str) -> str:
    """A suggestion with who makes it and why."""
    what = each.what
    day = from_micros(each.made_at, zone).strftime("%Y-%m-%d")
    verdict = "" if each.status == "pending" else f", {each.status}"
    lines = [f"{short(each.id)}  {what.block}, by {what.author}, {day}{verdict}"]
    lines += [f"  - {line}" for line in what.replaces.splitlines()]
    lines += [f"  + {line}" for line in what.text.splitlines()]
    lines += [f"    {line}" for line in what.reason.splitlines()]
    if what.cites:
        lines.append(f"    because of {', '.join(map(short, what.cites))}")
    return "\n".join(lines)


def as_json(each: Suggestion, zone: str) -> dict[str, JsonValue]:
    """A suggestion for a program."""
    what = each.what
    return {
        "id": each.id, "block": what.block, "text": what.text, "replaces": what.replaces,
        "reason": what.reason, "cites": [*what.cites], "author": what.author,
        "status": each.status, "made_at": from_micros(each.made_at, zone).isoformat(),
        "version": each.version,
    }  # fmt: skip
