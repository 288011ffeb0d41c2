"""How do words become a draft of who is who? Read by rules or a model; decided by people alone."""

from fastapi import APIRouter

from oldfriend.app.persona.drafting import draft, tokens_to_read
from oldfriend.app.persona.material import pieces_of_text
from oldfriend.app.persona.plain_rules import BY_RULES
from oldfriend.domain.sayings import saying
from oldfriend.web.problems import Refused
from oldfriend.web.repeating import MaybeKey, Once
from oldfriend.web.routes.bringing import cost_of
from oldfriend.web.shapes.character import Drafted, Foreseen, Material
from oldfriend.web.showing.character import suggestion_shape
from oldfriend.web.signing import Here, Me

SOURCE = "what you gave"

router = APIRouter(prefix="/drafts", tags=["character"])


@router.post("/cost", summary="What would reading this cost?")
async def foresee(material: Material, _: Me, room: Here) -> Foreseen:
    """With the small model; rules read it for nothing. Nothing is read yet."""
    pieces = pieces_of_text(SOURCE, material.text)
    return Foreseen(
        pieces=len(pieces), likely_cost=await cost_of(room.house, *tokens_to_read(pieces))
    )


@router.post("", status_code=201, summary="Draft blocks from this")
async def make(
    material: Material, me: Me, room: Here, deeds: Once, idempotency_key: MaybeKey = None
) -> Drafted:
    """What comes of it are suggestions: nothing stands in a block before each was accepted."""

    async def read() -> Drafted:
        made = await draft(
            room.house, me.person, pieces_of_text(SOURCE, material.text),
            with_model=material.with_model,
        )  # fmt: skip
        return Drafted(
            suggestions=[suggestion_shape(each, zone=me.person.zone) for each in made.suggestions],
            is_rough=made.by == BY_RULES,
            left_out=dict(made.left_out),
        )

    if material.with_model and "small" not in room.house.models:
        raise Refused(
            409,
            "No model is connected",
            saying("no_model", "Leave `with_model` out: rules read it, too."),
        )
    now = room.house.clock()
    return await deeds.once(me.person.id, idempotency_key, material, read, Drafted, now=now)
