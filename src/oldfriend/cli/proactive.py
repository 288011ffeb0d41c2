"""oldfriend proactive: how readily it speaks first, and what it decided to say, and why."""

import argparse
from dataclasses import asdict
from typing import Final

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps, format_table
from oldfriend.domain.clock import from_micros
from oldfriend.presenters.proactive_schemas import (
    REASON_TEXTS,
    ImpulseSchema,
    ProactiveSettingsSchema,
)
from oldfriend.proactive.impulse_store import StoredImpulse, list_impulses
from oldfriend.proactive.proactive_settings import load_proactive_settings

MAX_LISTED: Final = 50


async def run(options: argparse.Namespace) -> int:
    """Print what a person has chosen, and the newest decisions with their reasons."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        settings = await load_proactive_settings(tx, person.id)
        impulses = await list_impulses(tx, person.id, limit=MAX_LISTED)
    shown = ProactiveSettingsSchema.from_domain(settings)
    if options.json:
        items = [asdict(ImpulseSchema.from_domain(each, zone=person.zone)) for each in impulses]
        print(dumps({"settings": asdict(shown), "impulses": items}))
        return 0
    quiet = f"{shown.quiet_begins} to {shown.quiet_ends}"
    print(f"Speaking first: {shown.level}. Quiet: {quiet} ({person.zone}). Digest: {shown.digest}.")
    print(f"Weekly recap: {'on' if shown.recap == 'weekly' else 'off'}.")
    if shown.muted:
        print(f"Not wanted again: {', '.join(shown.muted)}.")
    if not impulses:
        print("Nothing was decided yet.")
        return 0
    print(format_table([format_impulse(each, person.zone) for each in impulses], align_right=False))
    return 0


def format_impulse(stored: StoredImpulse, zone: str) -> tuple[str, str, str, str]:
    """Format an impulse as a row: when it was decided, what it is, what became of it, and why."""
    at, decision = stored.decisions[-1] if stored.decisions else (stored.made_at, None)
    return (
        from_micros(at, zone).strftime("%Y-%m-%d %H:%M"),
        stored.impulse.kind,
        stored.status,
        "" if decision is None else REASON_TEXTS[decision.reason],
    )
