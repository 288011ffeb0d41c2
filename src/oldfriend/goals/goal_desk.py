"""Goal desk: decides what becomes of a person's goals, and words it; stores nothing itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

from oldfriend.domain.clock import DAY, HOUR, Micros, from_micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MIN_ID_CHARS, new_id, new_random_id
from oldfriend.goals.goal import (
    MAX_PRIORITY,
    Goal,
    GoalKind,
    GoalState,
    GoalStatus,
    Period,
    Progress,
    Rhythm,
)
from oldfriend.goals.goal_phrases import (
    AskedGoal,
    load_goal_pack,
    load_goal_phrases,
)
from oldfriend.goals.goal_store import MAX_GOALS
from oldfriend.goals.goal_totals import PARTS_OF_UNIT, find_countable, find_total
from oldfriend.goals.told_amounts import SIGNS, read_amounts, spell_digits, split_amount_tokens
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.search.tokenizer import collect_terms

MAX_TEXT_CHARS: Final = 300
UNMEASURED: Final = 1
"""Amount of a step for which none was told: one thing, and not a thousandth of a unit."""
MAX_NUMBER_CHARS: Final = 3
"""A longer number is the beginning of an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalDecision:
    """What is said, and what is stored: a goal in place of an earlier one, or what was done."""

    text: str
    goal: Goal | None = None
    earlier: Goal | None = None
    progress: Progress | None = None
    taken_back: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalWishes:
    """What may be told of a goal beside its text."""

    deadline: Micros | None = None
    kind: GoalKind | None = None
    priority: int | None = None
    next_action: str | None = None  # "": there is none any more
    has_no_deadline: bool = False  # the one there was is taken away
    text: str | None = None  # the goal in other words


