"""What did a call cost? By a list of prices that came with the installation; nothing is fetched."""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot

from oldfriend.llm.catalogue import PROVIDERS, Choice, is_free


class Counted(Protocol):
    """What a provider says that it counted."""

    @property
    def input_tokens(self) -> int:
        """Those that it read."""

    @property
    def output_tokens(self) -> int:
        """Those that it wrote."""

    @property
    def cost(self) -> Decimal | None:
        """In dollars; None where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Numbers of tokens that nobody has counted yet."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None = None
    cache_write_tokens: int | None = None
    cache_read_tokens: int | None = None
    input_audio_tokens: int | None = None
    cache_audio_read_tokens: int | None = None
    output_audio_tokens: int | None = None


def read_prices() -> None:
    """Read the list ahead; it takes a while."""
    get_snapshot()


def price(choice: Choice, usage: Counted, answered_by: str | None) -> int | None:
    """Millionths of a dollar, rounded up; None where it is not known, 0 only where it is free."""
    if usage.cost is not None:  # some say it themselves
        return in_millionths(usage.cost)
    if not usage.input_tokens and not usage.output_tokens:
        return None  # not reported
    if is_free(choice):
        return 0
    known = PROVIDERS.get(choice.provider)
    is_usual_place = known is not None and choice.base_url == known.base_url
    for name in (answered_by, choice.name):
        try:
            if is_usual_place:
                cost = calc_price(usage, name or choice.name, provider_id=choice.provider)
            else:
                cost = calc_price(usage, name or choice.name, provider_api_url=choice.base_url)
        except (LookupError, ValueError):
            continue
        return in_millionths(cost.total_price)
    return None


def in_millionths(dollars: Decimal) -> int:
    """An amount of money, rounded up so that only what is free is 0."""
    return math.ceil(dollars * 1_000_000)
