"""Oura pull: reads what a ring has measured once a day, as a job, until it is disconnected."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_warning
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, HOUR, Clock, Micros, from_micros, to_micros_with_zone
from oldfriend.domain.errors import FetchFailed, InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.measurements.measurement_store import (
    Measurement,
    delete_measurements_by_id,
    drop_deleted_measurements,
    save_measurements,
)
from oldfriend.measurements.oura_store import (
    OuraConnection,
    delete_connection,
    find_connection,
    list_connected,
    save_connection,
)
from oldfriend.memory.people import get_person_by_id
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.queues.scheduled_jobs import (
    JobSpec,
    delete_partition_jobs,
    list_due_times,
    schedule_job,
)
from oldfriend.transfer.formats.health_days import DayReading
from oldfriend.transfer.oura_client import (
    OuraApplication,
    OuraRefused,
    build_consent_address,
    read_days,
    trade_code,
)
from oldfriend.transfer.oura_connection import (
    find_application,
    get_fresh_tokens,
    get_token_file,
    is_answer_expected,
    new_state,
)
from oldfriend.web.safe_fetch import WebFetcher

OURA_JOB: Final = "oura"
FIRST_DAYS: Final = 365
"""Days that are read at first."""
REREAD_DAYS: Final = 3
"""Days before the last reading that are read again: rings are late, and days are corrected."""
RETRY: Final[Micros] = HOUR
NAMESPACE: Final = uuid.UUID("6f0e2a5e-6d0c-4a5e-9f6e-0a75ad1f7a31")
"""Of the ids of what is read, so that the same value of a day replaces itself."""


def get_oura_partition(person: PersonId) -> str:
    """Return the partition of a person's readings: one at a time."""
    return f"{OURA_JOB}/{person}"


async def begin_consent(
    db: Database, clock: Clock, settings: Settings, person: PersonId, *, redirect: str
) -> str:
    """Return the address at which a person agrees. Raises InvalidInput without an application."""
    application = require_application(settings)
    state = new_state()
    async with db.begin_write() as tx:
        before = await find_connection(tx, person)
        connection = before or OuraConnection(person=person, status="asking", began_at=clock())
        await save_connection(
            tx, replace(connection, state=state, redirect=redirect, began_at=clock())
        )
    return build_consent_address(application, redirect=redirect, state=state)


async def finish_consent(
    app: AppContext, fetcher: WebFetcher, person: PersonId, *, code: str, state: str
) -> OuraConnection:
    """Trade the code for tokens, and read the first days soon. Raises InvalidInput, FetchFailed."""
    application, now = require_application(app.settings), app.clock()
    async with app.db.begin_write() as tx:
        asked = await find_connection(tx, person)
        if asked is None or not is_answer_expected(asked, state, now=now):
            raise InvalidInput(
                localizable(
                    "oura_unexpected",
                    "This consent was not expected, or came too late. Connect again.",
                )
            )
        await save_connection(tx, replace(asked, state=""))  # each answer is taken once
    try:
        tokens = await trade_code(fetcher, application, code, redirect=asked.redirect, now=now)
    except OuraRefused as error:
        text = "Oura did not accept that. Connect again."
        raise InvalidInput(localizable("oura_refused", text)) from error
    await asyncio.to_thread(get_token_file(app.settings, person).save, tokens)
    connected = OuraConnection(
        person=person, status="connected", began_at=now, read_at=asked.read_at
    )
    async with app.db.begin_write() as tx:
        await save_connection(tx, connected)
        await plan_reading(tx, person, now=now, due_at=now)
        await tx.notify()
    return connected


async def disconnect(app: AppContext, person: PersonId) -> bool:
    """Forget tokens and state; what was read stays. Return whether there was a connection."""
    async with app.db.begin_write() as tx:
        get_token_file(app.settings, person).delete()
        return await end_connection(tx, person)


async def end_connection(tx: Transaction, person: PersonId) -> bool:
    """Delete the connection and its jobs; return whether there was one. Its tokens are a file."""
    await delete_partition_jobs(tx, get_oura_partition(person))
    return await delete_connection(tx, person)


def require_application(settings: Settings) -> OuraApplication:
    """Return the application. Raises InvalidInput if the owner has registered none."""
    application = find_application(settings)
    if application is None:
        text = "No Oura application is known here. The owner registers one first."
        raise InvalidInput(localizable("oura_application_missing", text))
    return application


