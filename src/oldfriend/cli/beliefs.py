"""oldfriend facts, entities, summaries, beliefs, history, thoughts: lists what is believed."""

import argparse
from collections.abc import Iterable, Sequence

from oldfriend.beliefs.queries import (
    BeliefDetails,
    BeliefHistory,
    ThoughtDetails,
    filter_beliefs_about,
    get_history,
    get_transcript,
    list_beliefs,
    list_beliefs_about,
    list_beliefs_at,
    list_conversation_summaries,
    list_entity_beliefs,
    list_thoughts,
    list_transcripts,
    parse_as_of,
)
from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import StoredBelief, Summary
from oldfriend.domain.messages import Person
from oldfriend.learning.eager_extraction import extract_unread
from oldfriend.learning.reflection_scheduler import format_reflection_status, load_reflection_status
from oldfriend.memory.reflection_log import ReflectionRecord
from oldfriend.presenters.belief_schemas import belief_as_json
from oldfriend.presenters.belief_text import format_belief_line, format_belief_lines
from oldfriend.presenters.history_schemas import format_history, history_as_json
from oldfriend.presenters.journal_schemas import format_reflection, reflection_as_json

EMPTY_HINT = "Nothing yet. To read everything that was said: oldfriend consolidate --now"
NO_SUMMARIES_HINT = (
    "There are no summaries: a language model writes them, and none is connected. To connect "
    "one: oldfriend connect model"
)
NO_ENTITIES_HINT = (
    "No names are known yet. Without a language model, names are found only in plain sentences "
    "such as “my sister Nadia lives in Lyon”. A model finds them in any sentence: oldfriend "
    "connect model"
)
EMPTY_AS_OF_HINT = (
    "Nothing was believed then: a belief counts from the day on which it was learned."
)


async def run(options: argparse.Namespace) -> int:
    """Look up beliefs or a history, and print the result."""
    async with open_from_options(options, create=False, maintain_after=True) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
            if options.look == "history":
                print_history(options, person, await get_history(tx, person.id, options.id))
                return 0
        if not has_as_of(options):
            await extract_unread(app, person.id)
        at = resolve_as_of(options, person.zone, now=app.clock())
        async with app.db.begin_read() as tx:
            found = await load_beliefs(tx, person, options, as_of=at)
        if options.json:
            values = [belief_as_json(each, zone=person.zone) for each in found]
            print(dumps(values))
        else:
            lines = format_beliefs(options, found, zone=person.zone, as_of=at)
            print("\n".join(lines) or get_empty_hint(options, app.settings))
    return 0


def get_empty_hint(options: argparse.Namespace, settings: Settings) -> str:
    """Return why nothing is listed."""
    if not settings.models.for_role("small"):
        if options.look == "summaries":
            return NO_SUMMARIES_HINT
        if options.look == "entities":
            return NO_ENTITIES_HINT
    return EMPTY_AS_OF_HINT if has_as_of(options) else EMPTY_HINT


def print_history(options: argparse.Namespace, person: Person, history: BeliefHistory) -> None:
    """Print the journal entries of a belief."""
    if options.json:
        print(dumps(history_as_json(history, zone=person.zone)))
    else:
        print(format_history(history, zone=person.zone))


def resolve_as_of(options: argparse.Namespace, zone: str, *, now: Micros) -> Micros:
    """Return the time at which beliefs are looked at. Raises InvalidInput."""
    return parse_as_of(options.as_of, zone, now=now) if has_as_of(options) else now


def has_as_of(options: argparse.Namespace) -> bool:
    """Tell whether a past state of beliefs was asked for."""
    return options.look == "beliefs" and options.as_of is not None


async def load_beliefs(
    tx: Transaction, person: Person, options: argparse.Namespace, *, as_of: Micros
) -> list[BeliefDetails]:
    """Load the beliefs that were asked for. Raises NotFound, InvalidInput."""
    match options.look:
        case "facts":
            facts = await list_beliefs(tx, person.id, kinds=ATTRIBUTE_KINDS, live=not options.all)
            return facts if options.key is None else filter_by_key(options.key, facts)
        case "entities" if options.name is not None:
            return await list_beliefs_about(tx, person.id, options.name)
        case "entities":
            return await list_entity_beliefs(tx, person.id, live=not options.all)
        case "summaries":
            summaries = await list_conversation_summaries(tx, person.id, active=not options.all)
            return [BeliefDetails(content=each) for each in summaries]
        case _:
            return await load_beliefs_at(tx, person, options, as_of=as_of)


