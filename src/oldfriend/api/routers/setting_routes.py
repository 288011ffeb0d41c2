"""Settings and model routes for the owner; changes apply at once where possible."""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Final

from fastapi import APIRouter, Path, Response

from oldfriend.api.auth import HubDep, OwnerUser
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.etags import IfMatch, check_if_match, compute_etag
from oldfriend.api.requests import ModelRequest, SettingsUpdateRequest
from oldfriend.api.settings_reload import SettingsWriterDep
from oldfriend.config.provider_resolution import get_provider_url
from oldfriend.config.settings import Settings
from oldfriend.config.settings_catalog import is_reloadable, list_settings, write_settings
from oldfriend.config.settings_schema import LOCAL
from oldfriend.domain.errors import EmbeddingFailed, InvalidInput, ModelError, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.addresses import resolve_refusal
from oldfriend.llm.local_models import LocalServer
from oldfriend.llm.providers import PROVIDERS, ProviderPreset, is_local_address
from oldfriend.presenters.base_schema import LocalizedTextSchema
from oldfriend.presenters.configuration_schemas import (
    DefaultModelsSchema,
    DetectedServerSchema,
    ModelsSchema,
    ModelTestSchema,
    ProviderSchema,
    SavedModelSchema,
    SettingListSchema,
)
from oldfriend.runtime.provider_roles import (
    DEFAULT_SPEAKERS,
    DEFAULT_TRANSCRIBERS,
    ModelCandidate,
    ModelUse,
    save_candidate,
    try_candidate,
)
from oldfriend.runtime.provider_setup import (
    DEFAULT_EMBEDDING_MODELS,
    ProviderSetup,
    delete_provider_key,
    disconnect_models,
    find_server,
    list_offers,
    validate_provider,
    validate_setup,
)

router = APIRouter(tags=["settings"])


@router.get("/settings", summary="List settings")
async def show_settings(_: OwnerUser, hub: HubDep, response: Response) -> SettingListSchema:
    """List the settings that can be changed here, and where each value comes from."""
    return load_choices(hub, response)


@router.patch("/settings", summary="Change settings")
async def update_settings(
    chosen: SettingsUpdateRequest,
    _: OwnerUser,
    hub: HubDep,
    writer: SettingsWriterDep,
    response: Response,
    if_match: IfMatch = None,
) -> SettingListSchema:
    """Write settings to the file, and apply those that need no restart; all change, or none.

    `takes_new_start` marks a setting whose change waits for the next start.
    """

    def write(settings: Settings) -> str:
        check_if_match(if_match, compute_etag(build_choices(settings)))
        return write_settings(settings, chosen.values)

    await writer.apply(hub, write)
    return load_choices(hub, response)


def load_choices(hub: ConnectionHub, response: Response) -> SettingListSchema:
    """Load the settings and set their ETag."""
    choices = build_choices(hub.app.settings)
    response.headers["ETag"] = compute_etag(choices)
    return choices


def build_choices(settings: Settings) -> SettingListSchema:
    """Build the list of settings."""
    return SettingListSchema.from_domain(list_settings(settings), str(settings.file))


models_router = APIRouter(tags=["models"])
SETTING_BY_USE: Final[Mapping[ModelUse, str]] = MappingProxyType(
    {
        "main": "models.main",
        "small": "models.small",
        "reflect": "models.reflect",
        "embedder": "embedder.model",
        "transcriber": "speech.transcriber",
        "speaker": "speech.speaker",
    }
)
"""The setting that stores the choice for each use."""
UseParam = Annotated[ModelUse, Path(description="What the model is used for.", examples=["main"])]


@models_router.get("/models", summary="List models and providers")
async def show_models(_: OwnerUser, hub: HubDep) -> ModelsSchema:
    """List the models in use and those available. Only servers on this machine are contacted."""
    settings = hub.app.settings
    offers = await list_offers(settings)
    servers = [each.server for each in offers if each.server is not None]
    keys = {each.provider: each.key_in for each in offers if each.key_in is not None}
    names = [*PROVIDERS, *(each for each in settings.providers if each not in PROVIDERS)]
    return ModelsSchema(
        main=tuple(settings.models.main),
        small=tuple(settings.models.small),
        reflect=tuple(settings.models.reflect),
        embedder=settings.embedder.model,
        transcriber=settings.speech.transcriber,
        speaker=settings.speech.speaker,
        voice=settings.speech.voice,
        providers=tuple(
            to_provider_shape(
                settings, name, [each for each in servers if each.provider == name], keys
            )
            for name in names
        ),
        found=tuple(map(DetectedServerSchema.from_domain, servers)),
    )


