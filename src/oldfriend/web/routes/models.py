"""Which models do what, and how are they chosen? For the owner; a key is kept, and never shown."""

import asyncio
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final

from fastapi import APIRouter, Path, Response

from oldfriend.app.choices.listing import is_reloadable
from oldfriend.app.choices.reaching import address_of
from oldfriend.app.choices.sections import LOCAL
from oldfriend.app.choices.settings import Settings
from oldfriend.app.connecting import (
    EMBEDDING_MODELS,
    Offer,
    Wish,
    checked_provider,
    forget_provider,
    go_offline,
    keys_at_hand,
    list_offers,
    refuse_unfit,
)
from oldfriend.app.connecting_for import Candidate, Use, keep_candidate, try_out
from oldfriend.app.connecting_speech import SPEAKERS, TRANSCRIBERS
from oldfriend.domain.errors import EmbeddingFailed, ModelError, NotFound
from oldfriend.domain.sayings import saying
from oldfriend.llm.catalogue import PROVIDERS, Known, is_on_this_machine
from oldfriend.web.shapes.common import saying_shape
from oldfriend.web.shapes.settings import (
    Kept,
    Models,
    ModelWanted,
    ProviderShape,
    Tried,
    Usual,
)
from oldfriend.web.signing import Here, Owner
from oldfriend.web.taking_over import AtDesk

router = APIRouter(tags=["models"])
WRITTEN_AS: Final[Mapping[Use, str]] = MappingProxyType({
    "main": "models.main", "small": "models.small", "reflect": "models.reflect",
    "embedder": "embedder.model", "transcriber": "speech.transcriber",
    "speaker": "speech.speaker",
})  # fmt: skip
"""Under which name a choice stands in the file."""
ForWhat = Annotated[Use, Path(description="What it is to do.", examples=["main"])]


@router.get("/models", summary="Who does what, and who could")
async def show_models(_: Owner, room: Here) -> Models:
    """Nobody is asked but an Ollama on this machine, which models it has."""
    settings = room.house.settings
    offers = {each.provider: each for each in await list_offers(settings)}
    keys = {each.provider: each.why for each in await asyncio.to_thread(keys_at_hand, settings)}
    names = [*PROVIDERS, *(each for each in settings.providers if each not in PROVIDERS)]
    return Models(
        main=[*settings.models.main], small=[*settings.models.small],
        reflect=[*settings.models.reflect], embedder=settings.embedder.model,
        transcriber=settings.speech.transcriber, speaker=settings.speech.speaker,
        voice=settings.speech.voice,
        providers=[provider_shape(settings, name, offers.get(name), keys) for name in names],
    )  # fmt: skip


@router.post("/models/{use}/test", summary="Try a model")
async def try_one(use: ForWhat, wanted: ModelWanted, _: Owner, room: Here) -> Tried:
    """Have it do a little of its work: what that is sent is ours, nothing that anybody said."""
    settings, began = room.house.settings, time.monotonic()
    try:
        trial = await try_out(settings, candidate_of(settings, use, wanted))
        works, told = True, trial.told
    except (ModelError, EmbeddingFailed) as error:
        works, told = False, error.says
    return Tried(
        works=works, told=saying_shape(told), took_ms=round((time.monotonic() - began) * 1000)
    )


@router.put("/models/{use}", summary="Choose a model")
async def choose_model(
    use: ForWhat, wanted: ModelWanted, _: Owner, room: Here, desk: AtDesk
) -> Kept:
    """Keep the choice. With a provider's usual model for replies come its usual other ones."""
    settings = room.house.settings
    candidate = candidate_of(settings, use, wanted)
    dimension = (await try_out(settings, candidate)).dimension if use == "embedder" else None
    keeping = await desk.take_over(
        room, lambda now: keep_candidate(now, candidate, dimension=dimension)
    )
    return Kept(key_in=keeping.key_in, takes_new_start=not is_reloadable(WRITTEN_AS[use]))


@router.delete("/models", status_code=204, summary="Go offline")
async def offline(_: Owner, room: Here, desk: AtDesk) -> Response:
    """Take every model away that is elsewhere; keys stay where they are."""
    await desk.take_over(room, go_offline)
    return Response(status_code=204)


@router.delete("/providers/{provider}/key", status_code=204, summary="Forget a key")
async def forget_key(provider: str, _: Owner, room: Here, desk: AtDesk) -> Response:
    """Remove it from this machine. Revoke it at the provider, too."""
    name = checked_provider(provider)
    if not await desk.take_over(room, lambda settings: forget_provider(settings, name)):
        raise NotFound(saying(
            "key_not_kept", f"No key of {name} is kept here. One in a variable is taken out there.",
            name=name,
        ))  # fmt: skip
    return Response(status_code=204)


def candidate_of(settings: Settings, use: Use, wanted: ModelWanted) -> Candidate:
    """Who is to do something. Raises InvalidInput."""
    if wanted.provider == LOCAL and use in {"embedder", "transcriber"}:
        return Candidate(use=use, wish=None, folder=wanted.name)
    wish = Wish(
        provider=wanted.provider, name=wanted.name.strip(), base_url=wanted.base_url or None,
        kind=wanted.kind, key=wanted.key or None,
    )  # fmt: skip
    refuse_unfit(settings, wish)
    return Candidate(use=use, wish=wish, voice=wanted.voice or settings.speech.voice)


def provider_shape(
    settings: Settings, name: str, offer: Offer | None, keys: dict[str, str]
) -> ProviderShape:
    """Somebody who has models."""
    known = PROVIDERS.get(name, Known(kind="openai", base_url=""))
    address = address_of(settings, name)
    return ProviderShape(
        name=name, base_url=address, is_here=is_on_this_machine(address),
        needs_key=bool(known.keys), key_in=keys.get(name), models=[*offer.models] if offer else [],
        usual=Usual(
            main=known.main, small=known.small, reflect=known.reflect,
            embedder=EMBEDDING_MODELS.get(name), transcriber=TRANSCRIBERS.get(name),
            speaker=SPEAKERS.get(name),
        ),
    )  # fmt: skip
