"""How is a finished call of a model kept? Whole, unless what it was shown is forgotten by then."""

from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.ledger.calls import Asker, record_call
from oldfriend.llm.model import Call
from oldfriend.memory.changes import revision_of
from oldfriend.memory.forgetting.overtaking import all_are_kept
from oldfriend.memory.people import lock_person


async def keep_call(
    tx: Transaction, asker: Asker, call: Call, *, step: int, request: str, now: Micros,
    since: int | None = None,
) -> str:  # fmt: skip
    """Keep one finished call, under an id; ``request`` is a hash of what was sent.

    ``since`` is how often something had been forgotten when what it was shown was read.
    """
    kept = await without_forgotten(tx, asker.person, call, since=since)
    return await record_call(tx, asker, kept, step=step, request=request, now=now)


async def without_forgotten(
    tx: Transaction, person: PersonId, call: Call, *, since: int | None
) -> Call:
    """A finished call without content, if what it was shown is gone by now, or may have lost words.

    Whoever takes its place asks again. Locks the person, so that nothing is forgotten meanwhile.
    """
    await lock_person(tx, person)
    if since is None:
        is_kept = await all_are_kept(tx, person, call.request.shown)
    else:
        is_kept = (await revision_of(tx, person)).rewritten == since
    if is_kept:
        return call
    empty = call.completion and replace(call.completion, text="", calls=(), echo=None)
    return replace(
        call, outcome="cut off", completion=empty, error=None,
        request=replace(call.request, shown=()),
    )  # fmt: skip
