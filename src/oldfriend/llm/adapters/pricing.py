"""Pricing: the cost of a model call, by the price list that ships with the installation."""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Protocol

from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot

from oldfriend.llm.providers import PROVIDERS, ModelConfig, is_free

MAX_DOLLARS: Final = 1_000_000
"""Limit for one call; a higher reported cost is taken for an error."""


class ReportedUsage(Protocol):
    """Usage as a provider reports it."""

    @property
    def input_tokens(self) -> int:
        """Tokens read."""

    @property
    def output_tokens(self) -> int:
        """Tokens written."""

    @property
    def cost(self) -> Decimal | None:
        """Cost in dollars; None if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEstimate:
    """Estimated token counts, in the form that the price list takes."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None = None
    cache_write_tokens: int | None = None
    cache_read_tokens: int | None = None
    input_audio_tokens: int | None = None
    cache_audio_read_tokens: int | None = None
    output_audio_tokens: int | None = None


def load_prices() -> None:
    """Load the price list ahead of time, because that is slow."""
    get_snapshot()


def compute_price(
    config: ModelConfig, usage: ReportedUsage, response_model: str | None
) -> int | None:
    """Return the cost in millionths of a dollar, rounded up; None if unknown, 0 only if free."""
    if usage.cost is not None:  # some providers report the cost
        is_amount = usage.cost.is_finite() and 0 <= usage.cost < MAX_DOLLARS
        return to_millionths(usage.cost) if is_amount else None
    if is_free(config):
        return 0
    if not usage.input_tokens and not usage.output_tokens:
        return None  # not reported
    preset = PROVIDERS.get(config.provider)
    is_official = preset is not None and config.base_url == preset.base_url
    for name in (response_model, config.name):
        try:
            if is_official:
                cost = calc_price(usage, name or config.name, provider_id=config.provider)
            else:
                cost = calc_price(usage, name or config.name, provider_api_url=config.base_url)
        except (LookupError, ValueError):
            continue
        return to_millionths(cost.total_price)
    return None


def to_millionths(dollars: Decimal) -> int:
    """Convert dollars to millionths, rounded up, so that only free calls cost 0."""
    return math.ceil(dollars * 1_000_000)
