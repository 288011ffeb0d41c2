"""Proactive policy: decides whether an impulse to speak first is said now, waits or is dropped.

Pure: it reads nothing and asks no model. A model may veto or word what the gates let pass, and
never overrides them. The gates are asked in a fixed order, and the first that objects decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import MoodSignal
from oldfriend.proactive.quiet_hours import QuietHours

Level = Literal["off", "shy", "normal", "lively"]
"""How readily it speaks first; "off" is never, but for what was ordered."""
ImpulseKind = Literal[
    "promise",  # of either side, falls due
    "follow_up",  # of what was expected
    "goal",  # that the person has set, and how it is going
    "watch",  # a page or price that the person wanted to be told of
    "digest",  # the overview that the person has ordered
    "recap",  # of the week, that the person has ordered
    "checklist",  # of the person, that something on it wants a word
    "day_opening",  # what is on today
    "number",  # of their own that changed clearly, or is the highest or lowest of a year
    "diary",  # of today, while nothing is written
    "anniversary",  # on this day in an earlier year
    "silence",  # nobody has spoken for long
    "thought",  # of a reflection
    "moment",  # an occasion, such as a Friday evening or the hours after a long talk
]
Verdict = Literal["say", "wait", "drop"]
DecisionReason = Literal[
    "trigger",  # its time has come and no gate objects
    "master_switch",
    "level",
    "muted",
    "quiet_hours",
    "cold_user",
    "rate",
    "cooldown",
    "active_conversation",
    "turn_in_flight",
    "no_channel",
    "reply_window",
    "mood",
    "not_yet",
    "expired",
    "chance",
    "told",  # the person has told it already, or it is believed no more
    "covered",  # said within another message
    "no_reply",  # a model found that it is better left unsaid
]
LEVELS: Final[Mapping[str, Level]] = MappingProxyType({each: each for each in get_args(Level)})
IMPULSE_KINDS: Final[Mapping[str, ImpulseKind]] = MappingProxyType(
    {each: each for each in get_args(ImpulseKind)}
)

MAX_UNANSWERED: Final = 2
"""So many messages without an answer, within the time below, and it waits to be spoken to."""
UNANSWERED_WINDOW: Final = 6 * HOUR
MAX_UNANSWERED_EVER: Final = 4
"""The same, however far apart they were: a friend who hears nothing does not go on for weeks."""
IN_FLIGHT_PAUSE: Final = MINUTE
TIRED_PAUSE: Final = 12 * HOUR
"""So long what can wait is kept back after a conversation that ended tired or annoyed."""
PRESSING: Final[frozenset[ImpulseKind]] = frozenset(
    {"promise", "watch", "digest", "recap", "checklist"}
)
"""What was promised or ordered is said whatever the mood was."""
ASKED: Final[frozenset[ImpulseKind]] = frozenset({"watch"})
"""What was asked for outright waits for no pace, only for quiet hours and a chat that is free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a level speaks first at most."""

    kinds: frozenset[ImpulseKind]
    max_per_day: int = 3  # within 24 hours
    cooldown: Micros = 4 * HOUR  # between two messages
    active_pause: Micros = 5 * MINUTE  # after anything that was said in a chat
    # In place of the cooldown, by how long the person was silent.
    gaps: tuple["MessagePause", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePause:
    """The gap between two messages while the person has been silent for less than a time."""

    silent_for: Micros
    gap: Micros
    probability: float  # with which an impulse is said when the gap is over


ORDERED: Final[frozenset[ImpulseKind]] = frozenset({"watch", "digest", "recap", "checklist"})
"""What comes also where it never speaks first."""
FEW: Final[frozenset[ImpulseKind]] = ORDERED | {"promise", "follow_up", "goal"}
USUAL: Final[frozenset[ImpulseKind]] = FEW | {
    "day_opening",
    "number",
    "diary",
    "anniversary",
    "silence",
}
PACES: Final[Mapping[Level, Pace]] = MappingProxyType(
    {
        "off": Pace(kinds=ORDERED),
        "shy": Pace(kinds=FEW),
        "normal": Pace(kinds=USUAL),
        "lively": Pace(
            kinds=frozenset(get_args(ImpulseKind)),
            max_per_day=5,
            active_pause=30 * MINUTE,
            gaps=(
                MessagePause(silent_for=2 * HOUR, gap=15 * MINUTE, probability=0.45),
                MessagePause(silent_for=6 * HOUR, gap=30 * MINUTE, probability=0.55),
                MessagePause(silent_for=1_000 * DAY, gap=60 * MINUTE, probability=0.65),
            ),
        ),
    }
)
MAX_JITTER: Final = 5 * MINUTE
"""By so much a gap is longer or shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impulse:
    """Something that could be said unasked. It holds no words, only what it rests on."""

    person: PersonId
    kind: ImpulseKind
    key: str  # unique for the person: the same impulse is said once
    sources: tuple[str, ...]  # ids of the beliefs and messages that it rests on
    not_before: Micros
    expires_at: Micros
    urgency: float  # 0 to 1
    relevance: float = 1.0  # 0 to 1

    def get_priority(self, now: Micros) -> float:
        """Return urgency × relevance × recency; recency halves over the time that it is open."""
        span = max(1, self.expires_at - self.not_before)
        age = min(max(now - self.not_before, 0), span)
        recency: float = 0.5 ** (age / span)
        return self.urgency * self.relevance * recency


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonState:
    """What the gates know of a person at a moment."""

    now: Micros
    zone: str
    level: Level
    quiet: QuietHours
    muted: frozenset[ImpulseKind] = frozenset()
    person_spoke_at: Micros | None = None
    talked_at: Micros | None = None  # when anything was said last, by either side
    said_at: tuple[Micros, ...] = ()  # when it spoke first, oldest first
    has_open_turn: bool = False
    has_channel: bool = True  # a chat of the person alone in which it can speak first
    window_ends_at: Micros | None = None  # until when the channel lets it write; None: always
    mood: MoodSignal | None = None  # in which the last conversation ended
    mood_at: Micros = 0

    @property
    def unanswered(self) -> tuple[Micros, ...]:
        """When it spoke first since the person spoke last, oldest first."""
        spoke_at = self.person_spoke_at
        return tuple(at for at in self.said_at if spoke_at is None or at > spoke_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProactiveDecision:
    """What is done with an impulse, and why."""

    verdict: Verdict
    reason: DecisionReason
    until: Micros | None = None  # when it is looked at again; None: when the person has spoken


Gate = Callable[[Impulse, PersonState], ProactiveDecision | None]


def decide(impulse: Impulse, state: PersonState) -> ProactiveDecision:
    """Return what the first gate that objects says, else to say it."""
    for gate in GATES:
        if impulse.kind in ASKED and gate in PACING:
            continue
        decision = gate(impulse, state)
        if decision is not None:
            return decision
    return ProactiveDecision(verdict="say", reason="trigger")


def check_master_switch(impulse: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Drop what the level or the person does not want at all."""
    if state.level == "off" and impulse.kind not in PACES["off"].kinds:
        return ProactiveDecision(verdict="drop", reason="master_switch")
    if impulse.kind in state.muted:
        return ProactiveDecision(verdict="drop", reason="muted")
    if impulse.kind not in PACES[state.level].kinds:
        return ProactiveDecision(verdict="drop", reason="level")
    return None


def check_quiet_hours(_: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Wait for the end of the quiet hours."""
    if not state.quiet.contains(state.now, state.zone):
        return None
    until = state.quiet.get_end(state.now, state.zone)
    return ProactiveDecision(verdict="wait", reason="quiet_hours", until=until)


def check_cold_user(_: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Wait to be spoken to where nobody answers."""
    unanswered = state.unanswered
    is_close = (
        len(unanswered) >= MAX_UNANSWERED
        and unanswered[-1] - unanswered[-MAX_UNANSWERED] <= UNANSWERED_WINDOW
    )
    if not is_close and len(unanswered) < MAX_UNANSWERED_EVER:
        return None
    return ProactiveDecision(verdict="wait", reason="cold_user")


def check_rate(_: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Wait while as much was said within 24 hours as may be."""
    most = PACES[state.level].max_per_day
    recent = [at for at in state.said_at if at > state.now - DAY]
    if len(recent) < most:
        return None
    return ProactiveDecision(verdict="wait", reason="rate", until=recent[-most] + DAY)


def check_cooldown(impulse: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Wait until enough time has passed since it spoke first."""
    if not state.said_at:
        return None
    until = state.said_at[-1] + get_cooldown(impulse, state)
    return (
        ProactiveDecision(verdict="wait", reason="cooldown", until=until)
        if until > state.now
        else None
    )


def check_active_conversation(_: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Wait while people are talking."""
    if state.talked_at is None:
        return None
    until = state.talked_at + PACES[state.level].active_pause
    if until <= state.now:
        return None
    return ProactiveDecision(verdict="wait", reason="active_conversation", until=until)


def check_turn_in_flight(_: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Wait for the reply that is being given."""
    if not state.has_open_turn:
        return None
    return ProactiveDecision(
        verdict="wait", reason="turn_in_flight", until=state.now + IN_FLIGHT_PAUSE
    )


def check_channel(_: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Wait where there is no chat, or where its platform takes nothing before they write."""
    if not state.has_channel:
        return ProactiveDecision(verdict="wait", reason="no_channel")
    if state.window_ends_at is not None and state.window_ends_at <= state.now:
        return ProactiveDecision(verdict="wait", reason="reply_window")
    return None


def check_mood(impulse: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Leave somebody alone who was tired or annoyed, unless it was promised."""
    until = state.mood_at + TIRED_PAUSE
    if impulse.kind in PRESSING or state.mood not in {"tired", "frustrated"} or until <= state.now:
        return None
    return ProactiveDecision(verdict="wait", reason="mood", until=until)


def check_trigger(impulse: Impulse, state: PersonState) -> ProactiveDecision | None:
    """Wait for its time, and drop it when that is over."""
    if state.now >= impulse.expires_at:
        return ProactiveDecision(verdict="drop", reason="expired")
    if state.now < impulse.not_before:
        return ProactiveDecision(verdict="wait", reason="not_yet", until=impulse.not_before)
    gap = find_gap(state)
    if impulse.kind in FEW or gap is None:
        return None
    if draw(impulse, state, "fires", slot=gap.gap) < gap.probability:
        return None
    return ProactiveDecision(verdict="wait", reason="chance", until=state.now + gap.gap)


GATES: Final[tuple[Gate, ...]] = (
    check_master_switch,
    check_quiet_hours,
    check_cold_user,
    check_rate,
    check_cooldown,
    check_active_conversation,
    check_turn_in_flight,
    check_channel,
    check_mood,
    check_trigger,
)
"""All gates, in the order in which they are asked."""
PACING: Final[frozenset[Gate]] = frozenset(
    {check_cold_user, check_rate, check_cooldown, check_active_conversation, check_mood}
)
"""The gates that keep it from speaking too much."""


def find_gap(state: PersonState) -> MessagePause | None:
    """Return the gap that a level keeps after this silence; None if it keeps a fixed one."""
    spoke_at = state.now - 999 * DAY if state.person_spoke_at is None else state.person_spoke_at
    silent_for = state.now - spoke_at
    gaps = PACES[state.level].gaps
    return next((each for each in gaps if silent_for < each.silent_for), gaps[-1] if gaps else None)


def get_cooldown(impulse: Impulse, state: PersonState) -> Micros:
    """Return how long it keeps silent after it spoke first."""
    gap = find_gap(state)
    if gap is None:
        return PACES[state.level].cooldown
    jitter = 2 * draw(impulse, state, "jitter", slot=DAY) - 1
    return gap.gap + round(jitter * MAX_JITTER)


def draw(impulse: Impulse, state: PersonState, name: str, *, slot: Micros) -> float:
    """Return a number from 0 to 1 that is the same for the same impulse in the same slot of time.

    So a decision that is made again after a crash is the same.
    """
    seed = f"{impulse.person}/{impulse.key}/{name}/{state.now // slot}"
    return int.from_bytes(sha256(seed.encode()).digest()[:8]) / (1 << 64)