@dataclass(slots=True)
class GoalDesk:
    """A person's open goals at a moment."""

    scope: DeskScope
    states: list[GoalState]
    spoken: str | None = None  # the language that the person has chosen; None: that of the goal
    say_table: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Leave out the goals whose day is long over."""
        self.states = [each for each in self.states if each.goal.is_open(self.scope.now)]
        spoken = load_goal_phrases(self.spoken or self.scope.language).language
        self.say_table = load_goal_pack(spoken)["say"]

    def say(self, name: str, **values: object) -> str:
        """Return a phrase with values filled in."""
        return self.say_table[name].format(**values)

    def handle(self, asked: AskedGoal, wishes: GoalWishes) -> GoalDecision:
        """Decide what a sentence asks for."""
        if asked.ask == "list":
            return GoalDecision(text=self.list())
        if asked.ask == "set":
            return self.set(asked.what, wishes)
        if asked.ask == "undo":
            return self.take_back(asked.what) or GoalDecision(text=self.say("nothing_counted"))
        found, ask = self.find(asked.what), asked.ask
        told = self.count_amount(asked.what) if ask == "did" and not found else None
        if told is not None:
            return told
        if len(found) != 1:
            if not found:
                return GoalDecision(text=self.say("not_found" if self.states else "empty"))
            lines = [self.format_line(each) for each in found]
            return GoalDecision(text="\n".join([self.say("which"), *lines]))
        if ask == "did":
            return self.count(found[0])
        return self.end(found[0].goal, "completed" if ask == "done" else "abandoned")

    def set(self, text: str, wishes: GoalWishes) -> GoalDecision:
        """Put a goal on the list, unless it is there already. Raises InvalidInput."""
        goal = self.build(text, wishes)
        same = (each.goal for each in self.states if is_same_goal(each.goal, goal))
        known = next(same, None)
        if known is not None:
            return GoalDecision(text=self.say("exists", text=known.text))
        if len(self.states) >= MAX_GOALS:
            return GoalDecision(text=self.say("full"))
        return GoalDecision(text=self.confirm(goal), goal=goal)

    def build(self, text: str, wishes: GoalWishes) -> Goal:
        """Return a new goal. Raises InvalidInput."""
        clean, scope = clean_text(text), self.scope
        goal = Goal(
            id=new_random_id(),
            person=scope.person,
            chat=scope.chat,
            message=scope.message,
            message_seq=scope.message_seq,
            text=clean,
            language=scope.language,
            rhythm=read_rhythm(clean, scope.language),
            zone=scope.zone,
            created_at=scope.now,
            changed_at=scope.now,
        )
        return self.with_wishes(goal, wishes)

    def change(self, goal: Goal, wishes: GoalWishes) -> GoalDecision:
        """Change the text of a goal, or what is told beside it. Raises InvalidInput."""
        later = replace(self.with_wishes(goal, wishes), changed_at=self.scope.now)
        if wishes.text is not None and clean_text(wishes.text) != goal.text:
            text = clean_text(wishes.text)
            later = replace(later, text=text, rhythm=read_rhythm(text, goal.language))
        return GoalDecision(text=self.confirm(later), goal=later, earlier=goal)

    def with_wishes(self, goal: Goal, wishes: GoalWishes) -> Goal:
        """Return a goal with what is told of it. Raises InvalidInput."""
        if wishes.deadline is not None and wishes.deadline <= self.scope.now:
            raise InvalidInput("That day has passed. Name one to come.")
        priority = goal.priority if wishes.priority is None else wishes.priority
        next_action = goal.next_action if wishes.next_action is None else wishes.next_action
        if not 0 <= priority <= MAX_PRIORITY:
            raise InvalidInput(f"A priority is a number from 0 to {MAX_PRIORITY}.")
        return replace(
            goal,
            deadline=None if wishes.has_no_deadline else wishes.deadline or goal.deadline,
            kind=wishes.kind or goal.kind,
            priority=priority,
            next_action=next_action[:MAX_TEXT_CHARS],
        )

    def end(self, goal: Goal, status: GoalStatus) -> GoalDecision:
        """Say that a goal is reached or put aside."""
        later = replace(goal, status=status, changed_at=self.scope.now)
        key = "done" if status == "completed" else "drop"
        return GoalDecision(text=self.say(key, text=goal.text), goal=later, earlier=goal)

    def count_amount(self, words: str) -> GoalDecision | None:
        """Add the amount that words tell to the total of the goal that the rest names, "1 5 km".

        None if they tell no such one.
        """
        words = spell_digits(words, self.scope.language)
        tokens = split_amount_tokens(words, self.scope.language)
        amounts = read_amounts(words, tokens, self.scope.language)
        told = [each for each in amounts if each.unit or each.noun]
        if len(told) != 1:
            return None
        begins, ends = tokens[told[0].first].start, tokens[told[0].end - 1].end
        found = self.find(f"{words[:begins].rstrip(SIGNS)} {words[ends:]}")
        total = find_total(found[0].goal) if len(found) == 1 else None
        amount = 0 if total is None else total.measure(told[0])
        amount = max(amount, -add_up(found[0].progress)) if amount else 0
        return self.count(found[0], amount) if amount else None

    def count(self, goal_state: GoalState, amount: int | None = None) -> GoalDecision:
        """Count so many things that were done for a goal, once in each message.

        None is one thing; of an amount in all it is asked how much it was, and counts nothing.
        """
        scope, total = self.scope, find_total(goal_state.goal)
        if amount is None and total is not None:
            text = self.say("how_much", text=goal_state.goal.text, unit=total.unit)
            return GoalDecision(text=text)
        step = Progress(
            id=new_id(scope.now),
            person=scope.person,
            goal=goal_state.goal.id,
            message=scope.message,
            message_seq=scope.message_seq,
            at=scope.now,
            amount=amount or UNMEASURED,
        )
        known = any(each.message == step.message is not None for each in goal_state.progress)
        after = goal_state if known else replace(goal_state, progress=(*goal_state.progress, step))
        told = self.format_state(after) if has_count(goal_state.goal) else ""
        return GoalDecision(
            text=self.say(
                "progress_with" if told else "progress", text=goal_state.goal.text, state=told
            ),
            goal=goal_state.goal,
            earlier=goal_state.goal,
            progress=None if known else step,
        )

    def put_right(self, goal_state: GoalState, step: Progress, amount: int) -> GoalDecision:
        """Count another amount in place of a step, for the message that says so."""
        scope = self.scope
        right = replace(
            step,
            id=new_id(scope.now),
            message=scope.message,
            message_seq=scope.message_seq,
            amount=amount,
        )
        steps = tuple(right if each == step else each for each in goal_state.progress)
        told = self.format_state(replace(goal_state, progress=steps))
        return GoalDecision(
            text=self.say("progress_with", text=goal_state.goal.text, state=told),
            goal=goal_state.goal,
            earlier=goal_state.goal,
            progress=right,
            taken_back=step,
        )

    def take_back(self, words: str) -> GoalDecision | None:
        """Count what was counted last no more: of the goal that words name, or just now."""
        since = self.scope.now - (DAY if words else HOUR)
        wanted = collect_terms(words, self.scope.language) if words else frozenset()
        named = {each.goal.id for each in self.find(words)}
        counted = [
            each
            for each in self.states
            if each.progress
            and each.progress[-1].at >= since
            and (
                each.goal.id in named or wanted & collect_terms(each.goal.text, each.goal.language)
            )
        ]
        if not counted:
            return None
        steps = [(find_step(each, words), each) for each in counted]
        fitting = [(step, each) for step, each in steps if step is not None and step.at >= since]
        if not fitting:
            return None
        gone, state = max(fitting, key=lambda each: each[0].at)
        return self.take_back_step(state, gone)

    def take_back_step(self, goal_state: GoalState, gone: Progress) -> GoalDecision:
        """Count one thing that was counted for a goal no more."""
        after = replace(
            goal_state, progress=tuple(each for each in goal_state.progress if each != gone)
        )
        told = self.format_state(after) if has_count(goal_state.goal) else ""
        return GoalDecision(
            text=self.say(
                "undone_with" if told else "undone", text=goal_state.goal.text, state=told
            ),
            goal=goal_state.goal,
            earlier=goal_state.goal,
            taken_back=gone,
        )

    def find(self, words: str) -> list[GoalState]:
        """Return the goals that words, a number of the list or the beginning of an id name.

        No words name them all: the only one is meant.
        """
        plain = words.strip().strip("#.").lower()
        if not plain:
            return list(self.states)
        if plain.isdecimal() and len(plain) <= MAX_NUMBER_CHARS:
            place = int(plain)
            return self.states[place - 1 : place] if place else []
        if len(plain) >= MIN_ID_CHARS:
            named = [each for each in self.states if each.goal.id.startswith(plain)]
            if named:
                return named
        wanted = collect_terms(words, self.scope.language)
        return [
            each
            for each in self.states
            if wanted and wanted <= collect_terms(each.goal.text, each.goal.language)
        ]

    def find_related(self, text: str) -> list[GoalState]:
        """Return the goals that share most words with a text; all, if none shares any."""
        shared = self.count_shared(text)
        most = max(shared, default=0)
        return [each for each, count in zip(self.states, shared, strict=True) if count == most]

    def is_spoken_of(self, text: str) -> bool:
        """Whether a text shares a word with a goal."""
        return any(self.count_shared(text))

    def list_totals_in(self, text: str) -> list[GoalState]:
        """Return the goals of an amount of which a text speaks."""
        shared = zip(self.states, self.count_shared(text), strict=True)
        return [each for each, count in shared if count and find_countable(each.goal) is not None]

    def count_shared(self, text: str) -> list[int]:
        """Return how many words each goal shares with a text."""
        said = collect_terms(text, self.scope.language)
        return [
            len(said & collect_terms(each.goal.text, each.goal.language)) for each in self.states
        ]

    def tell(self, text: str) -> str:
        """Word how far the goals are of which a text speaks."""
        return "\n".join(map(self.format_line, self.find_related(text)))

    def confirm(self, goal: Goal) -> str:
        """Say what was set, as it will be stored."""
        if goal.deadline is None:
            return self.say("set", text=goal.text)
        return self.say("set_by", text=goal.text, day=self.format_day(goal.deadline))

    def list(self) -> str:
        """Word the list."""
        if not self.states:
            return self.say("empty")
        return "\n".join([self.say("head"), *map(self.format_line, self.states)])

    def format_line(self, goal_state: GoalState) -> str:
        """Word a goal with its number in the list and how far it is."""
        number = self.states.index(goal_state) + 1
        line = self.say("line", number=number, text=goal_state.goal.text)
        notes = [self.format_state(goal_state)]
        if goal_state.goal.deadline is not None:
            notes.append(self.say("until_day", day=self.format_day(goal_state.goal.deadline)))
        told = "; ".join(each for each in notes if each)
        return f"{line} ({told})" if told else line

    def format_state(self, goal_state: GoalState) -> str:
        """Word how far a goal is; empty if nothing was told of it."""
        rhythm = goal_state.goal.rhythm
        if rhythm is not None:
            count = count_in_period(goal_state.progress, rhythm.period, self.scope)
            return self.say(f"times_{rhythm.period}", count=count, times=rhythm.times)
        if not goal_state.progress:
            return ""
        total = find_total(goal_state.goal)
        if total is not None:
            done = add_up(goal_state.progress) / PARTS_OF_UNIT
            return self.say("total", done=f"{done:g}", wanted=f"{total.value:g}", unit=total.unit)
        last = self.format_day(goal_state.progress[-1].at)
        return self.say("told", count=len(goal_state.progress), day=last)

    def format_day(self, at: Micros) -> str:
        """Word the day of a moment."""
        formats = load_phrases(choose_language(self.spoken, self.scope.language)).date_formats
        day = from_micros(at, self.scope.zone).date()
        return formats.date.format(
            day=day.day, number=day.month, month=formats.months[day.month - 1], year=day.year
        )


def clean_text(text: str) -> str:
    """Return the text of a goal with single spaces. Raises InvalidInput."""
    clean = " ".join(text.split())
    if not clean or len(clean) > MAX_TEXT_CHARS:
        raise InvalidInput(f"Say in 1 to {MAX_TEXT_CHARS} characters what you want to reach.")
    return clean


def read_rhythm(text: str, language: str) -> Rhythm | None:
    """Return how often, or how many whole things, the text of a goal wants in each period."""
    phrases = load_goal_phrases(language)
    rhythm, pieces = phrases.find_rhythm(text), phrases.find_pieces(text)
    if rhythm is not None:
        return rhythm[0]
    return pieces.rhythm if pieces is not None else None


def find_step(goal_state: GoalState, words: str) -> Progress | None:
    """Return the last thing counted for a goal, of a total the one of the amount that words tell.

    None if nothing of that amount was counted.
    """
    total = find_total(goal_state.goal)
    amount = 0 if total is None else total.find_amount(words, goal_state.goal.language)
    fitting = [each for each in goal_state.progress if not amount or each.amount == amount]
    return fitting[-1] if fitting else None


def add_up(steps: Iterable[Progress]) -> int:
    """Return the amount of steps in thousandths of its unit, but for those that told none."""
    return sum(each.amount for each in steps if each.amount != UNMEASURED)


def has_count(goal: Goal) -> bool:
    """Whether it is told of a goal how much of it is done."""
    return goal.rhythm is not None or find_total(goal) is not None


def count_in_period(steps: Sequence[Progress], period: Period, desk_scope: DeskScope) -> int:
    """Return how often, or how many things, were done in the period that it is."""
    first = find_first_day(from_micros(desk_scope.now, desk_scope.zone).date(), period)
    return sum(
        each.amount for each in steps if from_micros(each.at, desk_scope.zone).date() >= first
    )


def find_first_day(today: date, period: Period) -> date:
    """Return the first day of the period that a day is in."""
    firsts = {
        "day": today,
        "week": today - timedelta(days=today.weekday()),
        "month": today.replace(day=1),
        "year": today.replace(month=1, day=1),
    }
    return firsts[period]


def find_last_day(today: date, period: Period) -> date:
    """Return the last day of the period that a day is in."""
    following = {
        "day": timedelta(days=1),
        "week": timedelta(days=7),
        "month": relativedelta(months=1),
        "year": relativedelta(years=1),
    }
    last: date = find_first_day(today, period) + following[period] - timedelta(days=1)
    return last


def find_last_day_of_month(today: date, month: int) -> date:
    """Return the last day of the next month of a number, or of this one."""
    first = date(today.year + (month < today.month), month, 1)
    return find_last_day(first, "month")


def is_same_goal(one: Goal, other: Goal) -> bool:
    """Whether two goals are told in the same words; in one message, also in some more words."""
    if is_same_text(one.text, other.text):
        return True
    terms, others = (collect_terms(each.text, each.language) for each in (one, other))
    is_more = terms <= others or others <= terms
    return one.message is not None and one.message == other.message and is_more


def is_same_text(one: str, other: str) -> bool:
    """Whether two goals are told in the same words."""
    return one.casefold() == other.casefold()
