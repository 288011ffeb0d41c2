"""Core blocks: the texts that stand in every prompt, suggested changes to them, and SOUL.md.

Core blocks say who the companion is, who the person is and how to talk to them. Nothing inferred is
ever written into a block: learned beliefs are stored elsewhere, and the companion can only suggest
a change.

An accepted suggestion is added to its block or replaces some words of it; a declined one is not
made again. Nothing here writes a block.
This module reads no files: the text of SOUL.md is passed in.
"""

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import (
    CompanionId,
    PersonId,
    SuggestionId,
    build_ambiguous_id_error,
    list_matching_ids,
    new_id,
    shorten_id,
)
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.people import find_companion, lock_person

BlockName = Literal["persona", "user", "style"]
BLOCK_NAMES: Final[tuple[BlockName, ...]] = get_args(BlockName)
CHECKLIST: Final = "checklist"
KeptBlockName = BlockName | Literal["checklist"]
"""What is kept as a block: also the checklist, which stands in no prompt of a reply."""
StyleAction = Literal["set", "append", "clear"]
STYLE_ACTIONS: Final[tuple[StyleAction, ...]] = get_args(StyleAction)
MAX_BLOCK_LENGTH: Final = 5_000
"""In characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreBlock:
    """One version of one block."""

    name: KeptBlockName
    version: int
    text: str
    written_at: Micros


async def write_block(
    tx: Transaction, person: PersonId, name: KeptBlockName, text: str, *, now: Micros
) -> CoreBlock:
    """Add a version of a block as a person has written it; an empty text clears it.

    Raises InvalidInput for a text that is too long.
    """
    clean = sanitize_text(text).strip()
    if len(clean) > MAX_BLOCK_LENGTH:
        raise InvalidInput(
            localizable(
                "block_too_long",
                f"The {name} block has {len(clean):,} characters; {MAX_BLOCK_LENGTH:,} fit. "
                "Shorten it.",
                count=len(clean),
                longest=MAX_BLOCK_LENGTH,
            )
        )
    await lock_person(tx, person)
    history = await list_block_versions(tx, person, name)
    if history and history[-1].text == clean:
        return history[-1]
    version = 1 + (history[-1].version if history else 0)
    await tx.run(
        """INSERT INTO core_block (person, name, version, text, written_at)
           VALUES (:person, :name, :version, :text, :now)""",
        person=person,
        name=name,
        version=version,
        text=clean,
        now=now,
    )
    return CoreBlock(name=name, version=version, text=clean, written_at=now)


async def write_style(
    tx: Transaction, person: PersonId, action: StyleAction, text: str, *, now: Micros
) -> CoreBlock:
    """Set, append to or clear the style block, as a person has decided.

    Raises InvalidInput for a text that is too long, or missing where one is needed.
    """
    if action == "clear":
        return await write_block(tx, person, "style", "", now=now)
    if not text.strip():
        raise InvalidInput(f"There is nothing to {action}. To empty the style: clear")
    existing = await get_block_text(tx, person, "style") if action == "append" else ""
    return await write_block(tx, person, "style", append_text(existing, text), now=now)


def append_text(existing: str, text: str) -> str:
    """Append text to a block on lines of its own."""
    return "\n".join(part for part in (existing, text.strip()) if part)


async def get_block_text(tx: Transaction, person: PersonId, name: BlockName) -> str:
    """Return the current text of a block, empty where nothing is written."""
    return next((each.text for each in await list_blocks(tx, person) if each.name == name), "")


def diff_lines(before: str, after: str) -> Iterator[str]:
    """Yield the lines in which two texts differ: "- " before removed ones and "+ " before added
    ones.
    """
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return (line for line in lines if line[:2] in {"- ", "+ "})


async def list_blocks(tx: Transaction, person: PersonId) -> list[CoreBlock]:
    """List the current versions of a person's blocks that are not empty."""
    rows = await tx.rows(
        """SELECT name, version, text, written_at FROM core_block b WHERE person = :person
           AND version = (SELECT max(version) FROM core_block newest
             WHERE newest.person = :person AND newest.name = b.name)""",
        person=person,
    )
    by_name = {
        row[0]: CoreBlock(name=row[0], version=row[1], text=row[2], written_at=row[3])
        for row in rows
    }
    return [by_name[name] for name in BLOCK_NAMES if name in by_name and by_name[name].text]


async def list_block_versions(
    tx: Transaction, person: PersonId, name: KeptBlockName
) -> list[CoreBlock]:
    """List every version of a block, oldest first."""
    rows = await tx.rows(
        """SELECT name, version, text, written_at FROM core_block
           WHERE person = :person AND name = :name ORDER BY version""",
        person=person,
        name=name,
    )
    return [CoreBlock(name=row[0], version=row[1], text=row[2], written_at=row[3]) for row in rows]


