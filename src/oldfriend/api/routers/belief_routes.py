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
from oldfriend.api.requests import Corrected, Judged, Other
from oldfriend.beliefs import correct as correcting
from oldfriend.beliefs.belief_pages import list_belief_page, list_beliefs_by_id, search_belief_ids
from oldfriend.beliefs.queries import BeliefDetails, get_belief, get_history, parse_as_of
from oldfriend.domain.belief_kinds import list_kinds
from oldfriend.domain.memories import ObjectKind, Status, Subject
from oldfriend.learning.eager_extraction import extract_unread
from oldfriend.memory.change_feed import list_latest_entries
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.pagination import BeliefFilter, SortOrder, count_by_kind
from oldfriend.presenters.belief_schemas import Beliefs, BeliefShape, format_etag
from oldfriend.presenters.history_schemas import HistoryShape
from oldfriend.presenters.journal_schemas import Decided, Learned, ReadNow
from oldfriend.runtime.learn_now import learn_now

TIMELINE_KINDS: Final = list_kinds(lambda kind: not kind.is_relation)
LEARN_TIMEOUT_S: Final = 10.0
"""Seconds to wait for another process that is extracting already."""

router = APIRouter(tags=["memory"])


@router.get("/learned", summary="What was learned lately")
async def list_learned(
    me: CurrentUser,
    hub: HubDep,
    before: Annotated[
        int | None, Query(ge=1, le=MAX_NUMBER, description="`earlier` of a page.")
    ] = None,
    limit: LimitParam = 20,
) -> Learned:
    """What is believed now, what was decided last first, with its words."""
    async with hub.app.db.begin_read() as tx:
        found = await list_latest_entries(
            tx, me.person.id, kinds=TIMELINE_KINDS, before=before, limit=limit + 1
        )
        evidence = await list_object_evidence(tx, me.person.id, [each.object_id for each in found])
    page = found[:limit]
    return Learned(
        items=tuple(
            Decided.from_domain(each, evidence.get(each.object_id, ()), zone=me.person.zone)
            for each in page
            if each.after.ended_at is None
        ),
        earlier=str(page[-1].seq) if len(found) > limit else None,
    )


@router.post("/learned/now", summary="Read what was said now")
async def read_now(me: CurrentUser, hub: HubDep) -> ReadNow:
    """What is learned comes as events. Repeated, only what was said since is read."""
    result = await learn_now(hub.app, me.person.id, cut_reason="asked", wait_s=LEARN_TIMEOUT_S)
    hub.app.notifier.notify()
    return ReadNow(read=result.read, waiting=result.waiting)


async def parse_belief_filter(  # noqa: PLR0913 -- each is a query parameter
    me: CurrentUser,
    hub: HubDep,
    kind: Annotated[list[ObjectKind] | None, Query(description="Only such.")] = None,
    status: Annotated[list[Status] | None, Query(description="Only such; so no summaries.")] = None,
    subject: Annotated[Subject | None, Query(description="Whom it is about.")] = None,
    tag: Annotated[
        str | None, Query(min_length=1, max_length=100, description="Only what has this tag.")
    ] = None,
    pinned: Annotated[bool, Query(description="Only what is pinned.")] = False,
    ended: Annotated[bool, Query(description="Also what is no longer believed.")] = False,
    sort: Annotated[
        SortOrder, Query(description="In which order; by kind, each in its own.")
    ] = "kind",
    as_of: AsOfParam = None,
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
    )


@router.get("/memories", summary="What is believed, now or on a day")
async def list_all(
    me: CurrentUser,
    hub: HubDep,
    belief_filter: Annotated[BeliefFilter, Depends(parse_belief_filter)],
    q: Annotated[str | None, Query(max_length=500, description="Words, or what they mean.")] = None,
    cursor: CursorParam = None,
    limit: LimitParam = 50,
) -> Beliefs:
    """A page of it, kind by kind; with ``q`` what fits best first."""
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
        zone=me.person.zone,
        next_cursor=None if page.next_cursor is None else encode_cursor(page.next_cursor),
    )


