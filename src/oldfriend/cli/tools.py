"""oldfriend tools, audit: lists the tools with their use, and what was done for somebody."""

import argparse
from dataclasses import asdict

from oldfriend.app.audit_trail import list_audit_trail
from oldfriend.app.recorded_models import list_tool_specs
from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps, format_table
from oldfriend.memory.limitation_store import list_limitations
from oldfriend.presenters.tool_schemas import (
    AuditRecordSchema,
    LimitationSchema,
    ToolOverviewSchema,
    ToolSchema,
    ToolUseSchema,
    format_audit_row,
    format_tool_row,
)
from oldfriend.turn.tools.tool_words import load_tool_words
from oldfriend.usage.tool_log import list_tool_uses, sum_tool_uses

RECENT_USES = 20


async def run(options: argparse.Namespace) -> int:
    """Print the tools that are switched on, their last uses, and what is not possible yet."""
    words = load_tool_words("en")
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
            totals = await sum_tool_uses(tx, person.id)
            recent = await list_tool_uses(tx, person.id, limit=RECENT_USES)
            noted = await list_limitations(tx, person.id)
        overview = ToolOverviewSchema(
            tools=tuple(
                ToolSchema.from_domain(each, totals.get(each.name), words, person.zone)
                for each in list_tool_specs(app)
            ),
            recent=tuple(ToolUseSchema.from_domain(each, words, person.zone) for each in recent),
            limitations=tuple(
                LimitationSchema.from_domain(each, person.zone) for each in noted if each.is_open
            ),
        )
    if options.json:
        print(dumps(asdict(overview)))
        return 0
    head = ("tool", "name", "cost", "used", "useful", "last")
    print(format_table([head, *map(format_tool_row, overview.tools)], align_right=False))
    if overview.recent:
        rows = [(each.at, each.label, each.status, each.result) for each in overview.recent]
        print()
        print(format_table([("when", "tool", "ended", "result"), *rows], align_right=False))
    if overview.limitations:
        lacks = [(each.title, each.description, each.plan) for each in overview.limitations]
        print()
        print(format_table([("not possible yet", "what", "plan"), *lacks], align_right=False))
    return 0


async def run_audit(options: argparse.Namespace) -> int:
    """Print what was done for somebody, newest first."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        trail, _ = await list_audit_trail(tx, person.id, limit=options.limit)
    records = [
        AuditRecordSchema.from_domain(each, person.zone, load_tool_words("en")) for each in trail
    ]
    if options.json:
        print(dumps([asdict(each) for each in records]))
    elif not records:
        print("Nothing has been done yet.")
    else:
        head = ("when", "kind", "what", "why", "ended", "cost", "details")
        print(format_table([head, *map(format_audit_row, records)], align_right=False))
    return 0
