"""oldfriend core: who your companion is, and who you are to it, in your own words."""

import argparse
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from oldfriend.app.accepting import open_line
from oldfriend.app.house import House
from oldfriend.app.persona.approving import restyle, start_from, write
from oldfriend.app.persona.naming import name_companion
from oldfriend.app.persona.soul import FILE
from oldfriend.cli.asking import is_agreed
from oldfriend.cli.columns import counted, in_columns
from oldfriend.cli.core_reviewing import accept_one, decline_one, draft_from, show_suggestions
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_to_talk
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.memory.core_blocks import (
    STYLE_ACTIONS,
    BlockName,
    CoreBlock,
    StyleAction,
    differences,
    list_blocks,
    list_versions,
)
from oldfriend.memory.people import get_companion
from oldfriend.memory.soul import Soul, list_souls
from oldfriend.memory.suggestions import list_suggestions
from oldfriend.prompts.starting import StartingPoint, starting_points
from oldfriend.turn.budget import BUDGETS

EMPTY = "(empty)"
LARGE_SHARE = 4
"""From this part (one fourth) of a prompt on it is said what the words take of it."""
NOTHING_YET = """\
Nothing is written yet. Say who your companion is with:
  oldfriend core persona "You are …"
and who you are (user) and how it talks (style) likewise. Or see: oldfriend core start"""
OFFLINE = (
    "No language model is connected. The companion without one quotes what was said; of all this "
    "it only says back what you wrote about yourself. To change that: oldfriend connect model"
)

Version = CoreBlock | Soul


async def run(options: argparse.Namespace) -> int:
    """Show who is who, or have something decided about it."""
    async with opened(options, create=True) as house:
        line = await open_line(
            house, person=await person_to_talk(house, options), channel="terminal"
        )
        return await ACTIONS[options.action](house, line.person, options)


async def show_all(house: House, person: Person, options: argparse.Namespace) -> int:
    """The soul and the blocks as they read now, and what waits for a decision."""
    async with house.db.reading() as tx:
        souls = await list_souls(tx, (await get_companion(tx)).id)
        blocks = await list_blocks(tx, person.id)
        waiting = len(await list_suggestions(tx, person.id, status="pending"))
    newest: list[Version] = [*souls[-1:], *blocks]
    shown = [each for each in newest if each.text]
    show_versions(shown, options, person)
    if options.json:
        return 0
    if souls and souls[-1].text and not (house.settings.data / FILE).exists():
        print(f"{FILE} is not there any more; what it said still holds. An empty one ends it.")
    if waiting:
        print(f"{counted(waiting, 'suggestion')} for you: oldfriend core suggestions")
    if shown:
        print_weight(house, shown)
    else:
        print(NOTHING_YET)
    return 0


def print_weight(house: House, shown: Sequence[Version]) -> None:
    """Say so where the words take much of every prompt, or where nobody reads them."""
    if not house.models:
        print(OFFLINE)
        return
    budget = BUDGETS[house.settings.context.preset]
    tokens = sum(estimate_tokens(each.text) for each in shown)
    if tokens > budget.total // LARGE_SHARE:
        print(
            f"These words take about {tokens:,} of the {budget.total:,} tokens of every prompt; "
            "the shorter they are, the more the companion can remember at once."
        )


async def show_or_write(house: House, person: Person, options: argparse.Namespace) -> int:
    """One block as it reads now, after writing it where there is something to write."""
    name: BlockName = options.action
    action, text = what_to_write(options)
    if action is not None:
        words = sys.stdin.read() if text == "-" else text
        if name == "style":
            await restyle(house, person.id, action, words)
        else:
            await write(house, person.id, name, words)
    async with house.db.reading() as tx:
        blocks = [each for each in await list_blocks(tx, person.id) if each.name == name]
    show_versions(blocks, options, person)
    if blocks and not options.json:
        print_weight(house, blocks)
    elif not options.json:
        print(f"{name}: {EMPTY}")
    return 0


def what_to_write(options: argparse.Namespace) -> tuple[StyleAction | None, str]:
    """What is to be done with a block, and with which words; None: nothing. Raises InvalidInput."""
    words = [each for each in (getattr(options, "how", None), options.text) if each is not None]
    if not words:
        return None, ""
    action = next((each for each in STYLE_ACTIONS if each == words[0]), None)
    if options.action != "style" or action is None:
        if len(words) > 1:
            raise InvalidInput(f"{words[0][:40]!r} is none of {', '.join(STYLE_ACTIONS)}.")
        return "set", words[0]
    return action, "".join(words[1:])


