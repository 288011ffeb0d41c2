"""Core block updates: the only writers of core blocks, each called for an act of a person."""

from dataclasses import replace

from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.memory.core_blocks import (
    BlockName,
    CoreBlock,
    StyleAction,
    Suggestion,
    apply_suggestion,
    delete_suggestion,
    get_block_text,
    get_pending_suggestion,
    list_block_versions,
    resolve_suggestion,
    write_block,
    write_style,
)
from oldfriend.memory.people import lock_person
from oldfriend.prompts.starter_personas import StarterPersona


async def write_core_block(
    db: Database,
    clock: Clock,
    person: PersonId,
    name: BlockName,
    text: str,
    *,
    base: int | None = None,
) -> CoreBlock:
    """Write a core block as a person has edited it.

    ``base`` is the version that they have read, 0 for none (None: any). Raises InvalidInput, and
    StaleDecision if a newer version exists.
    """
    async with db.begin_write() as tx:
        await lock_person(tx, person)
        versions = await list_block_versions(tx, person, name) if base is not None else []
        if base is not None and base != (versions[-1].version if versions else 0):
            raise StaleDecision(
                localizable("block_newer", "There is a newer version. Read it, then write again.")
            )
        return await write_block(tx, person, name, text, now=clock())


async def update_style(
    db: Database, clock: Clock, person: PersonId, action: StyleAction, text: str
) -> CoreBlock:
    """Change how the companion talks to a person, by their decision. Raises InvalidInput."""
    async with db.begin_write() as tx:
        return await write_style(tx, person, action, text, now=clock())


async def apply_starting_point(
    db: Database, clock: Clock, person: PersonId, point: StarterPersona
) -> list[CoreBlock]:
    """Write the persona and style of a starter; the previous texts stay as versions."""
    async with db.begin_write() as tx:
        now = clock()
        return [
            await write_block(tx, person, "persona", point.persona, now=now),
            await write_block(tx, person, "style", point.style, now=now),
        ]


async def accept_suggestion(
    db: Database, clock: Clock, person: PersonId, partial_id: str, *, edited_text: str | None = None
) -> tuple[Suggestion, CoreBlock]:
    """Write a suggestion to its block, in its own words or in the person's.

    Raises NotFound, and InvalidInput if it is decided already, does not fit or is too long.
    """
    async with db.begin_write() as tx:
        await lock_person(tx, person)
        suggestion = await get_pending_suggestion(tx, person, partial_id)
        if edited_text is not None and edited_text.strip():
            suggestion = replace(
                suggestion, proposal=replace(suggestion.proposal, text=edited_text.strip())
            )
        text = apply_suggestion(
            await get_block_text(tx, person, suggestion.proposal.block), suggestion
        )
        block = await write_block(tx, person, suggestion.proposal.block, text, now=clock())
        accepted = await resolve_suggestion(
            tx, suggestion, "accepted", now=clock(), version=block.version
        )
    return accepted, block


async def decline_suggestion(
    db: Database, clock: Clock, person: PersonId, partial_id: str
) -> Suggestion:
    """Decline a suggestion for good; a draft is deleted and may be drafted again.

    Raises NotFound, InvalidInput.
    """
    async with db.begin_write() as tx:
        await lock_person(tx, person)
        suggestion = await get_pending_suggestion(tx, person, partial_id)
        if suggestion.proposal.is_draft:
            await delete_suggestion(tx, suggestion)
            return suggestion
        return await resolve_suggestion(tx, suggestion, "declined", now=clock())