async def plan_oura_jobs(tx: Transaction, *, now: Micros) -> None:
    """Plan the reading of whoever is connected and has none planned."""
    for person in await list_connected(tx):
        if not await list_due_times(tx, OURA_JOB, partition=get_oura_partition(person)):
            await plan_reading(tx, person, now=now, due_at=now)


async def plan_reading(tx: Transaction, person: PersonId, *, now: Micros, due_at: Micros) -> None:
    """Plan a reading, unless one is planned by then."""
    partition = get_oura_partition(person)
    planned = await list_due_times(tx, OURA_JOB, partition=partition)
    if not any(now < at <= due_at for at in planned):
        spec = JobSpec(name=OURA_JOB)
        await schedule_job(tx, partition, spec, person=person, now=now, due_at=due_at)


async def read_oura(app: AppContext, person: PersonId) -> None:
    """Read the days since the last reading, and plan the next one.

    What Oura or the network refuses is kept as the connection's error, for the page to tell.
    """
    async with app.db.begin_read() as tx:
        connection = await find_connection(tx, person)
    if connection is None or connection.status != "connected":
        get_token_file(app.settings, person).delete()
        return
    now = app.clock()
    try:
        days = await fetch_days(app, connection, now=now)
    except OuraRefused as error:
        await end_reading(app, replace(connection, status="refused", error=str(error)))
    except FetchFailed as error:
        log_warning("oura-not-read", reason=error.reason)
        failed = replace(connection, error=str(error))
        await end_reading(app, failed, next_at=now + RETRY)
    else:
        read = replace(connection, read_at=now, error=None)
        await end_reading(app, read, days=days, next_at=now + DAY)


async def fetch_days(
    app: AppContext, connection: OuraConnection, *, now: Micros
) -> dict[date, list[DayReading]]:
    """Return the values of the days that are to be read. Raises OuraRefused, FetchFailed."""
    application = find_application(app.settings)
    file = get_token_file(app.settings, connection.person)
    fetcher = app.web.fetcher
    tokens = None
    if application is not None:
        tokens = await get_fresh_tokens(fetcher, application, file, now=now)
    if tokens is None:
        raise OuraRefused("The key of Oura is not on this machine any more.")
    today = from_micros(now).date()
    first = today - timedelta(days=FIRST_DAYS)
    if connection.read_at is not None:
        first = from_micros(connection.read_at).date() - timedelta(days=REREAD_DAYS)
    return await read_days(fetcher, tokens, first=first, last=today + timedelta(days=1))


async def end_reading(
    app: AppContext,
    connection: OuraConnection,
    *,
    days: Mapping[date, list[DayReading]] | None = None,
    next_at: Micros | None = None,
) -> None:
    """Store what was read with the state of the connection, unless it was ended meanwhile."""
    now = app.clock()
    async with app.db.begin_write() as tx:
        if await find_connection(tx, connection.person) is None:
            get_token_file(app.settings, connection.person).delete()  # renewed meanwhile
            return
        person = await get_person_by_id(tx, connection.person)
        read = build_measurements(person, days or {})
        measured = await drop_deleted_measurements(tx, person.id, read)
        await delete_measurements_by_id(tx, person.id, [each.id for each in measured])
        await save_measurements(tx, person.id, measured, now=now)
        await plan_next_look(tx, person.id, now=now)
        await save_connection(tx, connection)
        if next_at is not None:
            await plan_reading(tx, person.id, now=now, due_at=next_at)


def build_measurements(person: Person, days: Mapping[date, list[DayReading]]) -> list[Measurement]:
    """Build the rows of what was read; the same value of a day has the same id each time."""
    measured: dict[str, Measurement] = {}
    for day, readings in sorted(days.items()):
        at, _ = to_micros_with_zone(datetime.combine(day, time(12)), person.zone)
        for each in readings:
            row_id = str(uuid.uuid5(NAMESPACE, f"{person.id}/{each.name}/{day}"))
            measured[row_id] = Measurement(
                id=row_id,
                person=person.id,
                name=each.name,
                day=day,
                measured_at=at,
                zone=person.zone,
                value=each.value,
                unit=each.unit,
                origin="import",
            )
    return list(measured.values())
