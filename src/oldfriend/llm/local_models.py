"""Local models: what the models of a server on this machine are good for, and which to choose.

Judged by what their servers tell of them: kind, size, context and abilities. The thresholds are
rules of thumb.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.llm.providers import CLOUD_SUFFIXES

Fitness = Literal["full", "small", "search"]
""""full": for talk and for learning; "small": learns in two passes; "search": an embedder."""

FULL_PARAMETERS: Final = 6_500_000_000
"""Models with fewer parameters lose track when they learn from a conversation in one pass."""
FULL_CONTEXT: Final = 12_000
"""Tokens of a normal prompt and its answer; what is learned from may be longer still."""
WANTED_CONTEXT: Final = 16_384
QUICK_PARAMETERS: Final = 40_000_000_000
"""Models with more parameters answer too slowly for talk on most people's machines."""

SIZE_IN_NAME: Final = re.compile(
    r"""
    (?<![\w.])          # no other word: not the "A3B" of "Qwen3-30B-A3B"
    (\d{1,4}(?:\.\d+)?) # "30", "1.5"
    b                   # billions
    (?![a-z0-9])        # "8b", "8B-instruct", "8b_q4"
    """,
    re.VERBOSE | re.IGNORECASE,
)
EMBEDDER_IN_NAME: Final = "embed"
"""In the name of most embedding models: "nomic-embed-text", "Qwen3-Embedding-4B"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """Model of a local server; None: the server does not tell."""

    name: str
    is_embedder: bool = False
    parameters: int | None = None
    context_length: int | None = None  # in tokens, as it is loaded if it is, else at most
    has_tools: bool | None = None
    thinks: bool | None = None  # it can reason before it answers

    @property
    def is_cloud(self) -> bool:
        """Tell whether the server passes what it is sent on to its maker's cloud."""
        return self.name.endswith(CLOUD_SUFFIXES)

    @property
    def has_little_context(self) -> bool:
        """Tell whether a normal prompt and its answer do not fit."""
        return self.context_length is not None and self.context_length < FULL_CONTEXT

    @property
    def fitness(self) -> Fitness:
        """What the model is good for; one of unknown size is taken to be large enough."""
        if self.is_embedder:
            return "search"
        is_small = self.parameters is not None and self.parameters < FULL_PARAMETERS
        return "small" if is_small or self.has_little_context else "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """Server on this machine that has answered, and its models."""

    provider: str
    base_url: str  # of its OpenAI-compatible API
    models: tuple[LocalModel, ...]

    def find_model(self, name: str) -> LocalModel | None:
        """Return the model of a name, if the server has it."""
        return next((model for model in self.models if model.name == name), None)


def suggest_roles(server: LocalServer) -> Mapping[str, str]:
    """Return the names of the models to use as main, small and reflect, and as embedder.

    The model that talks also learns, as smaller ones learn badly and two at once may not fit into
    the memory; a larger one may think in the background, where nobody waits. A role without an
    entry uses the main model. The embedder in this program is not replaced unasked: an embedder is
    only suggested where there is nothing else.
    """
    talking = [each for each in server.models if not each.is_embedder and not each.is_cloud]
    if not talking:
        search = [each.name for each in server.models if each.is_embedder]
        return {"embedder": search[0]} if search else {}
    main = max(talking, key=_rate_for_talk)
    largest = max(talking, key=lambda model: model.parameters or 0)
    is_larger = (largest.parameters or 0) > (main.parameters or 0) and main.parameters is not None
    return {"main": main.name} | ({"reflect": largest.name} if is_larger else {})


def _rate_for_talk(model: LocalModel) -> tuple[bool, bool, bool, int]:
    size = model.parameters or 0
    is_quick = size <= QUICK_PARAMETERS
    return (
        model.fitness == "full",
        model.has_tools is not False,
        is_quick,
        size if is_quick else -size,
    )


def describe_fitness(model: LocalModel) -> LocalizedText:
    """Return in plain words what a model is good for."""
    if model.is_cloud:
        return localizable(
            "fit_cloud", "runs in its maker's cloud: what you say leaves this machine"
        )
    if model.fitness == "search":
        return localizable("fit_search", "for search by meaning only")
    if model.fitness == "full":
        return localizable("fit_full", "good for talk and for learning")
    if model.has_little_context:
        return localizable(
            "fit_short",
            f"for talk with short prompts, as it has room for {model.context_length:,} tokens "
            f"(if its server lets you, give it {WANTED_CONTEXT:,}); learns in two passes",
            tokens=model.context_length or 0,
            wanted=WANTED_CONTEXT,
        )
    return localizable(
        "fit_small", "good for talk; too small to learn well, so it learns in two passes"
    )


def parse_size_in_name(name: str) -> int | None:
    """Return the parameters that a model's name tells, such as 8 billion for "llama-3.1-8b"."""
    sizes = [float(size) for size in SIZE_IN_NAME.findall(name)]
    return round(max(sizes) * 1_000_000_000) if sizes else None


def is_embedder_name(name: str) -> bool:
    """Tell whether a model's name says that it embeds; for servers that do not tell."""
    return EMBEDDER_IN_NAME in name.lower()
