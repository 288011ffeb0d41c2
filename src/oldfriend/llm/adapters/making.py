"""Which adapter reaches a chosen model? Nothing of a provider's is imported before one is made."""

from threading import Lock
from typing import TYPE_CHECKING, Final

from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.domain.sayings import extra_missing
from oldfriend.llm.catalogue import Choice

if TYPE_CHECKING:
    from oldfriend.llm.adapters.pydantic_ai import PydanticModel

IMPORTING: Final = Lock()
"""Two threads that import the same cyclic packages at once get them half made."""


def make_model(choice: Choice) -> "PydanticModel":
    """A model that can be asked; the caller closes it.

    Raises ModelMisconfigured where the extra is not installed, or the address is none.
    """
    with IMPORTING:
        try:
            from oldfriend.llm.adapters.pydantic_ai import open_model
        except ImportError as error:
            raise missing_extra() from error
        return open_model(choice)


def warm(choice: Choice) -> None:
    """Import, build and read ahead whatever the first reply would have to wait for.

    Takes a processor for about two seconds, without the network: call it in a thread. Raises
    ModelMisconfigured where the extra is not installed.
    """
    with IMPORTING:
        try:
            from oldfriend.llm.adapters.pricing import read_prices
            from oldfriend.llm.adapters.rehearsing import rehearse
        except ImportError as error:
            raise missing_extra() from error
        read_prices()
        rehearse(choice)


def missing_extra() -> ModelMisconfigured:
    """What to do where providers cannot be reached."""
    return ModelMisconfigured(extra_missing("Reaching language models", "oldfriend[models]"))
