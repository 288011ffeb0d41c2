"""Belief routes: listing, search, history and corrections."""

from collections.abc import Awaitable
from dataclasses import replace
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Response

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.cursors import (
    MAX_NUMBER,
    AsOfParam,
    CursorParam,
    LimitParam,
    decode_cursor,
    decode_offset,
    encode_cursor,
    encode_values,
)
from oldfriend.api.etags import IfMatch, map_conflict_to_412, parse_if_match
from oldfriend.api.requests import CorrectionRequest, OtherBeliefRequest, VerdictRequest
from oldfriend.beliefs import correct as correcting
from oldfriend.beliefs.belief_pages import list_belief_page, list_beliefs_by_id, search_belief_ids
from oldfriend.beliefs.queries import BeliefDetails, get_belief, get_history, parse_as_of
from oldfriend.domain.belief_kinds import list_kinds
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import ObjectKind, Status, Subject
from oldfriend.learning.eager_extraction import extract_unread
from oldfriend.learning.reading_jobs import retry_failed_readings
from oldfriend.memory.change_feed import list_latest_entries
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.pagination import BeliefFilter, SortOrder, count_by_kind
from oldfriend.presenters.belief_schemas import BeliefPageSchema, BeliefSchema, format_etag
from oldfriend.presenters.history_schemas import HistorySchema
from oldfriend.presenters.journal_schemas import (
    JournalEntrySchema,
    JournalPageSchema,
    LearnNowSchema,
)
from oldfriend.runtime.learn_now import learn_now

TIMELINE_KINDS: Final = list_kinds(lambda kind: not kind.is_relation)
LEARN_TIMEOUT_S: Final = 10.0
"""Seconds to wait for another process that is extracting already."""

router = APIRouter(tags=["memory"])


@router.get("/learned", summary="List what was learned recently")
async def list_learned_beliefs(
    me: CurrentUser,
    hub: HubDep,
    before: Annotated[
        int | None, Query(ge=1, le=MAX_NUMBER, description="The `earlier` cursor of a page.")
    ] = None,
    limit: LimitParam = 20,
) -> JournalPageSchema:
    """List current beliefs with their evidence, the most recently decided first."""
    async with hub.app.db.begin_read() as tx:
        found = await list_latest_entries(
            tx, me.person.id, kinds=TIMELINE_KINDS, before=before, limit=limit + 1
        )
        evidence = await list_object_evidence(tx, me.person.id, [each.object_id for each in found])
    page = found[:limit]
    return JournalPageSchema(
        items=tuple(
            JournalEntrySchema.from_domain(
                each,
                evidence.get(each.object_id, ()),
                zone=me.person.zone,
                language=me.language,
            )
            for each in page
            if each.after.ended_at is None
        ),
        earlier=str(page[-1].seq) if len(found) > limit else None,
    )


@router.post("/learned/now", summary="Learn from new messages now")
async def learn_from_new_messages(me: CurrentUser, hub: HubDep) -> LearnNowSchema:
    """Read new messages now, and what could not be read before.

    What is learned arrives as events; a repeat reads newer ones only.
    """
    async with hub.app.db.begin_write() as tx:
        await retry_failed_readings(tx, me.person.id, now=hub.app.clock())
    result = await learn_now(hub.app, me.person.id, cut_reason="asked", wait_s=LEARN_TIMEOUT_S)
    hub.app.notifier.notify()
    return LearnNowSchema(read=result.read, waiting=result.waiting)