async def list_matches(
    me: CurrentUser,
    hub: HubDep,
    belief_filter: BeliefFilter,
    words: str,
    cursor: str | None,
    limit: int,
) -> Beliefs:
    """List a page of search results, best first."""
    start = 0 if cursor is None else decode_offset(cursor)
    found = await search_belief_ids(hub.app.db, hub.app.embedder, me.person, words, belief_filter)
    page = found.ids[start : start + limit]
    async with hub.app.db.begin_read() as tx:
        beliefs = await list_beliefs_by_id(tx, me.person.id, page, at=belief_filter.as_of)
    is_last = start + limit >= len(found.ids)
    return build_page(
        beliefs,
        belief_filter,
        found.counts,
        zone=me.person.zone,
        next_cursor=None if is_last else encode_values([start + limit]),
    )


def build_page(
    beliefs: tuple[BeliefDetails, ...],
    belief_filter: BeliefFilter,
    counts: dict[ObjectKind, int],
    *,
    zone: str,
    next_cursor: str | None,
) -> Beliefs:
    """Build a page with the total count."""
    total = sum(
        count
        for kind, count in counts.items()
        if not belief_filter.kinds or kind in belief_filter.kinds
    )
    return Beliefs(
        items=tuple(BeliefShape.from_domain(each, zone=zone) for each in beliefs),
        total=total,
        kinds=counts,
        next=next_cursor,
    )


@router.get("/memories/{memory}", summary="One thing that is believed")
async def show(memory: str, me: CurrentUser, hub: HubDep, response: Response) -> BeliefShape:
    """It, how it stands, and the words for and against it; its ETag is for If-Match."""
    return await load_belief(hub, me, memory, response)


@router.get("/memories/{memory}/history", summary="How it came to be believed")
async def show_history(memory: str, me: CurrentUser, hub: HubDep) -> HistoryShape:
    """Every decision about it, and about what it overtook or gave way to."""
    async with hub.app.db.begin_read() as tx:
        history = await get_history(tx, me.person.id, memory)
    return HistoryShape.from_domain(history, zone=me.person.zone)


@router.post("/memories/{memory}/verdict", summary="Confirm, reject, pin or unpin it")
async def judge(
    memory: str,
    judged: Judged,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BeliefShape:
    """Decide about it; how it is then. Decided once more, it is no other."""
    base, person = parse_if_match(if_match), me.person.id
    decision = correcting.apply_belief_action(
        hub.app.db, hub.app.clock, person, judged.verdict, memory, base=base
    )
    return await apply_decision(decision, hub, me, memory, response)


@router.patch("/memories/{memory}", summary="Put it right")
async def put_right(
    memory: str,
    corrected: Corrected,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BeliefShape:
    """Say how it is, or when it is due, all of it or nothing; what is so now."""
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


@router.post("/memories/{memory}/merge", summary="Two that say the same become one")
async def merge(
    memory: str,
    other: Other,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BeliefShape:
    """The other joins it, with its words; it, as it is then. Asked again, it is refused (422)."""
    base, person = parse_if_match(if_match), me.person.id
    decision = correcting.merge_beliefs(hub.app, person, memory, other.other, base=base)
    return await apply_decision(decision, hub, me, memory, response)


@router.post("/memories/{memory}/separate", summary="They are two, and stay so")
async def separate(
    memory: str,
    other: Other,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BeliefShape:
    """One that was merged into the other stands on its own words again; it, as it is then."""
    base, person = parse_if_match(if_match), me.person.id
    decision = correcting.separate_beliefs(hub.app, person, memory, other.other, base=base)
    return await apply_decision(decision, hub, me, memory, response)


async def apply_decision(
    decision: Awaitable[object],
    hub: ConnectionHub,
    me: CurrentUser,
    memory: str,
    response: Response,
) -> BeliefShape:
    """Apply a decision and return the belief as it is then. Raises ApiError if it was stale."""
    with map_conflict_to_412():
        await decision
    hub.app.notifier.notify()
    return await load_belief(hub, me, memory, response)


async def load_belief(
    hub: ConnectionHub, me: CurrentUser, memory: str, response: Response
) -> BeliefShape:
    """Load a belief and set its ETag. Raises NotFound, InvalidInput."""
    async with hub.app.db.begin_read() as tx:
        found = await get_belief(tx, me.person.id, memory)
    if found.base is not None:
        response.headers["ETag"] = format_etag(found.base)
    return BeliefShape.from_domain(found, zone=me.person.zone)
