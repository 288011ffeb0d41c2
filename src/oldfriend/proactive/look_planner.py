"""Look planner: when to look next whether there is something to say to a person unasked.

There is one planned look, at the first moment at which an impulse could be said, on the full or the
half hour of the person's clock; none where nothing can. So waiting costs nothing.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.memory.groups import is_group
from oldfriend.memory.people import get_person_by_id
from oldfriend.proactive.impulse_sources import collect_impulses, collect_recaps, load_occasions
from oldfriend.proactive.impulse_store import drop_impulses, list_known_keys
from oldfriend.proactive.person_state import load_person_state
from oldfriend.proactive.policy import ASKED, Impulse, PersonState, decide
from oldfriend.proactive.proactive_settings import (
    ProactiveSettings,
    load_proactive_settings,
    save_proactive_settings,
)
from oldfriend.proactive.quiet_hours import align_to_clock, get_local_time
from oldfriend.proactive.watch_impulses import fire_number_watches
from oldfriend.queues.scheduled_jobs import JobSpec, list_due_times, schedule_job

LOOK_JOB: Final = "proactive"


def build_look_partition(person: PersonId) -> str:
    """Return the partition of a person's looks."""
    return f"{LOOK_JOB}:{person}"


async def plan_next_look(tx: Transaction, person: PersonId, *, now: Micros) -> Micros | None:
    """Plan the next look at what could be said, and return its time; None if nothing could be."""
    settings = await load_proactive_settings(tx, person)
    if await is_group(tx, person):
        return None
    await fire_number_watches(tx, person, now=now)
    known_person = await get_person_by_id(tx, person)
    occasions = await load_occasions(tx, known_person, settings, now=now)
    found = collect_impulses(known_person, settings, occasions, now=now)
    if not found:
        return None
    known = await list_known_keys(tx, person)
    state = await load_person_state(tx, known_person, settings, now=now)
    look_at = find_look_time([each for each in found if each.key not in known], state)
    if look_at is not None:
        await enqueue_look(tx, known_person, now=now, due_at=look_at)
    return look_at


async def apply_settings(
    tx: Transaction, person: PersonId, proactive_settings: ProactiveSettings, *, now: Micros
) -> None:
    """Store what a person has chosen, and plan the next look by it.

    Who orders a recap is told of no week that was over before.
    """
    before = await load_proactive_settings(tx, person)
    await save_proactive_settings(tx, person, proactive_settings, now=now)
    if before.recap == "off" and proactive_settings.recap != "off":
        known_person = await get_person_by_id(tx, person)
        today = get_local_time(now, known_person.zone, days=0, hour=0)
        recaps = collect_recaps(known_person, proactive_settings, now=now)
        over = [each for each in recaps if each.not_before < today and now < each.expires_at]
        await drop_impulses(tx, person, over, "expired", now=now)
    await plan_next_look(tx, person, now=now)


def find_look_time(impulses: Sequence[Impulse], state: PersonState) -> Micros | None:
    """Return when the first of some impulses could be said; None if none can."""
    times = [find_say_time(each, state) for each in impulses]
    return min((at for at in times if at is not None), default=None)


def find_say_time(impulse: Impulse, state: PersonState) -> Micros | None:
    """Return when an impulse could be said; None if never, or not before the person speaks.

    What was asked for outright waits for no full or half hour.
    """
    decision = decide(impulse, state)
    if decision.verdict == "drop" or (decision.verdict == "wait" and decision.until is None):
        return None
    at = max(decision.until or state.now, impulse.not_before)
    at = at if impulse.kind in ASKED else align_to_clock(at, state.zone)
    if state.quiet.contains(at, state.zone):
        at = align_to_clock(state.quiet.get_end(at, state.zone), state.zone)
    return at if at < impulse.expires_at else None


async def enqueue_look(tx: Transaction, person: Person, *, now: Micros, due_at: Micros) -> None:
    """Schedule a look unless one is planned by then."""
    partition = build_look_partition(person.id)
    planned = await list_due_times(tx, LOOK_JOB, partition=partition)
    if not any(now < at <= due_at for at in planned):
        due_at = max(due_at, now + 1)  # the look that is running is over by then
        await schedule_job(
            tx, partition, JobSpec(name=LOOK_JOB), person=person.id, now=now, due_at=due_at
        )