async def parse_belief_filter(  # noqa: PLR0913 -- each is a query parameter
    me: CurrentUser,
    hub: HubDep,
    kind: Annotated[
        list[ObjectKind] | None, Query(description="Return only beliefs of these kinds.")
    ] = None,
    status: Annotated[
        list[Status] | None,
        Query(description="Return only beliefs with these statuses; summaries have none."),
    ] = None,
    subject: Annotated[Subject | None, Query(description="Whom the belief is about.")] = None,
    tag: Annotated[
        str | None,
        Query(min_length=1, max_length=100, description="Return only beliefs with this tag."),
    ] = None,
    pinned: Annotated[bool, Query(description="Return only pinned beliefs.")] = False,
    ended: Annotated[bool, Query(description="Include beliefs that have ended.")] = False,
    sort: Annotated[
        SortOrder,
        Query(description="The order. Sorted by kind, each kind has an order of its own."),
    ] = "kind",
    as_of: AsOfParam = None,
    said_until: Annotated[
        str | None,
        Query(max_length=40, description="A day: what was said by then, as far as is known now."),
    ] = None,
) -> BeliefFilter:
    """Build the filter from the query parameters. Raises InvalidInput."""
    now = hub.app.clock()
    return BeliefFilter(
        kinds=frozenset[ObjectKind](kind or ()),
        statuses=frozenset[Status](status or ()),
        subject=subject,
        tag=tag,
        is_pinned=pinned,
        with_ended=ended,
        order=sort,
        as_of=None if as_of is None else parse_as_of(as_of, me.person.zone, now=now),
        said_until=None if said_until is None else parse_as_of(said_until, me.person.zone, now=now),
    )


@router.get("/memories", summary="List beliefs, now or as of a day")
async def list_beliefs(
    me: CurrentUser,
    hub: HubDep,
    belief_filter: Annotated[BeliefFilter, Depends(parse_belief_filter)],
    q: Annotated[
        str | None,
        Query(max_length=500, description="Text to search for, by words and by meaning."),
    ] = None,
    cursor: CursorParam = None,
    limit: LimitParam = 50,
) -> BeliefPageSchema:
    """Return a page of beliefs, by kind or, with ``q``, the best matches first.

    What only repeats another belief's words is among that one's `folded`, unless the list is
    narrowed down to a status, a subject or a tag, to pinned beliefs, or includes ended ones.
    """
    if q is not None and q.strip():
        return await list_matches(me, hub, belief_filter, q.strip(), cursor, limit)
    after = None if cursor is None else decode_cursor(cursor)
    if after is None and belief_filter.as_of is None:
        await extract_unread(hub.app, me.person.id)
    async with hub.app.db.begin_read() as tx:
        page = await list_belief_page(tx, me.person.id, belief_filter, after=after, limit=limit)
        counts = await count_by_kind(tx, me.person.id, replace(belief_filter, kinds=frozenset()))
    return build_page(
        page.beliefs,
        belief_filter,
        counts,
        me=me,
        now=hub.app.clock(),
        next_cursor=None if page.next_cursor is None else encode_cursor(page.next_cursor),
    )


async def list_matches(
    me: CurrentUser,
    hub: HubDep,
    belief_filter: BeliefFilter,
    words: str,
    cursor: str | None,
    limit: int,
) -> BeliefPageSchema:
    """List a page of search results, best first."""
    start = 0 if cursor is None else decode_offset(cursor)
    found = await search_belief_ids(hub.app.db, hub.app.embedder, me.person, words, belief_filter)
    page = found.ids[start : start + limit]
    async with hub.app.db.begin_read() as tx:
        beliefs = await list_beliefs_by_id(tx, me.person.id, page, belief_filter)
    is_last = start + limit >= len(found.ids)
    return build_page(
        beliefs,
        belief_filter,
        found.counts,
        me=me,
        now=hub.app.clock(),
        next_cursor=None if is_last else encode_values([start + limit]),
    )


def build_page(
    beliefs: tuple[BeliefDetails, ...],
    belief_filter: BeliefFilter,
    counts: dict[ObjectKind, int],
    *,
    me: CurrentUser,
    now: Micros,
    next_cursor: str | None,
) -> BeliefPageSchema:
    """Build a page with the total count."""
    at = belief_filter.as_of or belief_filter.said_until or now
    total = sum(
        count
        for kind, count in counts.items()
        if not belief_filter.kinds or kind in belief_filter.kinds
    )
    return BeliefPageSchema(
        items=tuple(
            BeliefSchema.from_domain(each, zone=me.person.zone, now=at, language=me.language)
            for each in beliefs
        ),
        total=total,
        kinds=counts,
        next=next_cursor,
    )


