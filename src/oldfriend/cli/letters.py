"""oldfriend letters: what waits or was set aside; try it again, or drop it."""

import argparse
import json
import sys

from oldfriend.app.house import House
from oldfriend.cli.columns import counted, in_columns
from oldfriend.cli.opening import is_at_terminal, opened
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Letter, Queue
from oldfriend.memory.people import list_people
from oldfriend.queues.counting import QUEUES
from oldfriend.queues.lanes import drop_letter, list_letters, retry_letter
from oldfriend.queues.letters import find_letter

MOST_LISTED = 1000
LONGEST_ERROR = 100
HOW = (
    "`oldfriend letters` lists them, `oldfriend letters retry ID` tries one again, "
    "`oldfriend letters drop ID` gives one up."
)

Place = tuple[Queue, str, int]
Names = dict[PersonId | None, str]


async def run(options: argparse.Namespace) -> int:
    """List letters, try one again, or drop one."""
    match options.what:
        case []:
            return await print_letters(options)
        case ["retry", name]:
            return await retry(options, place_named(name))
        case ["drop", name]:
            return await drop(options, place_named(name))
        case ["retry" | "drop" as verb, *more]:
            raise InvalidInput(f"Name one letter to {verb}, not {len(more)}. {HOW}")
        case other:
            words = " ".join(other)[:40]
            raise InvalidInput(f"{words!r} is nothing that can be done with letters. {HOW}")


async def print_letters(options: argparse.Namespace) -> int:
    """Print what waits, without a word of what it says."""
    async with opened(options, create=False) as house:
        now, zone = house.clock(), house.settings.zone
        async with house.db.reading() as tx:
            letters = await list_letters(tx, parked=options.parked, most=MOST_LISTED)
            names: Names = {person.id: person.name for person in await list_people(tx)}
    if options.json:
        rows: list[JsonValue] = [as_json(each, names.get(each.person), zone) for each in letters]
        print(json.dumps(rows, ensure_ascii=False))
        return 0
    if not letters:
        print("Nothing was set aside." if options.parked else "Nothing waits.")
        return 0
    print(in_columns([
        ("letter", "state", "since", "tried", "whose", "last error"),
        *(as_row(each, names.get(each.person, "-"), now, zone) for each in letters),
    ], right=False))  # fmt: skip
    if len(letters) == MOST_LISTED:
        print(f"… only the first {MOST_LISTED:,}.")
    return 0


async def retry(options: argparse.Namespace, place: Place) -> int:
    """Open a parked letter again."""
    async with opened(options, create=False) as house:
        letter = await get_letter(house, place)
        if not letter.is_parked:
            print(f"{name_of(letter)} was not set aside; it is tried without being asked.")
            return 0
        try:
            async with house.db.writing() as tx:
                tried = await retry_letter(tx, *place, now=house.clock())
        except InvalidInput as error:
            return refused(error)
    print(f"{name_of(letter)} waits again{with_others(tried)}.")
    return 0


async def drop(options: argparse.Namespace, place: Place) -> int:
    """Give a letter up, after asking."""
    async with opened(options, create=False) as house:
        letter = await get_letter(house, place)
        if not (options.yes or is_agreed(letter)):
            print("It stays.")
            return 1
        try:
            async with house.db.writing() as tx:
                dropped = await drop_letter(tx, *place, now=house.clock())
        except InvalidInput as error:
            return refused(error)
    print(f"{name_of(letter)} is dropped{with_others(dropped)}.")
    return 0


def refused(error: InvalidInput) -> int:
    """Say why it cannot be done now; the command itself was right."""
    print(f"oldfriend: {error}", file=sys.stderr)
    return 1


def is_agreed(letter: Letter) -> bool:
    """Ask the person at the terminal. Raises InvalidInput where there is none."""
    if not is_at_terminal():
        raise InvalidInput("A letter that is dropped is gone. If you are sure, add --yes.")
    consequences = {
        "inbox": "What was said stays in the memory, but is not answered.",
        "outbox": "The reply stays in the memory, but is not sent.",
        "agenda": "What was to be done is not done.",
    }
    print(f"{name_of(letter)}: {consequences[letter.queue]}")
    try:
        return input("Drop it? [y/N] ").strip().casefold() in {"y", "yes"}
    except EOFError:
        return False


async def get_letter(house: House, place: Place) -> Letter:
    """The letter at a place. Raises NotFound."""
    async with house.db.reading() as tx:
        letter = await find_letter(tx, *place)
    if letter is None:
        raise NotFound("There is no such letter; it may be done by now. See: oldfriend letters")
    return letter


def name_of(letter: Letter) -> str:
    """How a letter is named on the command line."""
    return f"{letter.queue}/{letter.lane}/{letter.seq}"


def place_named(name: str) -> Place:
    """The place that a name means. Raises InvalidInput."""
    queue, _, rest = name.partition("/")
    lane, _, seq = rest.rpartition("/")
    for known in QUEUES:
        if queue == known and lane and seq.isdecimal() and len(seq) < 19:
            return known, lane, int(seq)
    raise InvalidInput(f"{name[:80]!r} is no letter. Name one as `oldfriend letters` does.")


def with_others(letters: tuple[Letter, ...]) -> str:
    """How many more shared its fate."""
    others = len(letters) - 1
    if others <= 0:
        return ""
    part, whole = ("message", "turn") if letters[0].queue == "inbox" else ("part", "reply")
    return f", with {counted(others, f'other {part}')} of its {whole}"


def state_of(letter: Letter, now: Micros, zone: str) -> str:
    """What a letter waits for."""
    if letter.is_parked:
        return "set aside"
    return "waiting" if letter.due_at <= now else f"until {moment(letter.due_at, zone)}"


def moment(at: Micros, zone: str) -> str:
    """A moment to read."""
    return from_micros(at, zone).strftime("%Y-%m-%d %H:%M")


def as_row(letter: Letter, person: str, now: Micros, zone: str) -> tuple[str, ...]:
    """A letter to read."""
    error = " ".join((letter.error or "").split())[:LONGEST_ERROR]
    since, tried = moment(letter.put_at, zone), counted(letter.attempts, "time")
    return (name_of(letter), state_of(letter, now, zone), since, tried, person, error)


def as_json(letter: Letter, person: str | None, zone: str) -> dict[str, JsonValue]:
    """A letter for a program."""
    return {
        "id": name_of(letter), "queue": letter.queue, "person": person,
        "put_at": from_micros(letter.put_at, zone).isoformat(),
        "due_at": from_micros(letter.due_at, zone).isoformat(),
        "attempts": letter.attempts, "is_parked": letter.is_parked, "error": letter.error,
    }  # fmt: skip
