"""Model offers: what could be connected at once, as lines for the terminal."""

from collections.abc import Sequence

from oldfriend.llm.local_models import LocalModel, LocalServer, describe_fitness, suggest_roles
from oldfriend.runtime.provider_setup import ProviderOffer


def format_offer(offer: ProviderOffer) -> str:
    """Return one line that says what is at hand, and the command that connects it."""
    command = f"oldfriend connect model --provider {offer.provider}"
    main = None if offer.server is None else suggest_roles(offer.server).get("main")
    model = offer.server.find_model(main) if offer.server and main else None
    what = "" if model is None else f"; {model.name} is {describe_fitness(model)}"
    return f"{offer.provider} ({offer.why}){what}: {command}"


def format_providers(offers: Sequence[ProviderOffer], names: Sequence[str]) -> list[str]:
    """Return a numbered line for each provider, and under a local one the lines of its models."""
    by_name = {offer.provider: offer for offer in reversed(offers)}
    lines: list[str] = []
    for number, name in enumerate(names, 1):
        offer = by_name.get(name)
        lines.append(f"{number:>3}  {name}{f' ({offer.why})' if offer else ''}")
        if offer is not None and offer.server is not None:
            lines += format_models(offer.server.models)
    return lines


def format_models(models: Sequence[LocalModel]) -> list[str]:
    """Return a line for each model: its name, size, context and what it is good for."""
    width = max((len(model.name) for model in models), default=0)
    return [
        f"       {model.name:<{width}}  {', '.join(filter(None, format_facts(model)))}"
        for model in models
    ]


def format_facts(model: LocalModel) -> Sequence[str]:
    """Return what is known of a model; "" for what is not."""
    size, context = model.parameters, model.context_length
    return (
        describe_fitness(model),
        "" if size is None else f"{size / 1e9:.1f} billion parameters",
        "" if context is None else f"context of {context:,} tokens",
        "no tools" if model.has_tools is False and not model.is_embedder else "",
    )


def choose_likely_model(server: LocalServer | None, default: str | None, *, use: str) -> str | None:
    """Return the model of a server to suggest for a use, or the provider's usual one."""
    if server is None:
        return default
    if use != "embedder":
        return suggest_roles(server).get("main")
    names = [model.name for model in server.models if model.is_embedder]
    usual = [name for name in names if default and name.split(":")[0] == default]
    return next(iter([*usual, *names]), default)
