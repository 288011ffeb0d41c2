"""Which models could be connected, does one answer, and how is the choice kept?

It asks nobody anything: what was chosen is given. Nothing is sent but a test, when that is asked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from oldfriend.app.charging import LedgerAccount, Tab
from oldfriend.app.choices.choosing import Given
from oldfriend.app.choices.database_url import shown_url
from oldfriend.app.choices.keys import find_key, forget_key, keep_key, variables_of
from oldfriend.app.choices.reaching import address_of
from oldfriend.app.choices.sections import (
    ADDRESS,
    LOCAL,
    MODEL_NAME,
    PROVIDER_NAME,
    ROLES,
    Models,
    Provider,
    Role,
)
from oldfriend.app.choices.settings import Settings
from oldfriend.app.choices.settings_writing import Written, write_choices
from oldfriend.app.wiring import Minds, dimension_of, ollama_models, open_database
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import InvalidInput, StoreNotFound
from oldfriend.domain.sayings import saying
from oldfriend.llm.catalogue import PROVIDERS, Kind, is_on_this_machine
from oldfriend.llm.model import Request, Turn

EMBEDDING_MODELS: Final[Mapping[str, str]] = {
    "openai": "text-embedding-3-small", "google": "gemini-embedding-001",
    "mistral": "mistral-embed", "openrouter": "openai/text-embedding-3-small",
    "ollama": "nomic-embed-text",
}  # fmt: skip
"""What is usual for a provider that has any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A provider that could be connected at once, and why."""

    provider: str
    why: str
    models: tuple[str, ...] = ()  # that it has, where that can be known


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants to connect."""

    provider: str
    name: str
    base_url: str | None = None
    kind: Kind | None = None
    key_from_env: str | None = None
    key: str | None = field(default=None, repr=False)  # as it was typed just now

    @property
    def model(self) -> str:
        """As it is written in settings."""
        return f"{self.provider}:{self.name}"

    def with_key(self, key: str) -> "Wish":
        """The same, with a key that was typed."""
        return replace(self, key=key)


async def list_offers(settings: Settings) -> list[Offer]:
    """The providers whose key is at hand, and what runs on this machine; none of them is asked."""
    offers = keys_at_hand(settings)
    if models := await ollama_models(address_of(settings, "ollama")):
        offers.append(Offer(provider="ollama", why="runs on this machine", models=tuple(models)))
    return offers


def keys_at_hand(settings: Settings) -> list[Offer]:
    """The providers whose key is in the environment or was kept."""
    offers: list[Offer] = []
    for provider in [*PROVIDERS, *(set(settings.providers) - set(PROVIDERS))]:
        variable = settings.providers.get(provider, Provider()).key_from_env
        if key := find_key(provider, settings.environment, variable=variable, data=settings.data):
            offers.append(Offer(provider=provider, why=f"its key is in {key.where}"))
    return offers


def wants_key(settings: Settings, wish: Wish) -> bool:
    """Whether a key is needed that is not there yet."""
    known = PROVIDERS.get(wish.provider)
    if known is None or not known.keys or wish.key or wish.base_url:
        return False
    variable = wish.key_from_env
    return not find_key(wish.provider, settings.environment, variable=variable, data=settings.data)


def missing_variable(settings: Settings, wish: Wish) -> str | None:
    """The variable that was named as the place of the key, where there is no key in it."""
    variable = wish.key_from_env or settings.providers.get(wish.provider, Provider()).key_from_env
    if variable is None or wish.key:
        return None
    key = find_key(wish.provider, settings.environment, variable=variable, data=settings.data)
    return variable if key is None else None


def checked_provider(name: str) -> str:
    """The name of a provider. Raises InvalidInput."""
    if not re.fullmatch(PROVIDER_NAME, name):
        there = ", ".join(PROVIDERS)
        raise InvalidInput(saying(
            "provider_unknown", f"{shown_url(name)!r} names no provider. There are: {there}.",
            there=there,
        ))  # fmt: skip
    return name


def refuse_unfit(settings: Settings, wish: Wish) -> None:
    """Raise InvalidInput for a wish in which something is missing, or cannot be right."""
    checked_provider(wish.provider)
    if not wish.name or not re.fullmatch(MODEL_NAME, wish.model):
        raise InvalidInput(saying("model_unnamed", "Name the model, as its provider does."))
    if wish.base_url:
        where = saying("setting_address", "The address")
        ADDRESS(Given(value=wish.base_url, where=where, is_text=True))
    elif not address_of(settings, wish.provider):
        raise InvalidInput(saying(
            "address_needed",
            f"Say at which address {wish.provider} is, such as http://localhost:8080/v1",
            provider=wish.provider,
        ))  # fmt: skip
    if variable := missing_variable(settings, wish):
        raise InvalidInput(
            saying("variable_empty", f"There is no key in {variable}.", variable=variable)
        )
    if wants_key(settings, wish):
        raise InvalidInput(
            saying("key_needed", f"{wish.provider} needs a key.", provider=wish.provider)
        )