async def load_beliefs_at(
    tx: Transaction, person: Person, options: argparse.Namespace, *, as_of: Micros
) -> list[BeliefDetails]:
    """List what is believed, or was at a time; all of it, or what is about a name."""
    found = await list_beliefs_at(tx, person.id, as_of)
    return (
        found
        if options.about is None
        else await filter_beliefs_about(tx, person.id, options.about, found)
    )


def format_beliefs(
    options: argparse.Namespace, beliefs: Sequence[BeliefDetails], *, zone: str, as_of: Micros
) -> list[str]:
    """Format beliefs as lines: facts sorted by key, all others in the usual way."""
    if options.look != "facts":
        in_order = sorted(beliefs, key=lambda each: isinstance(each.content, Summary))
        return format_belief_lines(in_order, zone=zone, now=as_of)
    in_order = sorted(beliefs, key=get_sort_key)
    return [
        f"{format_belief_line(each.content, zone=zone)}  ({': '.join(get_sort_key(each)[1:])})"
        for each in in_order
    ]


def filter_by_key(key: str, facts: Sequence[BeliefDetails]) -> list[BeliefDetails]:
    """Return the facts under a key. Raises NotFound."""
    wanted = key.casefold()
    found = [each for each in facts if get_sort_key(each)[1].casefold() == wanted]
    if not found:
        known = ", ".join(sorted({get_sort_key(each)[1] for each in facts})) or "none yet"
        raise NotFound(f"No fact or preference has the key {key!r}. Known keys: {known}.")
    return found


def get_sort_key(belief: BeliefDetails) -> tuple[str, str, str]:
    """Return the sort key: facts before preferences, each by key and value."""
    content = belief.content
    return (
        (content.kind, content.key, content.value)
        if isinstance(content, StoredBelief)
        else ("", "", "")
    )


async def run_thoughts(options: argparse.Namespace) -> int:
    """Print thoughts, or transcripts of reflections. Raises InvalidInput."""
    if options.transcripts is not None and (options.about or options.subject or options.all):
        raise InvalidInput("--transcripts can only be combined with --json.")
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        status = format_reflection_status(await load_reflection_status(tx, app, person.id))
        if options.transcripts is None:
            thoughts = await list_thoughts(
                tx,
                person.id,
                subject=options.subject,
                entity_name=options.about,
                live=not options.all,
            )
            print_thoughts(options, person, thoughts, status)
            return 0
        ticks = await list_transcripts(tx, person.id, now=app.clock())
    if options.transcripts:
        print_transcript(options, person, get_transcript(ticks, options.transcripts))
    else:
        print_transcripts(options, person, ticks, status)
    return 0


def print_thoughts(
    options: argparse.Namespace, person: Person, thoughts: Iterable[ThoughtDetails], status: str
) -> None:
    """Print thoughts, each with its sources."""
    if options.json:
        values: list[JsonValue] = [
            belief_as_json(each.thought, zone=person.zone)
            | {
                "made_of": [
                    {"id": source.id, "kind": source.kind, "text": source.text}
                    for source in each.sources
                ]
            }
            for each in thoughts
        ]
        print(dumps(values))
        return
    lines: list[str] = []
    for each in thoughts:
        lines.append(format_belief_line(each.thought.content, zone=person.zone))
        lines += [
            f"    from {format_belief_line(source, zone=person.zone)}" for source in each.sources
        ]
    print("\n".join(lines or ["No thoughts yet.", status]))


def print_transcripts(
    options: argparse.Namespace,
    person: Person,
    transcripts: Iterable[ReflectionRecord],
    status: str,
) -> None:
    """Print every reflection, one per line, newest first."""
    if options.json:
        print(dumps([reflection_as_json(each, person.zone) for each in transcripts]))
        return
    lines = [format_reflection(each, person.zone) for each in transcripts]
    print("\n".join(lines or ["No transcripts. They are kept for 14 days.", status]))


def print_transcript(options: argparse.Namespace, person: Person, tick: ReflectionRecord) -> None:
    """Print the input and output of one reflection."""
    if options.json:
        print(dumps(reflection_as_json(tick, person.zone)))
        return
    assert tick.transcript is not None
    lines = [format_reflection(tick, person.zone), "", "It was shown:"]
    lines += [f"  {each}" for each in tick.transcript.shown]
    for each in tick.transcript.answered:
        lines += ["", "It said:", each]
    print("\n".join(lines))
