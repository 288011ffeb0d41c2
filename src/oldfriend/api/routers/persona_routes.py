"""Persona routes: core blocks, companion name, suggestions, and drafts from a text."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from oldfriend.api.auth import CurrentUser, HubDep, OwnerUser
from oldfriend.api.etags import (
    IfMatch,
    check_if_match,
    compute_etag,
    map_conflict_to_412,
    parse_if_match,
)
from oldfriend.api.idempotency import IdempotencyDep, OptionalIdempotencyKey
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import BlockWritten, CompanionNamed, Decision, Material
from oldfriend.api.routers.import_routes import estimate_import_cost
from oldfriend.db.database import Database
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import Person
from oldfriend.memory.core_blocks import (
    BLOCK_NAMES,
    MAX_BLOCK_LENGTH,
    BlockName,
    CoreBlock,
    list_block_versions,
    list_persona_versions,
    list_suggestions,
)
from oldfriend.memory.people import MAX_COMPANION_NAME_LENGTH, find_companion, get_companion_name
from oldfriend.persona.core_block_updates import (
    accept_suggestion,
    decline_suggestion,
    write_core_block,
)
from oldfriend.persona.drafts import RULES_ORIGIN, draft_core_blocks, estimate_draft_tokens
from oldfriend.persona.profile_names import set_companion_name
from oldfriend.persona.soul_file import SOUL_FILE_NAME
from oldfriend.persona.sources import split_text
from oldfriend.presenters.persona_schemas import (
    BlockShape,
    Character,
    Drafted,
    Foreseen,
    SoulShape,
    StartingShape,
    SuggestionShape,
    Versions,
    list_version_shapes,
)
from oldfriend.prompts.starter_personas import load_starter_personas

SOURCE_NAME: Final = "what you gave"

router = APIRouter(prefix="/character", tags=["character"])
drafts_router = APIRouter(prefix="/drafts", tags=["character"])


@router.get("", summary="Who is who")
async def show(me: CurrentUser, hub: HubDep) -> Character:
    """The blocks as they read now, SOUL.md, from what one can start, and what is suggested."""
    async with hub.app.db.begin_read() as tx:
        versions = {name: await list_block_versions(tx, me.person.id, name) for name in BLOCK_NAMES}
        companion = await find_companion(tx)
        souls = [] if companion is None else await list_persona_versions(tx, companion.id)
        name = await get_companion_name(tx)
        pending = await list_suggestions(tx, me.person.id, status="pending")
    zone = me.person.zone
    soul_file = str(hub.app.settings.data / SOUL_FILE_NAME) if me.person.is_owner else None
    return Character(
        name=name,
        longest_name=MAX_COMPANION_NAME_LENGTH,
        blocks=tuple(
            BlockShape.from_domain(name, find_latest(versions[name]), zone=zone)
            for name in BLOCK_NAMES
        ),
        longest=MAX_BLOCK_LENGTH,
        soul=SoulShape.from_domain(souls[-1], zone=zone) if souls else None,
        soul_file=soul_file,
        starting=tuple(
            StartingShape.from_domain(each) for each in load_starter_personas().values()
        ),
        suggestions=tuple(SuggestionShape.from_domain(each, zone=zone) for each in pending),
    )


@router.get("/name", summary="What the companion is called")
async def show_name(_: CurrentUser, hub: HubDep, response: Response) -> CompanionNamed:
    """By everybody here; its `ETag` is for `If-Match`."""
    named = await load_companion_name(hub.app.db)
    response.headers["ETag"] = compute_etag(named)
    return named


@router.put("/name", summary="Give the companion a name")
async def give_name(
    wanted: CompanionNamed, _: OwnerUser, hub: HubDep, response: Response, if_match: IfMatch = None
) -> CompanionNamed:
    """For everybody here, so the owner does; what it has said stays signed as it was."""
    before = await load_companion_name(hub.app.db)
    check_if_match(if_match, compute_etag(before))
    with map_conflict_to_412():
        companion = await set_companion_name(
            hub.app.db,
            hub.app.clock,
            hub.app.notifier,
            wanted.name,
            base=None if if_match is None else before.name,
        )
    named = CompanionNamed(name=companion.name)
    response.headers["ETag"] = compute_etag(named)
    return named


@router.get("/{block}", summary="One block")
async def show_block(
    block: BlockName, me: CurrentUser, hub: HubDep, response: Response
) -> BlockShape:
    """As it reads now; its `ETag` is for `If-Match`."""
    current = await load_block(hub.app.db, me.person, block)
    response.headers["ETag"] = format_block_etag(current)
    return BlockShape.from_domain(block, current, zone=me.person.zone)


@router.put("/{block}", summary="Write a block")
async def write_block(
    block: BlockName,
    written: BlockWritten,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> BlockShape:
    """In your words; what stood there stays as a version."""
    base = parse_if_match(if_match)
    with map_conflict_to_412():
        saved = await write_core_block(
            hub.app.db, hub.app.clock, me.person.id, block, written.text, base=base
        )
    response.headers["ETag"] = format_block_etag(saved)
    return BlockShape.from_domain(block, saved, zone=me.person.zone)


@router.get("/{block}/versions", summary="How a block came to read as it does")
async def show_versions(
    block: BlockName,
    me: CurrentUser,
    hub: HubDep,
    cursor: Annotated[int | None, Query(ge=1, description="`next` of a page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 20,
) -> Versions:
    """The newest first, each with what it changed."""
    async with hub.app.db.begin_read() as tx:
        versions = await list_block_versions(tx, me.person.id, block)
    older = [each for each in versions if cursor is None or each.version < cursor]
    page = list_version_shapes(older, limit=limit, zone=me.person.zone)
    return Versions(items=page, next=str(page[-1].version) if len(older) > limit else None)


@router.post("/suggestions/{suggestion}", summary="Decide about a suggestion")
async def decide(
    suggestion: str, decision: Decision, me: CurrentUser, hub: HubDep
) -> SuggestionShape:
    """Accept it, perhaps in other words, or decline it: then it does not come again."""
    app, person = hub.app, me.person.id
    if decision.verdict == "accept":
        settled, _ = await accept_suggestion(
            app.db, app.clock, person, suggestion, edited_text=decision.words
        )
    else:
        settled = await decline_suggestion(app.db, app.clock, person, suggestion)
    return SuggestionShape.from_domain(settled, zone=me.person.zone)


@drafts_router.post("/cost", summary="What would reading this cost?")
async def foresee(material: Material, _: CurrentUser, hub: HubDep) -> Foreseen:
    """With the small model; rules read it for nothing. Nothing is read yet."""
    pieces = split_text(SOURCE_NAME, material.text)
    return Foreseen(
        pieces=len(pieces),
        likely_cost=await estimate_import_cost(hub.app, *estimate_draft_tokens(pieces)),
    )


@drafts_router.post("", status_code=201, summary="Draft blocks from this")
async def make(
    material: Material,
    me: CurrentUser,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> Drafted:
    """What comes of it are suggestions: nothing stands in a block before each was accepted."""

    async def read() -> Drafted:
        draft = await draft_core_blocks(
            hub.app,
            me.person,
            split_text(SOURCE_NAME, material.text),
            with_model=material.with_model,
        )
        return Drafted(
            suggestions=tuple(
                SuggestionShape.from_domain(each, zone=me.person.zone) for each in draft.suggestions
            ),
            is_rough=draft.author == RULES_ORIGIN,
            left_out=dict(draft.skipped),
        )

    if material.with_model and "small" not in hub.app.models:
        raise ApiError(
            409,
            "No model is connected",
            localizable("no_model", "Leave out `with_model`: rules can read it, too."),
        )
    now = hub.app.clock()
    return await idempotency.run_once(
        me.person.id, idempotency_key, material, read, Drafted, now=now
    )


async def load_companion_name(db: Database) -> CompanionNamed:
    """Load the companion's current name."""
    async with db.begin_read() as tx:
        return CompanionNamed(name=await get_companion_name(tx))


async def load_block(db: Database, person: Person, block: BlockName) -> CoreBlock | None:
    """Load the newest version of a block; None if it was never written."""
    async with db.begin_read() as tx:
        return find_latest(await list_block_versions(tx, person.id, block))


def find_latest(versions: list[CoreBlock]) -> CoreBlock | None:
    """Return the last version, or None."""
    return versions[-1] if versions else None


def format_block_etag(block: CoreBlock | None) -> str:
    """Format the ETag of a block version."""
    return f'"{0 if block is None else block.version}"'
