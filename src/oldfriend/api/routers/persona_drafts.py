"""Persona draft routes: turns a text into suggestions that a person must accept."""

from fastapi import APIRouter

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.idempotency import IdempotencyDep, OptionalIdempotencyKey
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import Material
from oldfriend.api.routers.imports import estimate_import_cost
from oldfriend.domain.i18n_messages import localizable
from oldfriend.persona.drafts import draft_core_blocks, estimate_draft_tokens
from oldfriend.persona.rule_classifier import RULES_ORIGIN
from oldfriend.persona.sources import split_text
from oldfriend.presenters.persona import Drafted, Foreseen, SuggestionShape

SOURCE_NAME = "what you gave"

router = APIRouter(prefix="/drafts", tags=["character"])


@router.post("/cost", summary="What would reading this cost?")
async def foresee(material: Material, _: CurrentUser, hub: HubDep) -> Foreseen:
    """With the small model; rules read it for nothing. Nothing is read yet."""
    pieces = split_text(SOURCE_NAME, material.text)
    return Foreseen(
        pieces=len(pieces),
        likely_cost=await estimate_import_cost(hub.app, *estimate_draft_tokens(pieces)),
    )


@router.post("", status_code=201, summary="Draft blocks from this")
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
            localizable("no_model", "Leave `with_model` out: rules read it, too."),
        )
    now = hub.app.clock()
    return await idempotency.run_once(
        me.person.id, idempotency_key, material, read, Drafted, now=now
    )
