"""Which provider is meant, at which address, with which key? From what was chosen and kept.

It makes no connection, and does not know what is asked over one.
"""

from oldfriend.app.choices.keys import Key, find_key
from oldfriend.app.choices.sections import ROLES, Provider
from oldfriend.app.choices.settings import Settings
from oldfriend.llm.catalogue import PROVIDERS, Choice, Patience, choose, is_on_this_machine


def choice_of(settings: Settings, model: str) -> Choice:
    """A model of a provider ("provider:name"), with all that is needed to reach it.

    Raises ModelMisconfigured where its address or its key is missing, InvalidInput where the keys
    are kept badly.
    """
    provider = provider_of(model)
    chosen = settings.providers.get(provider, Provider())
    key = find_key(provider, settings.environment, variable=chosen.key_from_env, data=settings.data)
    return choose(
        model,
        kind=chosen.kind,
        base_url=chosen.base_url,
        key=key.value if key else None,
        patience=Patience(
            connect_s=chosen.connect_s,
            first_s=chosen.silence_s,
            silence_s=chosen.silence_s,
            whole_s=max(settings.limits.turn_timeout_s, chosen.silence_s),
        ),
    )


def token_of(settings: Settings, channel: str) -> Key | None:
    """What a platform knows us by, and where it is kept. Raises InvalidInput."""
    variable = f"OLDFRIEND_{channel.upper()}_TOKEN"
    return find_key(channel, settings.environment, variable=variable, data=settings.data)


def provider_of(model: str) -> str:
    """The provider in "provider:name"."""
    return model.partition(":")[0]


def may_be_asked(settings: Settings, model: str) -> bool:
    """Whether somebody's words may go to a model of before.

    Only to a provider that still gets them anyway, or that is on this machine.
    """
    if ":" not in model:
        return True  # in this process
    provider = provider_of(model)
    used = {provider_of(settings.embedder.model)}
    used |= {provider_of(name) for role in ROLES for name in settings.models.for_role(role)}
    return provider in used or is_on_this_machine(address_of(settings, provider))


def address_of(settings: Settings, provider: str) -> str:
    """Where a provider is; empty where nobody has said it."""
    known = PROVIDERS.get(provider)
    own = settings.providers.get(provider, Provider()).base_url
    return own or (known.base_url if known else "")