async def show_or_give_name(house: House, _: Person, options: argparse.Namespace) -> int:
    """What the companion is called, after giving it a name where there is one to give."""
    if options.name is not None:
        await name_companion(house, options.name)
    async with house.db.reading() as tx:
        name = (await get_companion(tx)).name
    print(json.dumps({"name": name}, ensure_ascii=False) if options.json else name)
    return 0


async def show_history(house: House, person: Person, options: argparse.Namespace) -> int:
    """Every version of a block, or of the soul."""
    show_versions(await versions_of(house, person, options), options, person)
    return 0


async def show_diff(house: House, person: Person, options: argparse.Namespace) -> int:
    """What has changed from one version to another. Raises NotFound."""
    show_difference(await versions_of(house, person, options), options)
    return 0


async def versions_of(
    house: House, person: Person, options: argparse.Namespace
) -> Sequence[Version]:
    """Every version of a block, or of the soul, the first one first."""
    async with house.db.reading() as tx:
        if options.block == "soul":
            return await list_souls(tx, (await get_companion(tx)).id)
        return await list_versions(tx, person.id, options.block)


def show_versions(shown: Sequence[Version], options: argparse.Namespace, person: Person) -> None:
    """Print versions."""
    if options.json:
        print(json.dumps([as_json(each, person.zone) for each in shown], ensure_ascii=False))
        return
    for each in shown:
        day = from_micros(moment_of(each), person.zone).strftime("%Y-%m-%d")
        where = f", from {FILE}" if isinstance(each, Soul) else ""
        print(f"{name_of(each)} (version {each.version}, {day}{where}):\n{each.text or EMPTY}\n")


def show_difference(versions: Sequence[Version], options: argparse.Namespace) -> None:
    """Print what has changed between two versions. Raises NotFound."""
    by_number = {0: "", **{each.version: each.text for each in versions}}
    new = options.new or max(by_number)
    old = options.old or max((number for number in by_number if number < new), default=0)
    missing = [number for number in (old, new) if number not in by_number]
    if missing or not versions:
        raise NotFound(f"There is no version {missing[0] if missing else 1} of it.")
    lines = [*differences(by_number[old], by_number[new])]
    if options.json:
        print(json.dumps({"old": old, "new": new, "lines": lines}, ensure_ascii=False))
        return
    print(f"{options.block}, from {f'version {old}' if old else 'nothing'} to version {new}:")
    print("\n".join(lines) or "No difference.")


async def start(house: House, person: Person, options: argparse.Namespace) -> int:
    """List the starting points, or begin with one; 1 where that is not wanted after all."""
    points = starting_points()
    if options.name is None:
        print_points(points.values(), options)
        return 0
    point = points.get(options.name)
    if point is None:
        raise InvalidInput(f"{options.name[:40]!r} is none of {', '.join(points)}.")
    async with house.db.reading() as tx:
        held = {each.name: each for each in await list_blocks(tx, person.id)}
    stands = [name for name in ("persona", "style") if name in held]
    if stands:
        if not options.json:
            print(f"Written already: {' and '.join(stands)}. They stay as earlier versions.")
        if not is_agreed(options, f"Replace them by “{point.name}”?"):
            print("Nothing was changed.")
            return 1
    written = await start_from(house, person.id, point)
    show_versions(written, options, person)
    if not options.json:
        print_weight(house, written)
    return 0


def print_points(points: Iterable[StartingPoint], options: argparse.Namespace) -> None:
    """Print from what one can start."""
    if options.json:
        rows = [{"name": each.name, "about": each.about} for each in points]
        print(json.dumps(rows, ensure_ascii=False))
        return
    print(in_columns([(each.name, each.about) for each in points], right=False))
    print("Begin with one: oldfriend core start NAME. It answers in your language all the same.")


def as_json(each: Version, zone: str) -> dict[str, JsonValue]:
    """A version for a program."""
    return {
        "name": name_of(each), "version": each.version, "text": each.text,
        "written_at": from_micros(moment_of(each), zone).isoformat(),
    }  # fmt: skip


def name_of(each: Version) -> str:
    """What it is a version of."""
    return "soul" if isinstance(each, Soul) else each.name


def moment_of(each: Version) -> Micros:
    """When it was written, or read."""
    return each.read_at if isinstance(each, Soul) else each.written_at


Act = Callable[[House, Person, argparse.Namespace], Awaitable[int]]

ACTIONS: Final[Mapping[str, Act]] = MappingProxyType({
    "show": show_all, "name": show_or_give_name,
    "persona": show_or_write, "user": show_or_write, "style": show_or_write,
    "history": show_history, "diff": show_diff, "start": start, "draft": draft_from,
    "suggestions": show_suggestions, "accept": accept_one, "decline": decline_one,
})  # fmt: skip
