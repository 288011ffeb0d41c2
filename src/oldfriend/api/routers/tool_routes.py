"""Tool routes: the tools with their use, and the trail of what was done for the person."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.cursors import CursorParam, decode_numbers, encode_values
from oldfriend.app.audit_trail import (
    AuditFilter,
    AuditKind,
    AuditPosition,
    AuditStatus,
    list_audit_trail,
)
from oldfriend.app.recorded_models import list_tool_specs
from oldfriend.memory.limitation_store import list_limitations
from oldfriend.presenters.tool_schemas import (
    AuditPageSchema,
    AuditRecordSchema,
    LimitationSchema,
    ProgramQuestionSchema,
    ToolOverviewSchema,
    ToolSchema,
    ToolUseSchema,
)
from oldfriend.turn.tools.tool_words import load_tool_words
from oldfriend.usage.program_questions import get_question
from oldfriend.usage.tool_log import list_tool_uses, sum_tool_uses

MAX_LISTED: Final = 200

router = APIRouter(tags=["tools"])

Limit = Annotated[int, Query(ge=1, le=MAX_LISTED, description="How many at most.")]

Language = Annotated[
    str | None,
    Query(max_length=20, description="The language of labels, such as de; else the person's."),
]


@router.get("/tools", summary="List the tools with their use")
async def list_tools(
    me: CurrentUser, hub: HubDep, limit: Limit = 20, language: Language = None
) -> ToolOverviewSchema:
    """Return the tools that are switched on, the last uses of any, and what is not possible yet."""
    words, zone = load_tool_words(language or me.person.language or ""), me.person.zone
    async with hub.app.db.begin_read() as tx:
        totals = await sum_tool_uses(tx, me.person.id)
        recent = await list_tool_uses(tx, me.person.id, limit=limit)
        noted = await list_limitations(tx, me.person.id)
    return ToolOverviewSchema(
        tools=tuple(
            ToolSchema.from_domain(each, totals.get(each.name), words, zone)
            for each in list_tool_specs(hub.app)
        ),
        recent=tuple(ToolUseSchema.from_domain(each, words, zone) for each in recent),
        limitations=tuple(LimitationSchema.from_domain(e, zone) for e in noted if e.is_open),
    )


@router.get("/audit", summary="List what was done for you")
async def list_audit(
    me: CurrentUser,
    hub: HubDep,
    limit: Limit = 50,
    kind: Annotated[AuditKind | None, Query(description="Only records of this kind.")] = None,
    status: Annotated[AuditStatus | None, Query(description="Only those that ended so.")] = None,
    cursor: CursorParam = None,
    language: Language = None,
) -> AuditPageSchema:
    """Return model calls, tools, deletions, imports, merges and unasked words, newest first.

    What failed and what was not allowed is among them; who was not let in, for the owner alone.
    """
    after = None if cursor is None else AuditPosition(*decode_numbers(cursor, 2))
    wanted = AuditFilter(kind=kind, status=status)
    async with hub.app.db.begin_read() as tx:
        trail, end = await list_audit_trail(
            tx, me.person.id, limit=limit, wanted=wanted, after=after
        )
    words = load_tool_words(language or me.person.language or "")
    return AuditPageSchema(
        items=tuple(AuditRecordSchema.from_domain(each, me.person.zone, words) for each in trail),
        next=None if end is None else encode_values([end.at, end.shown]),
    )


@router.get("/audit/questions/{question}", summary="Show what a program asked and was given")
async def show_question(question: str, me: CurrentUser, hub: HubDep) -> ProgramQuestionSchema:
    """Return a program's question with the messages and beliefs that it was given."""
    async with hub.app.db.begin_read() as tx:
        found = await get_question(tx, me.person.id, question)
        return await ProgramQuestionSchema.load(tx, me.person, found)