def with_wish(settings: Settings, wish: Wish) -> Settings:
    """The settings as they would be."""
    before = settings.providers.get(wish.provider, Provider())
    provider = replace(
        before,
        kind=wish.kind or before.kind,
        base_url=wish.base_url or before.base_url,
        key_from_env=wish.key_from_env or before.key_from_env,
    )
    environment = settings.environment
    if wish.key:  # it is kept only once it works
        variable = variables_of(wish.provider, provider.key_from_env)[0]
        environment = {**environment, variable: wish.key}
    return replace(
        settings,
        models=Models(main=(wish.model,)),
        providers={**settings.providers, wish.provider: provider},
        environment=environment,
    )


def stays_here(settings: Settings, wish: Wish) -> bool:
    """Whether nothing that is said leaves this machine."""
    return is_on_this_machine(address_of(with_wish(settings, wish), wish.provider))


async def try_model(settings: Settings, wish: Wish) -> str:
    """Have the model say a word; what it said. Raises ModelError."""
    request = Request(
        purpose="test", prompt="test/1", stable="Answer in one word.",
        turns=(Turn(role="house", text="Say hello."),), most_tokens=64,
    )  # fmt: skip
    minds, tab = Minds(with_wish(settings, wish), system_clock), Tab()
    try:
        return (await minds.by_role()["main"].chain(tab.record).complete(request)).text.strip()
    finally:
        await minds.close()
        await charge_owner(settings, tab)


async def measure_embedder(settings: Settings, wish: Wish) -> int:
    """How many numbers its vectors have. Raises EmbeddingFailed, ModelMisconfigured."""
    tab = Tab()
    try:
        return await dimension_of(with_wish(settings, wish), wish.model, tab)
    finally:
        await charge_owner(settings, tab)


async def charge_owner(settings: Settings, tab: Tab) -> None:
    """Keep the calls of a test in the ledger, where there is one yet."""
    try:
        db = await open_database(settings.database, create=False)
    except StoreNotFound:
        return
    try:
        account = LedgerAccount(db=db, settings=settings, clock=system_clock)
        for call in tab.calls:
            await account.record(call)
    finally:
        await db.close()


def keep_model(settings: Settings, wish: Wish) -> tuple[dict[Role, str], str | None]:
    """Keep a choice; which model then does what, and where its key went, if it had one.

    With a provider's usual model come its usual ones for the other roles.
    """
    roles: dict[Role, str] = {"main": wish.model}
    known = PROVIDERS.get(wish.provider)
    if known is not None and wish.name == known.main:
        others: dict[Role, str | None] = {"small": known.small, "reflect": known.reflect}
        roles |= {role: f"{wish.provider}:{name}" for role, name in others.items() if name}
    chosen = {f"models.{role}": [roles[role]] if role in roles else None for role in ROLES}
    return roles, keep(settings, wish, chosen)


def keep_for_role(settings: Settings, wish: Wish, role: Role) -> str | None:
    """Keep a model for one role alone; where its key went, if it had one."""
    return keep(settings, wish, {f"models.{role}": [wish.model]})


def keep_local_embedder(settings: Settings) -> None:
    """Embed in this program again."""
    write_choices(settings.file, {"embedder.model": None, "embedder.dimension": None})


def keep_embedder(settings: Settings, wish: Wish, dimension: int) -> str | None:
    """Keep the choice of a model for embedding; where its key went, if it had one."""
    chosen: dict[str, Written] = {"embedder.model": wish.model, "embedder.dimension": dimension}
    return keep(settings, wish, chosen)


def keep(settings: Settings, wish: Wish, choices: Mapping[str, Written]) -> str | None:
    """Write down what was chosen, and how the provider is reached."""
    place = f"providers.{wish.provider}"
    reached: dict[str, Written] = {
        f"{place}.{name}": value
        for name, value in (
            ("kind", wish.kind), ("base_url", wish.base_url), ("key_from_env", wish.key_from_env)
        )
        if value is not None
    }  # fmt: skip
    kept = keep_key(wish.provider, wish.key, data=settings.data) if wish.key else None
    write_choices(settings.file, {**reached, **choices})
    return kept


def go_offline(settings: Settings) -> None:
    """Take every model away that is elsewhere; what is known of providers stays."""
    gone: dict[str, Written] = {f"models.{role}": None for role in ROLES}
    gone |= {"embedder.model": None, "embedder.dimension": None, "speech.speaker": None}
    if not (settings.speech.transcriber or "").startswith(f"{LOCAL}:"):
        gone["speech.transcriber"] = None
    write_choices(settings.file, gone)


def forget_provider(settings: Settings, provider: str) -> bool:
    """Remove a provider's key where it was kept; whether there was one."""
    return forget_key(provider, data=settings.data)
