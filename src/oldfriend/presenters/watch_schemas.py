"""Watches: what a person wants to be told of once, for the API and the command line."""

from dataclasses import dataclass, field
from typing import Self

from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.watches.watch import Condition, Watch, WatchStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSchema(Schema):
    """A page that is read until it changes, or a number of the person's own with a limit."""

    id: str
    url: str = field(metadata=describe("The address, or `measure:UNIT:NAME` for a number."))
    measure: str | None = field(metadata=describe("The measure that is watched; null for a page."))
    unit: str = field(metadata=describe("The unit of a number's limit."))
    text: str = field(metadata=describe("What the person asked, or the address."))
    condition: Condition
    threshold: float | None = field(metadata=describe("The price or number; null for any change."))
    status: WatchStatus = field(
        metadata=describe("`fired`: it was seen; `lost`: it could not be read. Both end it.")
    )
    amount: float | None = field(
        metadata=describe("The first price on it when it was read last, or the number.")
    )
    next_check: str | None
    created: str
    message: str | None = field(metadata=describe("The message that asked for it."))

    @classmethod
    def from_domain(cls, watch: Watch, *, zone: str) -> Self:
        """Present a watch, with times in the person's zone."""
        return cls(
            id=watch.id,
            url=watch.url,
            measure=None if watch.number is None else watch.number.name,
            unit="" if watch.number is None else watch.number.unit,
            text=watch.text,
            condition=watch.condition,
            threshold=watch.threshold,
            status=watch.status,
            amount=watch.amount,
            next_check=format_time(watch.next_check_at, zone)
            if watch.status == "active" and watch.number is None
            else None,
            created=format_time(watch.created_at, zone),
            message=watch.message,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchListSchema(Schema):
    """A person's watches, oldest first."""

    items: tuple[WatchSchema, ...]
