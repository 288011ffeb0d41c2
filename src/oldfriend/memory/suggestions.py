"""What does the companion think should change in a core block? It may say so; people decide.

A suggestion is added to its block, or stands in for some words of it, once a person accepts it.
What was declined is not suggested again. Nothing here writes a block.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId, SuggestionId, ambiguous, find_named, new_id, short
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.memory.core_blocks import LONGEST_BLOCK, BlockName, added_to, text_of
from oldfriend.memory.people import lock_person

SuggestionStatus = Literal["pending", "accepted", "declined"]

MOST_PENDING: Final = 20
"""So many wait at once; whoever does not look at them is not shown ever more."""
DRAFTED: Final = "draft"
"""How authors begin that drafted what the person asked for; see ``take_away``."""
COLUMNS: Final = (
    "id, person, block, text, replaces, reason, cites, author, status, made_at, decided_at, version"
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Words for a block, who suggests them and why."""

    block: BlockName
    text: str
    reason: str
    author: str  # a prompt or a rule, with its version
    cites: tuple[str, ...] = ()  # ids of memories and messages
    replaces: str = ""  # the words of the block that it stands in for; empty: it is added

    @property
    def is_draft(self) -> bool:
        """Whether the person asked for it, from material of theirs."""
        return self.author.startswith(DRAFTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A proposal that was put before a person, and what became of it."""

    id: SuggestionId
    person: PersonId
    what: Proposal
    status: SuggestionStatus = "pending"
    made_at: Micros
    decided_at: Micros | None = None
    version: int | None = None  # of the block, as accepting it has written it


async def suggest(
    tx: Transaction, person: PersonId, what: Proposal, *, now: Micros
) -> Suggestion | None:
    """Put words for a block before the person; None where that is of no use.

    It is not where the block says so already, where the same was suggested for it before (and is
    pending, or was declined), where what it replaces does not stand there, or where too many wait.
    Raises InvalidInput for nothing, and for more than fits.
    """
    what = cleaned(what)
    await lock_person(tx, person)
    held = await text_of(tx, person, what.block)
    earlier = await list_suggestions(tx, person)
    if not is_of_use(what, held, earlier):
        return None
    made = Suggestion(id=SuggestionId(new_id(now)), person=person, what=what, made_at=now)
    await tx.run(
        f"""INSERT INTO suggestion ({COLUMNS}) VALUES (:id, :person, :block, :text, :replaces,
           :reason, :cites, :author, 'pending', :now, NULL, NULL)""",
        id=made.id, person=person, block=what.block, text=what.text, replaces=what.replaces,
        reason=what.reason, cites=json.dumps(what.cites), author=what.author, now=now,
    )  # fmt: skip
    return made


def cleaned(what: Proposal) -> Proposal:
    """A proposal as it can be kept. Raises InvalidInput."""
    text = storable(what.text).strip()
    if not text or len(text) > LONGEST_BLOCK:
        raise InvalidInput(saying(
            "suggestion_unfit", f"A suggestion has 1 to {LONGEST_BLOCK:,} characters.",
            longest=LONGEST_BLOCK,
        ))  # fmt: skip
    return replace(what, text=text, reason=storable(what.reason).strip())


def is_of_use(what: Proposal, held: str, earlier: Sequence[Suggestion]) -> bool:
    """Whether a proposal is new to a block and its person, and could be accepted."""
    wanted = same_words(what.text)
    is_known = any(
        each.what.block == what.block and same_words(each.what.text) == wanted
        for each in earlier if each.status != "accepted"
    )  # fmt: skip
    pending = sum(each.status == "pending" for each in earlier)
    has_place = what.replaces in held and pending < MOST_PENDING
    return has_place and not is_known and wanted not in same_words(held)


def same_words(text: str) -> str:
    """A text without what does not matter for whether it says the same."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


async def list_suggestions(
    tx: Transaction, person: PersonId, *, status: SuggestionStatus | None = None
) -> list[Suggestion]:
    """What was suggested to a person, of one status or of all, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM suggestion WHERE person = :person
           AND (:status = '' OR status = :status) ORDER BY made_at, id""",
        person=person,
        status=status or "",
    )
    return [suggestion_from(row) for row in rows]


async def get_suggestion(tx: Transaction, person: PersonId, name: str) -> Suggestion:
    """The one that a part of an id means. Raises NotFound, InvalidInput."""
    held = {str(each.id): each for each in await list_suggestions(tx, person)}
    found = find_named(name, held)
    if not found:
        raise NotFound(saying(
            "suggestion_gone",
            f"No suggestion has the id {name!r}. See: oldfriend core suggestions",
        ))  # fmt: skip
    if len(found) > 1:
        raise ambiguous(name, {each: held[each].what.block for each in found})
    return held[found[0]]


def with_it(held: str, suggestion: Suggestion) -> str:
    """A block as it would read with a suggestion. Raises InvalidInput where it no longer fits."""
    what = suggestion.what
    if not what.replaces:
        return added_to(held, what.text)
    if what.replaces not in held:
        raise InvalidInput(saying(
            "suggestion_stale",
            f"The {what.block} block has changed since: “{what.replaces}” stands there no more. "
            f"Write it yourself, or: oldfriend core decline {short(suggestion.id)}",
            replaces=what.replaces or "",
        ))  # fmt: skip
    return held.replace(what.replaces, what.text, 1)


async def get_pending(tx: Transaction, person: PersonId, name: str) -> Suggestion:
    """The one that a part of an id means, to be decided. Raises NotFound, InvalidInput."""
    found = await get_suggestion(tx, person, name)
    if found.status != "pending":
        raise InvalidInput(
            saying("suggestion_decided", f"{short(found.id)} was {found.status} already.")
        )
    return found


async def settle(
    tx: Transaction, suggestion: Suggestion, status: SuggestionStatus, *, now: Micros,
    version: int | None = None,
) -> Suggestion:  # fmt: skip
    """Note what a person has decided about a suggestion; of one to accept, as they word it."""
    await tx.run(
        """UPDATE suggestion SET status = :status, text = :text, decided_at = :now,
             version = :version WHERE id = :id AND person = :person""",
        status=status, text=suggestion.what.text, now=now, version=version, id=suggestion.id,
        person=suggestion.person,
    )  # fmt: skip
    return replace(suggestion, status=status, decided_at=now, version=version)


async def take_away(tx: Transaction, suggestion: Suggestion) -> None:
    """Let a suggestion be as if it had never been made: it may come again."""
    await tx.run(
        "DELETE FROM suggestion WHERE id = :id AND person = :person",
        id=suggestion.id,
        person=suggestion.person,
    )


def suggestion_from(row: Row) -> Suggestion:
    """One suggestion, from COLUMNS."""
    name, person, block, text, replaces, reason, cites, author, *rest = row
    status, made_at, decided_at, version = rest
    what = Proposal(
        block=block, text=text, reason=reason, author=author, cites=tuple(json.loads(cites)),
        replaces=replaces,
    )  # fmt: skip
    return Suggestion(
        id=name, person=person, what=what, status=status, made_at=made_at,
        decided_at=decided_at, version=version,
    )  # fmt: skip
