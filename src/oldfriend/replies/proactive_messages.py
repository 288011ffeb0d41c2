"""Proactive messages: looks at what could be said unasked, and says at most one thing.

The policy decides. What is said, its receipt and the status of its impulse are committed together,
so that a crash between decision and delivery neither loses nor doubles it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.messages import Message, Person
from oldfriend.memory.groups import is_group
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.proactive.impulse_sources import collect_impulses, load_occasions
from oldfriend.proactive.impulse_store import (
    StoredImpulse,
    add_impulses,
    delete_old_impulses,
    list_waiting_impulses,
    record_impulse_decision,
)
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.proactive.person_state import load_person_state
from oldfriend.proactive.policy import Impulse, PersonState, ProactiveDecision, decide
from oldfriend.proactive.proactive_phrases import load_proactive_phrases
from oldfriend.proactive.proactive_settings import load_proactive_settings
from oldfriend.proactive.watch_impulses import fire_number_watches
from oldfriend.replies.proactive_wording import Wording, word_by_model, word_by_phrase
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.usage.model_calls import discard_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a look has found, within a transaction."""

    person: Person
    state: PersonState
    found: tuple[Impulse, ...]  # all open impulses, also those whose time is still to come
    waiting: tuple[StoredImpulse, ...]  # those whose time has come, and that are not settled
    chosen: StoredImpulse | None  # the one that is said


async def look(app: AppContext, person: PersonId) -> Message | None:
    """Decide what could be said to a person, and say the foremost of it; return the message."""
    now = app.clock()
    async with app.db.begin_write() as tx:
        review = await review_impulses(tx, person, now=now)
        plain = None
        if review is not None and review.chosen is not None:
            plain = await word_or_drop(tx, review, review.chosen, now=now)
        if plain is None and review is not None:
            await plan_next_look(tx, person, now=now)
    if review is None or review.chosen is None or plain is None:
        return None
    wording = await word_by_model(app, review.person, review.chosen, plain)
    app.on_crash_point("decided")
    message = await commit_wording(app, review.chosen, wording)
    app.on_crash_point("committed")
    app.notifier.notify()
    return message


async def review_impulses(tx: Transaction, person: PersonId, *, now: Micros) -> Review | None:
    """Store new impulses and what is decided about each; None for a group, which is not written to.

    The one to be said is chosen, but not settled.
    """
    await lock_person(tx, person)
    if await is_group(tx, person):
        return None
    await fire_number_watches(tx, person, now=now)
    review = await load_review(tx, person, now=now)
    await add_impulses(
        tx, person, [each for each in review.found if each.not_before <= now], now=now
    )
    await delete_old_impulses(tx, person, now=now)
    review = await load_review(tx, person, now=now)
    open_keys = {each.key for each in review.found}
    for stored in review.waiting:
        decision = decide(stored.impulse, review.state)
        if stored.impulse.key not in open_keys and decision.verdict != "drop":
            is_over = stored.impulse.expires_at <= now
            decision = ProactiveDecision(verdict="drop", reason="expired" if is_over else "told")
        if decision.verdict != "say":
            await record_impulse_decision(tx, stored, decision, now=now)
    return review


async def load_review(tx: Transaction, person: PersonId, *, now: Micros) -> Review:
    """Load what could be said, and which of it comes first."""
    settings = await load_proactive_settings(tx, person)
    known_person = await get_person_by_id(tx, person)
    occasions = await load_occasions(tx, known_person, settings, now=now)
    found = collect_impulses(known_person, settings, occasions, now=now)
    state = await load_person_state(tx, known_person, settings, now=now)
    waiting = await list_waiting_impulses(tx, person)
    keys = {each.key for each in found}
    sayable = [
        each
        for each in waiting
        if each.impulse.key in keys and decide(each.impulse, state).verdict == "say"
    ]
    chosen = max(sayable, key=lambda each: each.impulse.get_priority(now), default=None)
    return Review(
        person=known_person,
        state=state,
        found=tuple(found),
        waiting=tuple(waiting),
        chosen=chosen,
    )