SuggestionStatus = Literal["pending", "accepted", "declined"]

MAX_PENDING: Final = 20
"""Further suggestions are dropped, so that they do not pile up when nobody looks at them."""
DRAFT_AUTHOR_PREFIX: Final = "draft"
"""The start of the author of proposals that the person asked for."""
SUGGESTION_COLUMNS: Final = (
    "id, person, block, text, replaces, reason, cites, author, status, made_at, decided_at, version"
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A proposed text for a block, with its author and reason."""

    block: BlockName
    text: str
    reason: str
    author: str  # a prompt or a rule, with its version
    cites: tuple[str, ...] = ()  # ids of memories and messages
    replaces: str = ""  # the words of the block to replace; empty: the text is added

    @property
    def is_draft(self) -> bool:
        """Whether the person asked for it, from material of their own."""
        return self.author.startswith(DRAFT_AUTHOR_PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A proposal made to a person, and its state."""

    id: SuggestionId
    person: PersonId
    proposal: Proposal
    status: SuggestionStatus = "pending"
    made_at: Micros
    decided_at: Micros | None = None
    version: int | None = None  # of the block, written when it was accepted


async def suggest(
    tx: Transaction, person: PersonId, proposal: Proposal, *, now: Micros
) -> Suggestion | None:
    """Make a suggestion to the person; return None if it would be useless.

    That is so if the block says it already, if the same is pending or was declined for this block,
    if the words to replace are not there, or if too many are pending. Raises InvalidInput for a
    text that is empty or too long.
    """
    proposal = validate_proposal(proposal)
    await lock_person(tx, person)
    block_text = await get_block_text(tx, person, proposal.block)
    earlier = await list_suggestions(tx, person)
    if not is_useful(proposal, block_text, earlier):
        return None
    suggestion = Suggestion(
        id=SuggestionId(new_id(now)), person=person, proposal=proposal, made_at=now
    )
    await tx.run(
        f"""INSERT INTO suggestion ({SUGGESTION_COLUMNS}) VALUES (:id, :person, :block, :text,
           :replaces,
           :reason, :cites, :author, 'pending', :now, NULL, NULL)""",
        id=suggestion.id,
        person=person,
        block=proposal.block,
        text=proposal.text,
        replaces=proposal.replaces,
        reason=proposal.reason,
        cites=json.dumps(proposal.cites),
        author=proposal.author,
        now=now,
    )
    return suggestion


def validate_proposal(proposal: Proposal) -> Proposal:
    """Return a proposal as it can be stored. Raises InvalidInput."""
    text = sanitize_text(proposal.text).strip()
    if not text or len(text) > MAX_BLOCK_LENGTH:
        raise InvalidInput(
            localizable(
                "suggestion_unfit",
                f"A suggestion has 1 to {MAX_BLOCK_LENGTH:,} characters.",
                longest=MAX_BLOCK_LENGTH,
            )
        )
    return replace(proposal, text=text, reason=sanitize_text(proposal.reason).strip())


def is_useful(proposal: Proposal, held: str, earlier: Sequence[Suggestion]) -> bool:
    """Whether a proposal is new to the block and the person, and could be accepted."""
    wanted = normalize_words(proposal.text)
    is_known = any(
        each.proposal.block == proposal.block and normalize_words(each.proposal.text) == wanted
        for each in earlier
        if each.status != "accepted"
    )
    pending = sum(each.status == "pending" for each in earlier)
    has_place = proposal.replaces in held and pending < MAX_PENDING
    return has_place and not is_known and wanted not in normalize_words(held)


def normalize_words(text: str) -> str:
    """Return the words of a text in lower case, with a space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


async def list_suggestions(
    tx: Transaction, person: PersonId, *, status: SuggestionStatus | None = None
) -> list[Suggestion]:
    """List a person's suggestions of one status or of all, oldest first."""
    rows = await tx.rows(
        f"""SELECT {SUGGESTION_COLUMNS} FROM suggestion WHERE person = :person
           AND (:status = '' OR status = :status) ORDER BY made_at, id""",
        person=person,
        status=status or "",
    )
    return [parse_suggestion_row(row) for row in rows]


async def get_suggestion(tx: Transaction, person: PersonId, partial_id: str) -> Suggestion:
    """Return the suggestion that a partial id means. Raises NotFound, InvalidInput."""
    by_id = {str(each.id): each for each in await list_suggestions(tx, person)}
    found = list_matching_ids(partial_id, by_id)
    if not found:
        raise NotFound(
            localizable(
                "suggestion_gone",
                f"No suggestion has the id {partial_id!r}. See: oldfriend core suggestions",
            )
        )
    if len(found) > 1:
        raise build_ambiguous_id_error(
            partial_id, {each: by_id[each].proposal.block for each in found}
        )
    return by_id[found[0]]


def apply_suggestion(block_text: str, suggestion: Suggestion) -> str:
    """Return the text of a block with a suggestion applied.

    Raises InvalidInput if it no longer fits.
    """
    what = suggestion.proposal
    if not what.replaces:
        return append_text(block_text, what.text)
    if what.replaces not in block_text:
        raise InvalidInput(
            localizable(
                "suggestion_stale",
                f"The {what.block} block has changed since: “{what.replaces}” is no longer there. "
                f"Write it yourself, or: oldfriend core decline {shorten_id(suggestion.id)}",
                replaces=what.replaces or "",
            )
        )
    return block_text.replace(what.replaces, what.text, 1)


async def get_pending_suggestion(tx: Transaction, person: PersonId, partial_id: str) -> Suggestion:
    """Return the pending suggestion that a partial id means. Raises NotFound, InvalidInput."""
    found = await get_suggestion(tx, person, partial_id)
    if found.status != "pending":
        raise InvalidInput(
            localizable("suggestion_decided", f"{shorten_id(found.id)} was {found.status} already.")
        )
    return found


async def resolve_suggestion(
    tx: Transaction,
    suggestion: Suggestion,
    status: SuggestionStatus,
    *,
    now: Micros,
    version: int | None = None,
) -> Suggestion:
    """Record the person's decision; an accepted suggestion has the text as they worded it."""
    await tx.run(
        """UPDATE suggestion SET status = :status, text = :text, decided_at = :now,
             version = :version WHERE id = :id AND person = :person""",
        status=status,
        text=suggestion.proposal.text,
        now=now,
        version=version,
        id=suggestion.id,
        person=suggestion.person,
    )
    return replace(suggestion, status=status, decided_at=now, version=version)


async def delete_suggestion(tx: Transaction, suggestion: Suggestion) -> None:
    """Delete a suggestion, so that it may be made again."""
    await tx.run(
        "DELETE FROM suggestion WHERE id = :id AND person = :person",
        id=suggestion.id,
        person=suggestion.person,
    )


def parse_suggestion_row(row: Row) -> Suggestion:
    """Parse a row of SUGGESTION_COLUMNS."""
    suggestion_id, person, block, text, replaces, reason, cites, author, *rest = row
    status, made_at, decided_at, version = rest
    proposal = Proposal(
        block=block,
        text=text,
        reason=reason,
        author=author,
        cites=tuple(json.loads(cites)),
        replaces=replaces,
    )
    return Suggestion(
        id=suggestion_id,
        person=person,
        proposal=proposal,
        status=status,
        made_at=made_at,
        decided_at=decided_at,
        version=version,
    )


MAX_PERSONA_LENGTH: Final = 8_000
"""In characters: the whole text stands in every prompt, beside the core blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalPersona:
    """One version of the companion's persona for everybody."""

    version: int
    text: str
    read_at: Micros


async def save_global_persona(
    tx: Transaction, companion: CompanionId, text: str, *, now: Micros
) -> tuple[GlobalPersona, bool]:
    """Store the text of SOUL.md; return its version and whether it is new.

    Raises InvalidInput for a text that is too long.
    """
    clean = sanitize_text(text).strip()
    if len(clean) > MAX_PERSONA_LENGTH:
        raise InvalidInput(f"it has {len(clean):,} characters, and {MAX_PERSONA_LENGTH:,} fit")
    versions = await list_persona_versions(tx, companion)
    if (versions[-1].text if versions else "") == clean:
        return (versions[-1] if versions else GlobalPersona(version=0, text="", read_at=now)), False
    persona = GlobalPersona(
        version=1 + (versions[-1].version if versions else 0), text=clean, read_at=now
    )
    await tx.run(
        """INSERT INTO soul (companion, version, text, read_at)
           VALUES (:companion, :version, :text, :now)
           ON CONFLICT (companion, version) DO NOTHING""",
        companion=companion,
        version=persona.version,
        text=persona.text,
        now=now,
    )
    return persona, True


async def list_persona_versions(tx: Transaction, companion: CompanionId) -> list[GlobalPersona]:
    """List every version, oldest first."""
    rows = await tx.rows(
        "SELECT version, text, read_at FROM soul WHERE companion = :companion ORDER BY version",
        companion=companion,
    )
    return [GlobalPersona(version=row[0], text=row[1], read_at=row[2]) for row in rows]


async def get_global_persona_text(tx: Transaction) -> str:
    """Return the current text for the companion of this install, empty where none was ever read."""
    companion = await find_companion(tx)
    if companion is None:
        return ""
    row = await tx.row(
        "SELECT text FROM soul WHERE companion = :companion ORDER BY version DESC LIMIT 1",
        companion=companion.id,
    )
    return "" if row is None else str(row[0])