@router.get("/memories/{memory}", summary="Show a belief")
async def show_belief(
    memory: str, me: CurrentUser, hub: HubDep, response: Response
) -> BeliefSchema:
    """Return a belief with its evidence for and against. Send its ETag as If-Match to change it."""
    return await load_belief(hub, me, memory, response)


@router.get("/memories/{memory}/history", summary="Show the history of a belief")
async def show_belief_history(memory: str, me: CurrentUser, hub: HubDep) -> HistorySchema:
    """Return every decision about a belief, and about those it replaced or was replaced by."""
    async with hub.app.db.begin_read() as tx:
        history = await get_history(tx, me.person.id, memory)
    return HistorySchema.from_domain(history, zone=me.person.zone)


@router.post("/memories/{memory}/verdict", summary="Confirm, reject, pin or unpin it")
async def set_belief_verdict(
    memory: str,
    judged: VerdictRequest,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BeliefSchema:
    """Apply a verdict and return the belief. Applying it again changes nothing."""
    base, person = parse_if_match(if_match), me.person.id
    decision = correcting.apply_belief_action(
        hub.app.db, hub.app.clock, person, judged.verdict, memory, base=base
    )
    return await apply_decision(decision, hub, me, memory, response)


@router.patch("/memories/{memory}", summary="Correct a belief")
async def edit_belief(
    memory: str,
    corrected: CorrectionRequest,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BeliefSchema:
    """Correct a belief or its due date; all changes apply, or none.

    Return the belief that holds now.
    """
    base, zone = parse_if_match(if_match), me.person.zone
    correction = correcting.Correction(
        text=corrected.text,
        value=corrected.value,
        since=correcting.parse_since(corrected.since, zone),
        due=correcting.parse_due_date(corrected.due, zone),
    )
    with map_conflict_to_412():
        changed = await correcting.correct_belief(
            hub.app.db, hub.app.clock, me.person.id, memory, correction, base=base
        )
    hub.app.notifier.notify()
    return await load_belief(hub, me, changed[0].id if changed else memory, response)


@router.post("/memories/{memory}/merge", summary="Merge two beliefs")
async def merge_belief(
    memory: str,
    other: OtherBeliefRequest,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BeliefSchema:
    """Merge another belief and its evidence into this one. A repeat is refused (422)."""
    base, person = parse_if_match(if_match), me.person.id
    decision = correcting.merge_beliefs(hub.app, person, memory, other.other, base=base)
    return await apply_decision(decision, hub, me, memory, response)


@router.post("/memories/{memory}/separate", summary="Separate two beliefs")
async def split_belief(
    memory: str,
    other: OtherBeliefRequest,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BeliefSchema:
    """Restore a belief that was merged into another, with its own evidence, and return it."""
    base, person = parse_if_match(if_match), me.person.id
    decision = correcting.separate_beliefs(hub.app, person, memory, other.other, base=base)
    return await apply_decision(decision, hub, me, memory, response)


async def apply_decision(
    decision: Awaitable[object],
    hub: ConnectionHub,
    me: CurrentUser,
    memory: str,
    response: Response,
) -> BeliefSchema:
    """Apply a decision and return the belief as it is then. Raises ApiError if it was stale."""
    with map_conflict_to_412():
        await decision
    hub.app.notifier.notify()
    return await load_belief(hub, me, memory, response)


async def load_belief(
    hub: ConnectionHub, me: CurrentUser, memory: str, response: Response
) -> BeliefSchema:
    """Load a belief and set its ETag. Raises NotFound, InvalidInput."""
    async with hub.app.db.begin_read() as tx:
        found = await get_belief(tx, me.person.id, memory)
    if found.base is not None:
        response.headers["ETag"] = format_etag(found.base)
    return BeliefSchema.from_domain(
        found, zone=me.person.zone, now=hub.app.clock(), language=me.language
    )
