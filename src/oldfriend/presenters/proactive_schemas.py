"""Speaking first, as it is shown: what a person has chosen, and what was decided and why."""

from dataclasses import dataclass, field
from typing import Final, Self

from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.proactive.checklist import Checklist
from oldfriend.proactive.impulse_store import StoredImpulse
from oldfriend.proactive.policy import DecisionReason
from oldfriend.proactive.proactive_settings import ProactiveSettings
from oldfriend.proactive.quiet_hours import format_clock_minute

REASON_TEXTS: Final[dict[DecisionReason, str]] = {
    "trigger": "Its time had come.",
    "master_switch": "Speaking first is off.",
    "level": "The chosen level leaves it out.",
    "muted": "It is not wanted again.",
    "quiet_hours": "It was within the quiet hours.",
    "cold_user": "The last messages were not answered, so it waits to be spoken to.",
    "rate": "Enough was said within 24 hours.",
    "cooldown": "Something was said not long before.",
    "active_conversation": "A conversation was going on.",
    "turn_in_flight": "A reply was being given.",
    "no_channel": "There was no chat in which to write.",
    "reply_window": "The platform takes nothing before the person writes.",
    "mood": "The last conversation ended tired or annoyed.",
    "not_yet": "Its time had not come.",
    "expired": "Its time was over.",
    "chance": "It was left to chance, and not now.",
    "told": "It was told already, or is no longer believed.",
    "covered": "It was said within another message.",
    "no_reply": "The model found it better left unsaid.",
}
"""Why something was said, waits or was dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistSchema(Schema):
    """What is looked at again and again, unasked."""

    lines: tuple[str, ...] = field(metadata=describe(examples=[["Is an exam near?"]]))
    minutes: int = field(metadata=describe("At most so often, outside the quiet hours."))

    @classmethod
    def from_domain(cls, checklist: Checklist) -> Self:
        """Present a checklist."""
        return cls(lines=checklist.lines, minutes=checklist.pause)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProactiveSettingsSchema(Schema):
    """How readily the companion speaks first."""

    level: str = field(metadata=describe("off, shy, normal or lively.", examples=["shy"]))
    quiet_begins: str = field(metadata=describe("On the person's clock.", examples=["22:00"]))
    quiet_ends: str = field(
        metadata=describe(
            "The same; if both are equal, there are no quiet hours.", examples=["08:00"]
        )
    )
    digest: str = field(metadata=describe("off, daily or weekly.", examples=["off"]))
    recap: str = field(metadata=describe("off or weekly.", examples=["off"]))
    muted: tuple[str, ...] = field(
        metadata=describe("Kinds that are never said again.", examples=[["thought"]])
    )

    @classmethod
    def from_domain(cls, proactive_settings: ProactiveSettings) -> Self:
        """Present what a person has chosen."""
        return cls(
            level=proactive_settings.level,
            quiet_begins=format_clock_minute(proactive_settings.quiet.begins),
            quiet_ends=format_clock_minute(proactive_settings.quiet.ends),
            digest=proactive_settings.digest,
            recap=proactive_settings.recap,
            muted=tuple(sorted(proactive_settings.muted)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpulseDecisionSchema(Schema):
    """One decision about an impulse."""

    at: str
    verdict: str = field(metadata=describe("say, wait or drop.", examples=["say"]))
    reason: str = field(metadata=describe(examples=["quiet_hours"]))
    text: str = field(metadata=describe("The reason in a sentence."))
    until: str | None = field(metadata=describe("When it is looked at again, if it waits."))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpulseSchema(Schema):
    """Something that could be said unasked, and what became of it."""

    id: str
    kind: str = field(metadata=describe(examples=["follow_up"]))
    status: str = field(metadata=describe("waiting, said or dropped.", examples=["said"]))
    sources: tuple[str, ...] = field(metadata=describe("Ids of what it rests on."))
    not_before: str
    expires_at: str
    message: str | None = field(metadata=describe("The id of the message in which it was said."))
    decisions: tuple[ImpulseDecisionSchema, ...] = field(metadata=describe("Oldest first."))

    @classmethod
    def from_domain(cls, stored: StoredImpulse, *, zone: str) -> Self:
        """Present an impulse, in a person's time zone."""
        impulse = stored.impulse
        return cls(
            id=stored.id,
            kind=impulse.kind,
            status=stored.status,
            sources=impulse.sources,
            not_before=format_time(impulse.not_before, zone),
            expires_at=format_time(impulse.expires_at, zone),
            message=stored.message,
            decisions=tuple(
                ImpulseDecisionSchema(
                    at=format_time(at, zone),
                    verdict=decision.verdict,
                    reason=decision.reason,
                    text=REASON_TEXTS[decision.reason],
                    until=format_time(decision.until, zone),
                )
                for at, decision in stored.decisions
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpulseListSchema(Schema):
    """The newest impulses, newest first."""

    items: tuple[ImpulseSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PushStateSchema(Schema):
    """Whether this browser is told what is said unasked."""

    is_on: bool
    shows: str = field(metadata=describe("words, or hint: only that there is something."))


@dataclass(frozen=True, slots=True, kw_only=True)
class PushKeySchema(Schema):
    """The key by which push services know this installation."""

    key: str = field(
        metadata=describe("Its public half, as `applicationServerKey`.", examples=["BP4z9KsN6nGR"])
    )
