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
from oldfriend.api.requests import (
    CompanionName,
    CoreBlockRequest,
    DraftRequest,
    SuggestionDecisionRequest,
)
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
    CoreBlockSchema,
    CoreBlockVersionPageSchema,
    DraftEstimateSchema,
    DraftResultSchema,
    PersonaSchema,
    SoulSchema,
    StarterPersonaSchema,
    SuggestionSchema,
    list_version_shapes,
)
from oldfriend.prompts.starter_personas import load_starter_personas

SOURCE_NAME: Final = "what you gave"

router = APIRouter(prefix="/persona", tags=["persona"])
drafts_router = APIRouter(prefix="/drafts", tags=["persona"])


@router.get("", summary="Show the companion's persona")
async def show_persona(me: CurrentUser, hub: HubDep) -> PersonaSchema:
    """Return the core blocks, SOUL.md, starter personas, and open suggestions."""
    async with hub.app.db.begin_read() as tx:
        versions = {name: await list_block_versions(tx, me.person.id, name) for name in BLOCK_NAMES}
        companion = await find_companion(tx)
        souls = [] if companion is None else await list_persona_versions(tx, companion.id)
        name = await get_companion_name(tx)
        pending = await list_suggestions(tx, me.person.id, status="pending")
    zone = me.person.zone
    soul_file = str(hub.app.settings.data / SOUL_FILE_NAME) if me.person.is_owner else None
    return PersonaSchema(
        name=name,
        longest_name=MAX_COMPANION_NAME_LENGTH,
        blocks=tuple(
            CoreBlockSchema.from_domain(name, find_latest(versions[name]), zone=zone)
            for name in BLOCK_NAMES
        ),
        longest=MAX_BLOCK_LENGTH,
        soul=SoulSchema.from_domain(souls[-1], zone=zone) if souls else None,
        soul_file=soul_file,
        starting=tuple(
            StarterPersonaSchema.from_domain(each) for each in load_starter_personas().values()
        ),
        suggestions=tuple(SuggestionSchema.from_domain(each, zone=zone) for each in pending),
    )


@router.get("/name", summary="Show the companion's name")
async def show_companion_name(_: CurrentUser, hub: HubDep, response: Response) -> CompanionName:
    """Return the companion's name, the same for everybody.

    Send its `ETag` as `If-Match` to change it.
    """
    named = await load_companion_name(hub.app.db)
    response.headers["ETag"] = compute_etag(named)
    return named


@router.put("/name", summary="Rename the companion")
async def rename_companion(
    wanted: CompanionName, _: OwnerUser, hub: HubDep, response: Response, if_match: IfMatch = None
) -> CompanionName:
    """Rename the companion for everybody. For the owner. Earlier replies keep the old name."""
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
    named = CompanionName(name=companion.name)
    response.headers["ETag"] = compute_etag(named)
    return named


@router.get("/{block}", summary="Show a core block")
async def show_block(
    block: BlockName, me: CurrentUser, hub: HubDep, response: Response
) -> CoreBlockSchema:
    """Return a core block. Send its `ETag` as `If-Match` to change it."""
    current = await load_block(hub.app.db, me.person, block)
    response.headers["ETag"] = format_block_etag(current)
    return CoreBlockSchema.from_domain(block, current, zone=me.person.zone)


@router.put("/{block}", summary="Write a core block")
async def write_block(
    block: BlockName,
    written: CoreBlockRequest,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> CoreBlockSchema:
    """Replace the text of a core block. The old text is kept as a version."""
    base = parse_if_match(if_match)
    with map_conflict_to_412():
        saved = await write_core_block(
            hub.app.db, hub.app.clock, me.person.id, block, written.text, base=base
        )
    response.headers["ETag"] = format_block_etag(saved)
    return CoreBlockSchema.from_domain(block, saved, zone=me.person.zone)


@router.get("/{block}/versions", summary="List the versions of a core block")
async def show_block_versions(
    block: BlockName,
    me: CurrentUser,
    hub: HubDep,
    cursor: Annotated[
        int | None, Query(ge=1, description="The `next` cursor of the previous page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")] = 20,
) -> CoreBlockVersionPageSchema:
    """List the versions of a block, the newest first, each with its changes."""
    async with hub.app.db.begin_read() as tx:
        versions = await list_block_versions(tx, me.person.id, block)
    older = [each for each in versions if cursor is None or each.version < cursor]
    page = list_version_shapes(older, limit=limit, zone=me.person.zone)
    return CoreBlockVersionPageSchema(
        items=page, next=str(page[-1].version) if len(older) > limit else None
    )


@router.post("/suggestions/{suggestion}", summary="Accept or decline a suggestion")
async def decide_suggestion(
    suggestion: str, decision: SuggestionDecisionRequest, me: CurrentUser, hub: HubDep
) -> SuggestionSchema:
    """Accept a suggestion, perhaps reworded, or decline it. A declined one is not made again."""
    app, person = hub.app, me.person.id
    if decision.verdict == "accept":
        settled, _ = await accept_suggestion(
            app.db, app.clock, person, suggestion, edited_text=decision.words
        )
    else:
        settled = await decline_suggestion(app.db, app.clock, person, suggestion)
    return SuggestionSchema.from_domain(settled, zone=me.person.zone)


@drafts_router.post("/cost", summary="Estimate the cost of drafting")
async def estimate_drafts(
    material: DraftRequest, _: CurrentUser, hub: HubDep
) -> DraftEstimateSchema:
    """Estimate the cost with the small model; rules are free. Nothing is read yet."""
    pieces = split_text(SOURCE_NAME, material.text)
    return DraftEstimateSchema(
        pieces=len(pieces),
        likely_cost=await estimate_import_cost(hub.app, *estimate_draft_tokens(pieces)),
    )


@drafts_router.post("", status_code=201, summary="Draft core blocks from a text")
async def create_drafts(
    material: DraftRequest,
    me: CurrentUser,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> DraftResultSchema:
    """Draft suggestions from a text. No block changes until you accept them."""

    async def read() -> DraftResultSchema:
        draft = await draft_core_blocks(
            hub.app,
            me.person,
            split_text(SOURCE_NAME, material.text),
            with_model=material.with_model,
        )
        return DraftResultSchema(
            suggestions=tuple(
                SuggestionSchema.from_domain(each, zone=me.person.zone)
                for each in draft.suggestions
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
        me.person.id, idempotency_key, material, read, DraftResultSchema, now=now
    )


async def load_companion_name(db: Database) -> CompanionName:
    """Load the companion's current name."""
    async with db.begin_read() as tx:
        return CompanionName(name=await get_companion_name(tx))


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
