"""Measurement routes: the numbers that a person keeps, as series, and new ones from programs."""

from datetime import date
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.idempotency import IdempotencyDep, OptionalIdempotencyKey
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import MeasurementRequest, MeasurementsRequest
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import new_id
from oldfriend.domain.messages import Person
from oldfriend.measurements.measurement_store import (
    MAX_NAME_CHARS,
    Measurement,
    delete_measurement,
    list_kept_measures,
    list_measurements,
    save_measurements,
)
from oldfriend.measurements.measures import get_measure
from oldfriend.presenters.measurement_schemas import (
    MeasureListSchema,
    MeasurementSchema,
    MeasureSchema,
    SavedMeasurementsSchema,
    SeriesSchema,
)
from oldfriend.proactive.look_planner import plan_next_look

router = APIRouter(prefix="/measurements", tags=["measurements"])
NameParam = Annotated[str, Path(min_length=1, max_length=MAX_NAME_CHARS, examples=["weight"])]
FromParam = Annotated[
    date | None, Query(alias="from", description="The first day.", examples=["2026-03-01"])
]
ToParam = Annotated[
    date | None, Query(alias="to", description="The last day.", examples=["2026-05-31"])
]
MAX_SHOWN: Final = 10_000


@router.get("", summary="List what numbers are kept")
async def list_measures(me: CurrentUser, hub: HubDep) -> MeasureListSchema:
    """Return each measure with its number of values and its newest day."""
    async with hub.app.db.begin_read() as tx:
        kept = await list_kept_measures(tx, me.person.id)
    return MeasureListSchema(items=tuple(map(MeasureSchema.from_domain, kept)))


@router.get("/{name}", summary="Show the values of a measure")
async def show_series(
    name: NameParam,
    me: CurrentUser,
    hub: HubDep,
    first: FromParam = None,
    last: ToParam = None,
) -> SeriesSchema:
    """Return the values of some days with their mean, extremes and slope a week."""
    async with hub.app.db.begin_read() as tx:
        measured = await list_measurements(
            tx, me.person.id, name, first=first or date.min, last=last or date.max
        )
    return SeriesSchema.from_domain(name, measured[-MAX_SHOWN:])


@router.post("", status_code=201, summary="Save numbers")
async def save_series(
    wanted: MeasurementsRequest,
    me: CurrentUser,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> SavedMeasurementsSchema:
    """Save the values of a program, such as a scale; a weight replaces that of its day."""
    app = hub.app
    now = app.clock()

    async def save() -> SavedMeasurementsSchema:
        measured = [build_measurement(each, me.person, now) for each in wanted.items]
        async with app.db.begin_write() as tx:
            await save_measurements(tx, me.person.id, measured, now=now)
            await plan_next_look(tx, me.person.id, now=now)
        app.notifier.notify()
        return SavedMeasurementsSchema(items=tuple(map(MeasurementSchema.from_domain, measured)))

    return await idempotency.run_once(
        me.person.id, idempotency_key, wanted, save, SavedMeasurementsSchema, now=now
    )


@router.delete("/{measurement}", status_code=204, summary="Delete a value")
async def remove_measurement(
    measurement: Annotated[str, Path(max_length=64, description="The id of the value.")],
    me: CurrentUser,
    hub: HubDep,
) -> None:
    """Delete one value. The message in which it was told stays."""
    async with hub.app.db.begin_write() as tx:
        if not await delete_measurement(tx, me.person.id, measurement, now=hub.app.clock()):
            raise ApiError(404, "There is no such value", "There is no such value.")


def build_measurement(wanted: MeasurementRequest, person: Person, now: Micros) -> Measurement:
    """Build the row of a value; without a day it is of today."""
    return Measurement(
        id=new_id(now),
        person=person.id,
        name=wanted.name.strip().casefold(),
        day=wanted.day or from_micros(now, person.zone).date(),
        measured_at=now,
        zone=person.zone,
        value=wanted.value,
        unit=wanted.unit or get_measure(wanted.name).unit,
        second_value=wanted.second_value,
        second_unit=wanted.second_unit,
        origin="api",
    )