@models_router.post("/models/{use}/test", summary="Test a model")
async def try_model(
    use: UseParam, wanted: ModelRequest, _: OwnerUser, hub: HubDep
) -> ModelTestSchema:
    """Send a short test request, which contains nothing that anybody has said."""
    settings, started = hub.app.settings, time.monotonic()
    try:
        trial = await try_candidate(settings, await build_candidate(settings, use, wanted))
        works, text = True, trial.text
    except (ModelError, EmbeddingFailed) as error:
        works, text = False, error.user_text
    message = LocalizedTextSchema.from_domain(text)
    return ModelTestSchema(
        works=works,
        message=message,
        told=message,
        took_ms=round((time.monotonic() - started) * 1000),
    )


@models_router.put("/models/{use}", summary="Choose a model")
async def choose_model(
    use: UseParam, wanted: ModelRequest, _: OwnerUser, hub: HubDep, writer: SettingsWriterDep
) -> SavedModelSchema:
    """Save the choice. A default or suggested model for replies brings those for the other uses."""
    settings = hub.app.settings
    candidate = await build_candidate(settings, use, wanted)
    dimension = (await try_candidate(settings, candidate)).dimension if use == "embedder" else None
    saved = await writer.apply(hub, lambda now: save_candidate(now, candidate, dimension=dimension))
    return SavedModelSchema(
        key_in=saved.key_in, takes_new_start=not is_reloadable(SETTING_BY_USE[use])
    )


@models_router.delete("/models", status_code=204, summary="Disconnect all models")
async def go_offline(_: OwnerUser, hub: HubDep, writer: SettingsWriterDep) -> Response:
    """Disconnect every model that is not on this machine. Stored keys stay."""
    await writer.apply(hub, disconnect_models)
    return Response(status_code=204)


@models_router.delete(
    "/providers/{provider}/key", status_code=204, summary="Remove a provider's key"
)
async def remove_provider_key(
    provider: str, _: OwnerUser, hub: HubDep, writer: SettingsWriterDep
) -> Response:
    """Remove the key from this machine. Revoke it with the provider, too."""
    name = validate_provider(provider)
    if not await writer.apply(hub, lambda settings: delete_provider_key(settings, name)):
        raise NotFound(
            localizable(
                "key_not_kept",
                f"No key of {name} is stored here. If it is set in an environment variable, "
                "remove it there.",
                name=name,
            )
        )
    return Response(status_code=204)


async def build_candidate(
    settings: Settings, use: ModelUse, wanted: ModelRequest
) -> ModelCandidate:
    """Build and validate a model candidate. Raises InvalidInput."""
    if wanted.provider == LOCAL and use in {"embedder", "transcriber"}:
        return ModelCandidate(use=use, setup=None, folder=wanted.name)
    setup = ProviderSetup(
        provider=wanted.provider,
        name=wanted.name.strip(),
        base_url=wanted.base_url or None,
        kind=wanted.kind,
        key=wanted.key or None,
    )
    validate_setup(settings, setup)
    if setup.base_url and (refusal := await resolve_refusal(setup.base_url)):
        raise InvalidInput(refusal)
    return ModelCandidate(
        use=use,
        setup=setup,
        voice=wanted.voice or settings.speech.voice,
        server=await find_server(settings, setup) if use == "main" else None,
    )


def to_provider_shape(
    settings: Settings, name: str, servers: Sequence[LocalServer], keys: Mapping[str, str]
) -> ProviderSchema:
    """Convert a provider with its servers on this machine and key source."""
    preset = PROVIDERS.get(name, ProviderPreset(kind="openai", base_url=""))
    address = get_provider_url(settings, name)
    return ProviderSchema(
        name=name,
        base_url=address,
        is_here=is_local_address(address),
        needs_key=bool(preset.key_variables),
        key_in=keys.get(name),
        models=tuple(model.name for server in servers for model in server.models),
        usual=DefaultModelsSchema(
            main=preset.main,
            small=preset.small,
            reflect=preset.reflect,
            embedder=DEFAULT_EMBEDDING_MODELS.get(name),
            transcriber=DEFAULT_TRANSCRIBERS.get(name),
            speaker=DEFAULT_SPEAKERS.get(name),
        ),
    )
