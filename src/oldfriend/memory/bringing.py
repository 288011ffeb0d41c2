"""What of these words is new, and into which sessions does it go?

For whatever comes with times of its own: exports, and what other programs add. Knows nothing of
files and formats.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, PersonId, SessionId
from oldfriend.domain.messages import Spoken, storable
from oldfriend.domain.people import SESSION_IDLE, Chat
from oldfriend.memory.known import (
    KnownMessage,
    claim_version,
    ensure_session_around,
    known_messages,
)
from oldfriend.memory.log import Place, edit_message, write_messages
from oldfriend.memory.sessions import ensure_closed_session, session_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Something said, and the session that it came in, where that has a name."""

    spoken: Spoken
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bringing:
    """Where told words go, and what brings them."""

    chat: Chat
    batch: BatchId | None  # the import; None: said to us now, by somebody who knows what holds
    language: str  # when the words themselves do not tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What became of told words."""

    added: int
    changed: int  # were here, and read otherwise now
    language: str  # of the last that was added


async def bring(
    tx: Transaction, bringing: Bringing, told: Sequence[Told], *, now: Micros
) -> Brought:
    """Write down what is new of some words that were said in one chat.

    A message whose external id is known gets a version where its text has changed, else it is
    left alone. New ones go into the session they came in; those that came in none are cut at
    pauses of half an hour into closed ones, in whichever order they come. Only what was said
    within the last half hour, and not imported, goes on in the open session like live talk.
    """
    chat, changed = bringing.chat, 0
    ids = [each.spoken.external_id for each in told if each.spoken.external_id is not None]
    known = await known_messages(tx, chat.person, chat.id, ids)
    new: list[Told] = []
    for each in told:
        held = known.get(each.spoken.external_id or "")
        if held is None:
            new.append(each)
        elif is_news(each.spoken, held, is_imported=bringing.batch is not None):
            known[each.spoken.external_id or ""] = await revise(
                tx, bringing, held, each.spoken, now=now
            )
            changed += 1
    added, language, again = await write_new(tx, bringing, new, now=now)
    if again:  # ids that occur twice among these words; now they are known
        changed += (await bring(tx, bringing, again, now=now)).changed
    return Brought(added=added, changed=changed, language=language)
