"""What of these words is new, and into which sessions does it go?

For words that come with times of their own: from exports, and from other programs. Knows
nothing of files and formats.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, MessageId, SessionId
from oldfriend.domain.messages import Spoken, storable
from oldfriend.domain.people import SESSION_IDLE, Chat
from oldfriend.memory.forgetting.tombstones import NOTHING, Forgotten, lift, print_of
from oldfriend.memory.known import (
    KnownMessage,
    claim_version,
    ensure_session_around,
    known_messages,
)
from oldfriend.memory.log import Place, edit_message, write_messages
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import reopen_segments
from oldfriend.memory.sessions import ensure_closed_session, session_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Something said, and the name of the session it came in, if it came in one."""

    spoken: Spoken
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where words are brought, and by what."""

    chat: Chat
    language: str  # when the words themselves do not tell
    batch: BatchId | None = None  # the import; None: a program, which knows what holds now
    forgotten: Forgotten = NOTHING  # is not brought again, unless it was said again since


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What became of words."""

    added: int
    changed: int  # were here, and read otherwise now
    language: str  # of what was added last
    forgotten: int = 0  # were forgotten, and stay out


async def bring(tx: Transaction, target: Target, told: Sequence[Told], *, now: Micros) -> Kept:
    """Write what is new of these words into a chat.

    A message whose external id is known gets a new version if it reads otherwise, and is left
    alone if not. A new one goes into the session it came in. Those that came in none are cut at
    pauses of half an hour, in the order of their times, and their sessions are closed; but what
    a program says was said within the last half hour goes on in the open session, as talk does.
    """
    await lock_person(tx, target.chat.person)
    offered, told = len(told), await without_forgotten(tx, target, told)
    ids = [each.spoken.external_id for each in told if each.spoken.external_id is not None]
    known = await known_messages(tx, target.chat.person, target.chat.id, ids)
    new = [each for each in told if each.spoken.external_id not in known]
    changed = await revise(tx, target, told, known, now=now) if known else 0
    added, language = 0, target.language
    twice: list[Told] = []
    for run in runs_in(new):
        session = await session_of(tx, target, run, now=now)
        place = Place(chat=target.chat, session=session, batch=target.batch, language=language)
        written = await write_messages(tx, place, [each.spoken for each in run], now=now)
        for each, message in zip(run, written, strict=True):
            if message is None:
                twice.append(each)
            else:
                added += 1
                language = message.language
    if twice:  # the ids of these stand before in the same words, and are known now
        changed += (await bring(tx, target, twice, now=now)).changed
    return Kept(
        added=added, changed=changed, language=language, forgotten=offered - len(told)
    )  # fmt: skip


async def without_forgotten(tx: Transaction, target: Target, told: Sequence[Told]) -> list[Told]:
    """What of these words was not forgotten. What the person says anew is forgotten no more."""
    forgotten, spoken = target.forgotten, [each.spoken for each in told]
    left = [not forgotten.was_forgotten(storable(said.text), said_at=said.at) for said in spoken]
    if forgotten.laid:
        anew = {
            print_of(forgotten.key, storable(said.text))
            for said, is_left in zip(spoken, left, strict=True)
            if is_left and said.role == "person"
        }
        await lift(tx, target.chat.person, anew & forgotten.laid.keys())
    return [each for each, is_left in zip(told, left, strict=True) if is_left]


async def revise(
    tx: Transaction, target: Target, told: Sequence[Told], known: dict[str, KnownMessage], *,
    now: Micros,
) -> int:  # fmt: skip
    """Add versions to the known messages that read otherwise; how many versions.

    What was read in them waits to be read again.
    """
    changed: list[MessageId] = []
    for spoken in (each.spoken for each in told):
        held = known.get(spoken.external_id or "")
        if held is None or not is_changed(held, spoken, is_export=target.batch is not None):
            continue
        edited = await edit_message(
            tx, target.chat.person, held.id, spoken.text, now=now, findable=spoken.findable
        )
        if target.batch is not None:
            await claim_version(tx, edited, batch=target.batch, details=spoken.details)
        known[spoken.external_id or ""] = replace(
            held, text=edited.text, texts=held.texts | {edited.text},
            edited=max(held.edited, spoken.details.get("edited", "")),
        )  # fmt: skip
        changed.append(held.id)
    await reopen_segments(tx, target.chat.person, changed)
    return len(changed)


def is_changed(held: KnownMessage, spoken: Spoken, *, is_export: bool) -> bool:
    """Whether a known message reads otherwise now. An export may be older than what is here."""
    text = storable(spoken.text)
    if not is_export:
        return text != held.text
    return text not in held.texts and spoken.details.get("edited", "") >= held.edited


def runs_in(told: Sequence[Told]) -> Iterator[list[Told]]:
    """Words by the session they came in; those that came in none, without a long pause."""
    by_session: dict[str | None, list[Told]] = {}
    for each in told:
        by_session.setdefault(each.session, []).append(each)
    loose = by_session.pop(None, [])
    yield from by_session.values()
    run: list[Told] = []
    for each in sorted(loose, key=lambda each: each.spoken.at):
        if run and each.spoken.at - run[-1].spoken.at > SESSION_IDLE:
            yield run
            run = []
        run.append(each)
    if run:
        yield run


async def session_of(
    tx: Transaction, target: Target, run: Sequence[Told], *, now: Micros
) -> SessionId:
    """The session for words of one run; made, or grown to cover them."""
    name = run[0].session
    times = [each.spoken.at for each in run]
    first, last = min(times), max(times)
    is_talk = target.batch is None and now - SESSION_IDLE <= first <= last <= now + SESSION_IDLE
    if name is not None:
        return await ensure_closed_session(
            tx, target.chat, external_id=name, opened_at=first, closed_at=last, batch=target.batch
        )
    if is_talk:
        return await session_at(tx, target.chat, first)
    return await ensure_session_around(
        tx, target.chat, opened_at=first, closed_at=last, batch=target.batch
    )
