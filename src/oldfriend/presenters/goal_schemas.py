"""Goals: what a person wants to reach, for the API and the command line."""

from dataclasses import dataclass, field
from typing import Final, Self

from oldfriend.domain.clock import Micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.goals.goal import GoalKind, GoalState, GoalStatus, Period, Progress
from oldfriend.goals.goal_desk import UNMEASURED, add_up, count_in_period
from oldfriend.goals.goal_totals import PARTS_OF_UNIT, find_total
from oldfriend.presenters.base_schema import Schema, describe, format_time

MAX_STEPS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalStepSchema(Schema):
    """Something that was counted for a goal."""

    id: str
    at: str
    amount: float | None = field(
        metadata=describe("How much, in the goal's unit or number; null if none was told.")
    )
    message: str | None = field(metadata=describe("The message that told of it."))

    @classmethod
    def from_domain(cls, step: Progress, *, zone: str, is_part: bool) -> Self:
        """Present a step; `is_part`: its amount is in thousandths of the goal's unit."""
        amount = step.amount / PARTS_OF_UNIT if is_part else float(step.amount)
        return cls(
            id=step.id,
            at=format_time(step.at, zone),
            amount=None if is_part and step.amount == UNMEASURED else amount,
            message=step.message,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalSchema(Schema):
    """A goal, and how far it is."""

    id: str
    text: str = field(metadata=describe("What is to be reached, in the person's words."))
    kind: GoalKind
    status: GoalStatus
    priority: int = field(metadata=describe("From 0 to 10; 5 if nothing was said."))
    times: int | None = field(metadata=describe("How often it is wanted in each period."))
    period: Period | None
    done_in_period: int | None = field(
        metadata=describe("How often it was done in the day, week or month that it is.")
    )
    progress_count: int = field(
        metadata=describe("How often something was told that was done for it.")
    )
    last_progress: str | None = field(metadata=describe("When the last of it was told."))
    told: int = field(metadata=describe("The former name of `progress_count`.", deprecated=True))
    last_told: str | None = field(
        metadata=describe("The former name of `last_progress`.", deprecated=True)
    )
    amount_wanted: float | None = field(
        metadata=describe("How much is wanted in all by its day, such as 50 of “50 km by June”.")
    )
    amount_done: float | None = field(metadata=describe("How much of that was told in all."))
    unit: str | None = field(metadata=describe("The unit of these amounts.", examples=["km"]))
    steps: tuple[GoalStepSchema, ...] = field(
        metadata=describe("What was counted last, newest first, at most 20.")
    )
    deadline: str | None
    next_action: str
    created: str
    message: str | None = field(metadata=describe("The message that set it."))

    @classmethod
    def from_domain(cls, goal_state: GoalState, *, zone: str, now: Micros) -> Self:
        """Present a goal, with times in the person's zone."""
        goal, rhythm = goal_state.goal, goal_state.goal.rhythm
        total = None if rhythm is not None else find_total(goal)
        scope = DeskScope(person=goal.person, zone=zone, now=now, language=goal.language)
        count = len(goal_state.progress)
        last = format_time(goal_state.progress[-1].at, zone) if goal_state.progress else None
        return cls(
            id=goal.id,
            text=goal.text,
            kind=goal.kind,
            status=goal.status,
            priority=goal.priority,
            times=None if rhythm is None else rhythm.times,
            period=None if rhythm is None else rhythm.period,
            done_in_period=None
            if rhythm is None
            else count_in_period(goal_state.progress, rhythm.period, scope),
            progress_count=count,
            last_progress=last,
            told=count,
            last_told=last,
            amount_wanted=None if total is None else total.value,
            amount_done=None if total is None else add_up(goal_state.progress) / total.parts,
            unit=None if total is None else total.unit,
            steps=tuple(
                GoalStepSchema.from_domain(each, zone=zone, is_part=total is not None)
                for each in reversed(goal_state.progress[-MAX_STEPS:])
            ),
            deadline=format_time(goal.deadline, zone),
            next_action=goal.next_action,
            created=format_time(goal.created_at, zone),
            message=goal.message,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalListSchema(Schema):
    """A person's goals, in the order of the list."""

    items: tuple[GoalSchema, ...]