async def word_or_drop(
    tx: Transaction,
    review: Review,
    stored: StoredImpulse,
    *,
    now: Micros,
    shown: Sequence[str] = (),
) -> Wording | None:
    """Word an impulse by phrases; drop it and return None if what it rests on is gone."""
    wording = await word_by_phrase(tx, review.person, stored, now=now, shown=shown)
    if wording is None:
        gone = ProactiveDecision(verdict="drop", reason="told")
        await record_impulse_decision(tx, stored, gone, now=now)
    return wording


async def commit_wording(
    app: AppContext, stored: StoredImpulse, wording: Wording
) -> Message | None:
    """Say what was worded if it is still to be said, and settle the impulse, in one transaction."""
    person, now = stored.impulse.person, app.clock()
    async with app.db.begin_write() as tx:
        review = await review_impulses(tx, person, now=now)
        message = None
        if review is not None and review.chosen is not None and review.chosen.id == stored.id:
            shown = [each.object for each in wording.items]
            current = await word_or_drop(tx, review, review.chosen, now=now, shown=shown)
            if current is not None and list_versions(current) == list_versions(wording):
                message = await settle(tx, app, review, wording, now=now)
        await discard_answers(tx, person, TurnId(stored.id))
        await plan_next_look(tx, person, now=now)
        app.on_crash_point("committing")
    return message


def list_versions(wording: Wording) -> list[tuple[str, int]]:
    """Return the versions of what a wording rests on; a record of no message is its own."""
    return [
        (each.quote, each.due_at or 0)
        if each.item is None
        else (each.item.object, each.item.version)
        for each in wording.records
    ]


async def settle(
    tx: Transaction, app: AppContext, review: Review, wording: Wording, *, now: Micros
) -> Message | None:
    """Send the chosen impulse, or drop it where a model advised to keep silent."""
    stored = review.chosen
    assert stored is not None
    if not wording.text:
        silent = ProactiveDecision(verdict="drop", reason="no_reply")
        await record_impulse_decision(tx, stored, silent, now=now)
        return None
    message = await send_unprompted(
        tx,
        app,
        review.person.id,
        UnpromptedMessage(
            text=wording.text,
            dedup_key=build_dedup_key(stored.impulse),
            kind=stored.impulse.kind,
            reason=wording.reason,
            language=wording.language,
            items=wording.items,
            records=(*stored.impulse.sources, *(each for each, _ in wording.agenda)),
            is_markdown=wording.is_by_model,
            buttons=(load_proactive_phrases(wording.language).no_more_button,),
        ),
        now=now,
    )
    if message is None:  # sent before: a deletion has taken away only the impulse
        told = ProactiveDecision(verdict="drop", reason="told")
        await record_impulse_decision(tx, stored, told, now=now)
        return None
    decision = decide(stored.impulse, review.state)
    await record_impulse_decision(tx, stored, decision, now=now, message_id=message.id)
    await drop_covered(tx, review, stored.impulse, wording, now=now)
    return message


def build_dedup_key(impulse: Impulse) -> str:
    """Return the key under which an impulse is said once, which names no belief or message.

    The message stays when what it rests on is forgotten, and so does its key.
    """
    return f"impulse/{sha256(impulse.key.encode()).hexdigest()[:32]}"


async def drop_covered(
    tx: Transaction, review: Review, said: Impulse, wording: Wording, *, now: Micros
) -> None:
    """Drop the promises of the same day that an overview has told already."""
    if said.kind not in {"day_opening", "digest"}:
        return
    told = {each.object for each in wording.items}
    covered = [
        each
        for each in review.found
        if each.kind == "promise"
        and told.issuperset(each.sources)
        and each.not_before <= said.expires_at
    ]
    await add_impulses(tx, review.person.id, covered, now=now)
    await drop_keys(tx, review.person.id, [each.key for each in covered], now=now)


async def drop_keys(tx: Transaction, person: PersonId, keys: Sequence[str], *, now: Micros) -> None:
    """Drop the waiting impulses with some keys."""
    covered = ProactiveDecision(verdict="drop", reason="covered")
    for stored in await list_waiting_impulses(tx, person):
        if stored.impulse.key in keys:
            await record_impulse_decision(tx, stored, covered, now=now)
