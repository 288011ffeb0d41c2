"""Model factory: builds the adapter of a configured model; imports provider libraries lazily."""

from threading import Lock
from typing import TYPE_CHECKING, Final

from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.domain.i18n_messages import build_missing_extra_text
from oldfriend.llm.providers import ModelConfig

if TYPE_CHECKING:
    from oldfriend.llm.adapters.ollama import OllamaModel
    from oldfriend.llm.adapters.pydantic_ai import PydanticAiModel

IMPORT_LOCK: Final = Lock()
"""Two threads that import packages with cyclic imports at once see them half initialized."""


def build_model(config: ModelConfig) -> "PydanticAiModel | OllamaModel":
    """Build a model that can be asked; the caller closes it.

    Raises ModelMisconfigured if the extra is not installed or the address is invalid.
    """
    with IMPORT_LOCK:
        try:
            if config.kind == "ollama":
                from oldfriend.llm.adapters.ollama import open_ollama

                return open_ollama(config)
            from oldfriend.llm.adapters.pydantic_ai import open_model

            return open_model(config)
        except ImportError as error:
            raise build_missing_extra_error() from error


def warm_up(config: ModelConfig) -> None:
    """Import, build and load everything that the first reply would have to wait for.

    Takes about two seconds of CPU and no network: call it in a thread. Raises ModelMisconfigured
    if the extra is not installed.
    """
    if config.kind == "ollama":
        return  # nothing that takes time
    with IMPORT_LOCK:
        try:
            from oldfriend.llm.adapters.client_warmup import warm_up_client
            from oldfriend.llm.adapters.pricing import load_prices
        except ImportError as error:
            raise build_missing_extra_error() from error
        load_prices()
        warm_up_client(config)


def build_missing_extra_error() -> ModelMisconfigured:
    """Build the error that says how to install the extra for language models."""
    return ModelMisconfigured(
        build_missing_extra_text("Reaching language models", "oldfriend[models]")
    )
