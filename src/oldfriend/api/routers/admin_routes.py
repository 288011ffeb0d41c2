"""Admin routes for the owner: spending, jobs, dead letters and health checks."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from oldfriend.api.auth import HubDep, OwnerUser
from oldfriend.api.cursors import build_cursor_error
from oldfriend.api.problem_json import ApiError
from oldfriend.app.spend_limits import load_allowances
from oldfriend.domain.clock import from_micros, get_start_of_day
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.job_types import QueueName
from oldfriend.memory.people import list_people
from oldfriend.presenters.state_schemas import (
    FindingSchema,
    HealthSchema,
    JobPageSchema,
    JobSchema,
    find_job_key,
)
from oldfriend.presenters.usage_schemas import (
    RemainingBudgetSchema,
    SpendingSchema,
    UsageTotalSchema,
)
from oldfriend.queues.queue import FIRST_POSITION, drop_job, list_jobs, retry_dead_letter
from oldfriend.runtime.health_checks import run_checks
from oldfriend.usage.costs import sum_usage, sum_usage_by, sum_usage_by_day

router = APIRouter(tags=["administration"])


@router.get("/spending", summary="Show spending")
async def show_spending(
    _: OwnerUser,
    hub: HubDep,
    days: Annotated[
        int, Query(ge=1, le=366, description="The number of days to cover, up to today.")
    ] = 30,
) -> SpendingSchema:
    """Return the cost of model calls by purpose, model and day, and what is left for today."""
    app = hub.app
    now, zone = app.clock(), app.settings.zone
    since = get_start_of_day(now, zone, days_back=days - 1)
    async with app.db.begin_read() as tx:
        total = await sum_usage(tx, since)
        purposes = await sum_usage_by(tx, "purpose", since=since)
        models = await sum_usage_by(tx, "model", since=since)
        by_day = await sum_usage_by_day(tx, days, now=now, zone=zone)
        left = await load_allowances(tx, app.settings, now=now)
    return SpendingSchema(
        days=days,
        total=UsageTotalSchema.from_domain("all", total),
        by_purpose=tuple(UsageTotalSchema.from_domain(*each) for each in purposes),
        by_model=tuple(UsageTotalSchema.from_domain(*each) for each in models),
        by_day=tuple(
            UsageTotalSchema.from_domain(from_micros(day, zone).strftime("%Y-%m-%d"), spent)
            for day, spent in by_day
        ),
        left=tuple(RemainingBudgetSchema.from_domain(each) for each in left),
    )


@router.get("/jobs", summary="List waiting and failed jobs")
async def show_jobs(
    me: OwnerUser,
    hub: HubDep,
    failed: Annotated[bool, Query(description="Only failed jobs.")] = True,
    parked: Annotated[
        bool | None, Query(deprecated=True, description="The former name of `failed`.")
    ] = None,
    cursor: Annotated[
        str | None, Query(max_length=400, description="The `next` cursor of the previous page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")] = 50,
) -> JobPageSchema:
    """List everybody's jobs, without their contents."""
    after = FIRST_POSITION if cursor is None else find_job_key(cursor)
    if after is None:
        raise build_cursor_error()
    only_failed = failed if parked is None else parked
    async with hub.app.db.begin_read() as tx:
        found = await list_jobs(tx, is_dead_letter=only_failed, after=after, limit=limit + 1)
        names = {person.id: person.name for person in await list_people(tx)}
    items = [
        JobSchema.from_domain(
            each, names.get(each.person) if each.person else None, zone=me.person.zone
        )
        for each in found[:limit]
    ]
    return JobPageSchema(items=tuple(items), next=items[-1].id if len(found) > limit else None)


@router.post("/jobs/{job}/retry", status_code=204, summary="Retry a job")
async def retry_job(job: str, _: OwnerUser, hub: HubDep) -> Response:
    """Retry a failed job and the jobs that belong to it."""
    queue, partition, seq = decode_job_id(job)
    async with hub.app.db.begin_write() as tx:
        await retry_dead_letter(tx, queue, partition, seq, now=hub.app.clock())
    return Response(status_code=204)


@router.delete("/jobs/{job}", status_code=204, summary="Drop a job")
async def delete_job(job: str, _: OwnerUser, hub: HubDep) -> Response:
    """Drop a job and the jobs that belong to it. The message stays, unanswered."""
    queue, partition, seq = decode_job_id(job)
    async with hub.app.db.begin_write() as tx:
        await drop_job(tx, queue, partition, seq, now=hub.app.clock())
    return Response(status_code=204)


@router.get("/doctor", summary="Run the health checks")
async def run_doctor(_: OwnerUser, hub: HubDep) -> HealthSchema:
    """Check everything, and say what to do about each problem. This may take a while."""
    findings = await run_checks(hub.app)
    return HealthSchema(
        findings=tuple(FindingSchema.from_check(each.text, is_well=each.is_ok) for each in findings)
    )


def decode_job_id(job_id: str) -> tuple[QueueName, str, int]:
    """Decode a job's key. Raises ApiError."""
    found = find_job_key(job_id)
    if found is None:
        raise ApiError(
            404, "There is no such job", localizable("letter_gone", "It may have finished.")
        )
    return found
