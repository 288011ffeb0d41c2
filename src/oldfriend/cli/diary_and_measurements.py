"""oldfriend measurements, diary: shows the numbers that a person keeps, and what they wrote."""

import argparse
from datetime import date

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps, format_table
from oldfriend.diary.diary_search import search_entries
from oldfriend.diary.diary_store import DiaryEntry, DiaryFilter
from oldfriend.measurements.lexicon import get_lexicon
from oldfriend.measurements.measurement_questions import list_names
from oldfriend.measurements.measurement_store import (
    Measurement,
    list_kept_measures,
    list_measurements,
)
from oldfriend.presenters.measurement_schemas import entry_as_json, measurement_as_json
from oldfriend.search import SearchQuery
from oldfriend.turn.request_handlers.measurement_texts import load_measurement_texts

MAX_LINE_CHARS = 100


async def run_measurements(options: argparse.Namespace) -> int:
    """List what is kept, or the values of one measure."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        if options.name is None:
            kept = await list_kept_measures(tx, person.id)
            return print_kept(kept, as_json=options.json)
        names = list_names(get_lexicon("en").split_tokens(options.name))
        measured = await list_measurements(
            tx,
            person.id,
            names[0] if names else options.name.casefold(),
            first=options.since or date.min,
            last=options.until or date.max,
        )
    return print_values(measured, as_json=options.json)


def print_kept(kept: list[tuple[str, int, date]], *, as_json: bool) -> int:
    """Print what is kept."""
    if as_json:
        rows = [{"name": name, "count": count, "last": f"{day}"} for name, count, day in kept]
        print(dumps({"measurements": [*rows]}))
    elif not kept:
        print("No numbers are kept yet.")
    else:
        print(format_table([(name, f"{count}", f"{day}") for name, count, day in kept]))
    return 0


def print_values(measured: list[Measurement], *, as_json: bool) -> int:
    """Print the values of one measure, oldest first."""
    texts = load_measurement_texts("en")
    if as_json:
        print(dumps({"measurements": [measurement_as_json(each) for each in measured]}))
    elif not measured:
        print("No such values are kept.")
    else:
        print(format_table([(f"{each.day}", texts.told(each), each.origin) for each in measured]))
    return 0


async def run_diary(options: argparse.Namespace) -> int:
    """List diary entries, the newest first; with words, those that hold them."""
    wanted = DiaryFilter(
        first=options.since or date.min,
        last=options.until or date.max,
        tags=tuple(options.tag or ()),
    )
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        query = SearchQuery(text=" ".join(options.words), language=person.language or "en")
        hits = await search_entries(
            tx, person.id, query, wanted, app.search_deps.index_cache, limit=options.limit
        )
    entries = [each.entry for each in hits]
    if options.json:
        print(dumps({"entries": [entry_as_json(each) for each in entries]}))
    elif not entries:
        print("There is no such entry.")
    else:
        print("\n\n".join(map(format_entry, entries)))
    return 0


def format_entry(entry: DiaryEntry) -> str:
    """Format an entry with its day, place and tags."""
    about = [entry.place or entry.city, entry.weather, *(f"#{each}" for each in entry.tags)]
    return " · ".join([f"{entry.day}", *filter(None, about)]) + f"\n{entry.text}"
