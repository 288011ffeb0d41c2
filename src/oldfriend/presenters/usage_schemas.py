"""Usage: what models have cost, and what may still be spent today."""

from dataclasses import dataclass, field
from typing import Final, Literal, Self

from oldfriend.app.spend_limits import Allowance
from oldfriend.domain.json import JsonValue
from oldfriend.presenters.base_schema import Schema, describe, format_count, format_money
from oldfriend.usage.costs import MICRODOLLARS, UsageTotals

PURPOSE_LABELS: Final = {"background": "background work", "everything": "everything"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageTotalSchema(Schema):
    """The total under a heading."""

    heading: str = field(metadata=describe(examples=["reply"]))
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    dollars: float | None = field(metadata=describe("Null if the cost is unknown."))
    unknown_calls: int
    unpriced_tokens: int = field(
        metadata=describe("Tokens in and out of calls whose cost is unknown.")
    )

    @classmethod
    def from_domain(cls, heading: str, spent: UsageTotals) -> Self:
        """Present usage totals under a heading."""
        return cls(
            heading=heading,
            calls=spent.calls,
            failed=spent.failed,
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            dollars=to_known_dollars(spent),
            unknown_calls=spent.unpriced_calls,
            unpriced_tokens=spent.unpriced_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainingBudgetSchema(Schema):
    """What may still be spent today for a purpose."""

    purpose: Literal["background", "everything"]
    dollars: float | None = field(metadata=describe("Null if there is no limit."))
    tokens: int | None
    unpriced_tokens: int | None = field(
        metadata=describe("Tokens of models without a known price; null if there is no limit.")
    )
    is_used_up: bool

    @classmethod
    def from_domain(cls, allowance: Allowance) -> Self:
        """Present what is left of a daily cap."""
        return cls(
            purpose=allowance.purpose,
            dollars=to_dollars(allowance.money_left),
            tokens=allowance.tokens_left,
            unpriced_tokens=allowance.unpriced_tokens_left,
            is_used_up=allowance.is_used_up,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingSchema(Schema):
    """The cost of model calls."""

    days: int
    total: UsageTotalSchema
    by_purpose: tuple[UsageTotalSchema, ...]
    by_model: tuple[UsageTotalSchema, ...]
    by_day: tuple[UsageTotalSchema, ...] = field(
        metadata=describe("The latest day first; days without calls are left out.")
    )
    left: tuple[RemainingBudgetSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimateSchema(Schema):
    """The estimated cost of having a model read something. Rules are free."""

    model: str = field(metadata=describe(examples=["anthropic:claude-haiku-4-5"]))
    tokens: int = field(metadata=describe("The estimated number of tokens, in and out."))
    cost_usd: float | None = field(
        metadata=describe("The estimated cost; null if the price is unknown.")
    )
    left_today_usd: float | None = field(
        metadata=describe(
            "What is left of the daily limit for background work; null if there is none."
        )
    )


def to_known_dollars(spent: UsageTotals) -> float | None:
    """Return the cost in dollars; None, not zero, if none of it is known."""
    is_unknown = spent.unpriced_calls > 0 and not spent.cost
    return None if is_unknown else spent.cost / MICRODOLLARS


def to_dollars(cost: int | None) -> float | None:
    """Convert millionths of a dollar to dollars; None stays None."""
    return None if cost is None else cost / MICRODOLLARS


def usage_as_json(spent: UsageTotals) -> dict[str, JsonValue]:
    """Return usage totals as JSON; the cost is null if none of it is known."""
    return {
        "calls": spent.calls,
        "failed": spent.failed,
        "tokens_in": spent.tokens_in,
        "tokens_cached": spent.tokens_cached,
        "tokens_out": spent.tokens_out,
        "dollars": to_known_dollars(spent),
        "unknown_calls": spent.unpriced_calls,
        "unpriced_tokens": spent.unpriced_tokens,
    }


def allowance_as_json(allowance: Allowance) -> dict[str, JsonValue]:
    """Return what is left of a cap as JSON; null where there is no cap."""
    return {
        "dollars_left": to_dollars(allowance.money_left),
        "tokens_left": allowance.tokens_left,
        "unpriced_tokens_left": allowance.unpriced_tokens_left,
        "is_used_up": allowance.is_used_up,
        "spent": usage_as_json(allowance.spent),
    }


def format_cost(spent: UsageTotals) -> str:
    """Format a cost; an unknown cost is not shown as zero."""
    if not spent.unpriced_calls:
        return format_money(spent.cost)
    unknown = f"unknown: {spent.unpriced_tokens:,} tokens" if spent.unpriced_tokens else "unknown"
    return f"{format_money(spent.cost)}; {unknown}" if spent.cost else unknown


def format_allowance(allowance: Allowance) -> str:
    """Format what is left of a cap."""
    left: list[str] = []
    if allowance.money_left is not None and allowance.cap.cost is not None:
        left.append(f"{format_money(allowance.money_left)} of {format_money(allowance.cap.cost)}")
    if allowance.tokens_left is not None:
        left.append(f"{allowance.tokens_left:,} of {allowance.cap.tokens:,} tokens")
    left += format_unpriced(allowance)
    what = PURPOSE_LABELS[allowance.purpose]
    if not left:
        return f"Daily limit for {what}: none."
    return f"Left today for {what}: {', '.join(left)}."


def format_unpriced(allowance: Allowance) -> list[str]:
    """Format what is left for calls of unknown price, if there were any."""
    spent, max_tokens = allowance.spent, allowance.cap.unpriced_tokens
    if not spent.unpriced_calls or allowance.cap.cost is None:
        return []
    used = (
        f"price unknown: {spent.unpriced_tokens:,} tokens in "
        f"{format_count(spent.unpriced_calls, 'call')}"
    )
    return [used if max_tokens is None else f"{used}, of at most {max_tokens:,}"]
