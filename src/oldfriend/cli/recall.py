"""oldfriend recall, why: finds what answers a question, and prints the receipt of a reply."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.config.settings import Settings
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message, Person
from oldfriend.lang.detection import detect_language
from oldfriend.memory.receipts import find_receipt, find_receipt_by_partial_id
from oldfriend.presenters.belief_sentences import tell_in_terminal
from oldfriend.presenters.hit_schemas import Hit, belief_hit_as_json
from oldfriend.presenters.message_schemas import (
    evidence_as_text,
    format_message,
    format_said_at,
    format_speaker,
)
from oldfriend.presenters.receipt_schemas import MAX_QUOTES, receipt_as_json, receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.search import Reason
from oldfriend.turn.kind_filter import parse_kinds
from oldfriend.turn.later_messages import list_later_by_item
from oldfriend.turn.neighbors import list_neighbors
from oldfriend.turn.reason_texts import format_reasons
from oldfriend.turn.recalled import (
    RecalledBelief,
    RecalledItem,
    RecallQuery,
    SearchDeps,
    get_item_id,
    get_score,
)
from oldfriend.turn.retrieval import recall
from oldfriend.usage.model_calls import CallContext

MIN_SHOWN_SCORE = 0.005
"""Lower scores would be printed as 0.00; JSON output includes them."""


async def run(options: argparse.Namespace) -> int:
    """Search and print the hits."""
    kind_filter = parse_kinds(options.kind or ())
    async with open_from_options(options, create=False, maintain_after=True) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        query = replace(
            build_query(app.clock, app.settings, person, options.query),
            kinds=kind_filter.belief_kinds,
        )
        deps = app.with_asker(CallContext(person=person.id)).search_deps
        recollection = await recall(deps, person, query, limit=options.k)
        shown = kind_filter.select(recollection.ranking)[: options.k]
        later = await list_later_by_item(deps, person, query, shown)
        hits = [
            RecallHit(
                item=each,
                neighbors=await load_neighbors(deps, each) if options.around else (),
                later=later.get(get_item_id(each), ()),
            )
            for each in shown
        ]
        if options.json:
            print(dumps([to_hit_json(hit, person.zone) for hit in hits]))
        else:
            print_hits(
                hits, is_sure=recollection.is_answerable or recollection.is_belief_answerable
            )
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallHit:
    """A recalled item with its neighboring messages, and what probably changed it since."""

    item: RecalledItem
    neighbors: Sequence[Message] = ()
    later: Sequence[Message] = ()


async def load_neighbors(deps: SearchDeps, item: RecalledItem) -> tuple[Message, ...]:
    """Load the messages around a hit; none for a belief, which is shown with its evidence."""
    return () if isinstance(item, RecalledBelief) else await list_neighbors(deps, item.message)


def build_query(clock: Clock, settings: Settings, person: Person, query: str) -> RecallQuery:
    """Build the recall query of a person."""
    language = detect_language(query, fallback=person.language or settings.language or "en")
    return RecallQuery(text=query, language=language, at=clock())


def to_hit_json(hit: RecallHit, zone: str) -> JsonValue:
    """Convert a hit to JSON values."""
    item = hit.item
    if isinstance(item, RecalledBelief):
        return belief_hit_as_json(item, zone, hit.later)
    return Hit.from_recalled(item, hit.neighbors, hit.later).as_json()


def print_hits(hits: Sequence[RecallHit], *, is_sure: bool) -> None:
    """Print the hits, with a warning if none is likely to answer."""
    found = [each for each in hits if get_score(each.item) >= MIN_SHOWN_SCORE]
    if not found:
        print("Nothing found.")
        return
    if not is_sure:
        print("Nothing here seems to answer that. The closest matches are:\n")
    for number, each in enumerate(found, start=1):
        print_hit(number, each)


def print_hit(number: int, hit: RecallHit) -> None:
    """Print one hit: its text, when and where, and why it was found."""
    item = hit.item
    if isinstance(item, RecalledBelief):
        print_belief(number, item)
        print_later(hit.later)
        return
    message = item.message
    print(f"{number:2d}. {format_speaker(message)}: {' '.join(message.text.split())}")
    score, reasons = item.hit.score.value, format_hit_reasons(item.hit.reasons)
    print(f"    {format_said_at(message)} · {message.channel} · {score:.2f} · {reasons}")
    for neighbor in hit.neighbors:
        print(f"      {format_message(neighbor).strip()}")
    print_later(hit.later)


def print_later(later: Sequence[Message]) -> None:
    """Print what probably changed a hit since."""
    for each in later:
        print(f"      said later: {format_message(each).strip()}")


def format_hit_reasons(reasons: tuple[Reason, ...]) -> str:
    """Format why something was found."""
    return ", ".join(format_reasons(reasons)) or "it is close"


def print_belief(number: int, hit: RecalledBelief) -> None:
    """Print a belief: its text, status, why it was found, and its evidence."""
    memory = hit.state.memory
    status = "" if memory.status == "active" else f", {memory.status}"
    print(f"{number:2d}. I believe ({memory.kind}{status}): {tell_in_terminal(memory)}")
    reasons = format_hit_reasons(hit.reasons)
    print(f"    {shorten_id(memory.id)} · {hit.score.value:.2f} · {reasons}")
    for evidence in hit.evidence[-MAX_QUOTES:]:
        print(f"      {evidence_as_text(evidence)}")


async def run_why(options: argparse.Namespace) -> int:
    """Find a receipt and print it. Raises NotFound."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        name = options.reply
        receipt = await (
            find_receipt_by_partial_id(tx, person.id, name) if name else find_receipt(tx, person.id)
        )
        if receipt is None:
            wanted = f"with the id {options.reply}" if options.reply else "yet"
            raise NotFound(f"There is no reply {wanted}. Talk first: oldfriend chat")
        resolved = await resolve_receipt(tx, receipt)
    if options.json:
        print(dumps(receipt_as_json(resolved), indent=2))
    else:
        print(receipt_as_text(resolved))
    return 0
