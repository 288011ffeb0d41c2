"""Goal requests: sets, lists and ends goals, as in "my goal is to run twice a week", "/goals"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros, get_start_of_day
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import StaleDecision
from oldfriend.goals.goal import Goal, GoalState, Progress
from oldfriend.goals.goal_desk import (
    MAX_TEXT_CHARS,
    GoalDecision,
    GoalDesk,
    GoalWishes,
    find_last_day,
    find_last_day_of_month,
)
from oldfriend.goals.goal_phrases import (
    APOSTROPHES,
    Ask,
    AskedGoal,
    GoalPhrases,
    load_goal_phrases,
)
from oldfriend.goals.goal_store import (
    add_progress,
    find_goal,
    list_goals,
    remove_progress,
    save_goal,
)
from oldfriend.goals.goal_totals import read_total
from oldfriend.goals.told_amounts import read_amounts, spell_digits, split_amount_tokens
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.measurements.lexicon import get_lexicon
from oldfriend.memory.people import lock_person
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.tasks.task_phrases import TaskPhrases, load_task_phrases
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.time_words import TimeWord
from oldfriend.tasks.told_time import Ambiguous, Resolved, collect
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues
from oldfriend.turn.attribution.quoted_spans import find_borrowed_spans
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.handler import (
    MAX_SENTENCES,
    HandledRequest,
    HandlerContext,
    RequestHandler,
    list_told,
)
from oldfriend.turn.request_handlers.measurement_changes import decide_denial
from oldfriend.turn.request_handlers.measurement_texts import load_measurement_texts
from oldfriend.turn.request_handlers.request_kinds import (
    choose_kind,
    classify_request,
    find_request,
    is_negated,
    list_clauses,
)
from oldfriend.turn.store_change import ChangeScope, StoreChange

NAME: Final = "goals"
COMMANDS: Final = frozenset({"/goal", "/goals"})
COMMAND: Final = re.compile(
    r"\s{0,9}/goals?(?:@\w{1,64})?(?:\s{1,9}(?P<rest>[^\n]{1,400}))?\s{0,9}", re.IGNORECASE
)
EDGES: Final = " ,;\uff0c"
LIKELY_ASKED: Final = 0.35
"""How likely words without a question mark ask how much, of a goal of an amount or a number."""
BELOW_ZERO: Final = re.compile(r"(?<!\S)[-\u2212]\d")  # "-5 books" is no goal
SURELY_ASKED: Final = 0.7
"""How likely a question is about goals if it names none of them."""
MAYBE_ASKED: Final = 0.3
"""How likely a question must be about goals that names one of an amount."""
QUESTION_MARKS: Final = ("?", "？")
MAYBE_WISHED: Final = 0.5
"""How likely a sentence must be to set a goal that names an amount, but nothing of a wish."""
MAYBE_SPENT: Final = 0.4
"""And one that names money, but nothing of putting it aside."""
SURELY_OTHER: Final = 0.6
"""How likely a sentence with such a wish must be to ask for something else."""
BESIDE_WISHES: Final = frozenset({"none", "goal_new", "goal_progress", "number_log"})
NUMBER: Final = re.compile(r"\d")
VERBS: Final[dict[str, Ask]] = {"done": "done", "drop": "drop", "did": "did", "undo": "undo"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalChange:
    """A goal as it is to be stored, as it was before, and what was done for it."""

    goal: Goal
    earlier: Goal | None = None
    progress: Progress | None = None
    taken_back: Progress | None = None

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store it, and plan when it is asked about. Raises StaleDecision if it has changed.

        What was told already is kept to, unless the goal has been forgotten.
        """
        await lock_person(tx, scope.person.id)
        stored = await find_goal(tx, scope.person.id, self.goal.id)
        if stored != self.earlier and scope.may_redo:
            raise StaleDecision("The goal has changed meanwhile.")
        if stored is None and self.earlier is not None:
            return
        if self.goal != self.earlier:
            await save_goal(tx, replace(self.goal, changed_at=scope.now))
        if self.taken_back is not None:
            await remove_progress(tx, self.taken_back)
        if self.progress is not None:
            await add_progress(tx, self.progress)
        await plan_next_look(tx, scope.person.id, now=scope.now)


def fold_goal_changes(changes: Sequence[StoreChange]) -> tuple[StoreChange, ...]:
    """Return the changes of a turn, one for each goal: from what it was to what it becomes."""
    folded: dict[object, StoreChange] = {}
    for change in changes:
        key: object = change.goal.id if isinstance(change, GoalChange) else id(change)
        first = folded.get(key)
        if isinstance(change, GoalChange) and isinstance(first, GoalChange):
            progress = change.progress or first.progress
            change = replace(change, earlier=first.earlier, progress=progress)
        folded[key] = change
    return tuple(folded.values())


def apply_to_states(states: Sequence[GoalState], changes: Sequence[StoreChange]) -> list[GoalState]:
    """Return the goals as they will be after changes that a turn has decided."""
    listed = {each.goal.id: each for each in states}
    for change in changes:
        if isinstance(change, GoalChange):
            known = listed.get(change.goal.id, GoalState(goal=change.goal))
            step = () if change.progress is None else (change.progress,)
            listed[change.goal.id] = GoalState(goal=change.goal, progress=(*known.progress, *step))
    return list(listed.values())


async def handle_goal_request(context: HandlerContext) -> HandledRequest | None:
    """Handle what a message asks about goals."""
    text = context.text
    language = choose_language_with("goals", context.perception.language)
    command = COMMAND.fullmatch(text)
    if command is not None:
        desk = await open_desk(context, language)
        return run_command(desk, (command["rest"] or "").strip())
    sentences = split_sentences(text)
    languages = dict.fromkeys((language, context.utterance.message.language, "en"))
    for at, sentence in enumerate(sentences[:MAX_SENTENCES]):
        for each in map(load_goal_phrases, languages):
            asked = each.read(sentence)
            if asked is None or (asked.ask == "set" and not is_goal(asked, sentence, each)):
                continue
            desk = await open_desk(context, each.language)
            if asked.ask in {"done", "drop"} and not desk.find(asked.what):
                continue  # of a goal that was never set here, it is talk
            if asked.ask == "undo" and desk.take_back(asked.what) is None:
                continue
            rest = " ".join([*sentences[:at], *sentences[at + 1 :]])
            decision = decide(desk, asked, each)
            handled = replace(build_handled(desk, decision), is_whole_message=not rest, rest=rest)
            return await add_denial(context, handled, decision)
    return await handle_likely(context, language)


def is_goal(asked: AskedGoal, sentence: str, phrases: GoalPhrases) -> bool:
    """Whether a sentence sets a goal; one of money that is not put aside must be likely."""
    if not phrases.is_spent(asked.what):
        return bool(asked.what)
    likely = classify_request(sentence, phrases.language)["goal_new"]
    return likely >= MAYBE_SPENT and not phrases.is_price(asked.what)


async def add_denial(
    context: HandlerContext, handled: HandledRequest, decision: GoalDecision
) -> HandledRequest:
    """Add that a number is taken out with what is no longer counted, if its message is denied."""
    gone = decision.taken_back
    if gone is None or gone.message is None:
        return handled
    message = context.utterance.message
    texts = load_measurement_texts(context.perception.offline_reply_language)
    async with context.db.begin_read() as tx:
        denied = await decide_denial(tx, message, gone.message, texts)
    if denied is None:
        return handled
    text = f"{handled.text}\n{denied.text}"
    return replace(handled, text=text, changes=(*handled.changes, denied.change))


async def handle_likely(context: HandlerContext, language: str) -> HandledRequest | None:
    """Handle what a message most likely asks about goals, whatever its words."""
    found = find_request(context.text, language, "goal_new", "goal_ask")
    if found is None:
        said = choose_language_with("goals", context.utterance.message.language)
        languages = dict.fromkeys((language, said))
        for each in languages:
            wished = await handle_amount_wish(context, each)
            if wished is not None:
                return wished
        return await handle_total_question(context, language)
    if (
        found.kind == "goal_new"
        and BELOW_ZERO.search(found.said)
        and not wants_nothing(found.said, language)
    ):
        return None
    desk, phrases = await open_desk(context, language), load_goal_phrases(language)
    if found.kind == "goal_new":
        asked = AskedGoal(ask="set", what=find_goal_text(found.said, phrases))
        decision = decide(desk, asked, phrases)
    elif not desk.states:  # there is nothing to tell of, or to end
        return None
    elif desk.is_spoken_of(found.said) or found.share >= SURELY_ASKED:
        decision = GoalDecision(text=desk.tell(found.said))
    else:
        return None
    handled = build_handled(desk, decision)
    return replace(handled, is_whole_message=not found.rest, rest=found.rest)


async def handle_amount_wish(context: HandlerContext, language: str) -> HandledRequest | None:
    """Set the goal of the only sentence that wants an amount in all: "my aim: 50 km in May"."""
    sentences = split_sentences(context.text) if len(context.text) <= MAX_TEXT_CHARS else []
    desk, phrases = await open_desk(context, language), load_goal_phrases(language)
    wishing = [each for each in sentences if is_amount_wish(each, phrases, desk.scope)]
    if len(wishing) != 1 or find_borrowed_spans(context.text, language):
        return None
    if choose_kind(context.text, language) == "goal_progress" and desk.is_spoken_of(wishing[0]):
        return None  # it tells of one that is there
    asked = AskedGoal(ask="set", what=find_goal_text(wishing[0], phrases))
    rest = " ".join(each for each in sentences if each != wishing[0])
    handled = build_handled(desk, decide(desk, asked, phrases))
    return replace(handled, is_whole_message=not rest, rest=rest)


def is_amount_wish(sentence: str, phrases: GoalPhrases, desk_scope: DeskScope) -> bool:
    """Whether somebody wants an amount in all for themselves, by a day or in a period.

    Money is put aside without one, too.
    """
    language = phrases.language
    if sentence.rstrip().endswith(QUESTION_MARKS) or is_negated(sentence, language):
        return False
    try:
        text, deadline = split_deadline(sentence, phrases, desk_scope)
    except ValueError:
        return False
    total = read_total(text, language, has_day=deadline is not None)
    spelled = spell_digits(text, language).translate(APOSTROPHES)
    wanted, number = phrases.wants.search(spelled), NUMBER.search(spelled)
    if total is None or number is None or is_of_others(spelled, wanted, number, language):
        return False
    is_open_ended = total.is_money or not total.is_bounded
    if is_open_ended and not phrases.saves.search(text):
        return False
    likely = classify_request(sentence, language)
    kind = max(likely, key=lambda each: likely[each])
    if kind not in BESIDE_WISHES and likely[kind] >= SURELY_OTHER:
        return False
    return wanted is not None or likely["goal_new"] >= MAYBE_WISHED


def is_of_others(
    text: str, wanted: re.Match[str] | None, number: re.Match[str], language: str
) -> bool:
    """Whether a wish is likely somebody else's, or was one long ago."""
    tokens = get_lexicon(language).split_tokens(text)
    places = {number.start(), min(each.start() for each in (number, wanted) if each is not None)}
    is_long_ago = any(each.is_any("long_ago") for each in tokens)
    return is_long_ago or any(tells_of_others(text[:each], language) for each in places)


def tells_of_others(text: str, language: str) -> bool:
    """Whether a text names somebody else who does something, and not the speaker after them."""
    plain, cues = fold_punctuation(text), load_cues(language)
    others = [
        each.end()
        for cue in (cues.kin, cues.other, cues.theirs)
        for each in cue.finditer(plain)
        if not is_beside(plain, each.start(), cues)
    ]
    return bool(others) and cues.subject.search(plain, max(others)) is None


def is_beside(text: str, at: int, cues: AttributionCues) -> bool:
    """Whether who is named at a place only stands beside the one who does it: "with my sister"."""
    near = " ".join(text[:at].split()[-2:])
    return cues.governing_word.search(near) is not None


async def handle_total_question(context: HandlerContext, language: str) -> HandledRequest | None:
    """Tell how far the goals of an amount are that a question names: "how much have I saved?"."""
    text = context.text
    likely = classify_request(text, language)
    is_asked = text.rstrip().endswith(QUESTION_MARKS) and likely["goal_ask"] >= MAYBE_ASKED
    if len(text) > MAX_TEXT_CHARS or not (
        is_asked or likely["goal_ask"] + likely["number_ask"] >= LIKELY_ASKED
    ):
        return None
    desk = await open_desk(context, language)
    asked = desk.list_totals_in(text)
    if not asked:
        return None
    told = "\n".join(map(desk.format_line, asked))
    return build_handled(desk, GoalDecision(text=told))


def find_goal_text(said: str, phrases: GoalPhrases) -> str:
    """Return the goal that words set: what stands behind a colon, if anything does."""
    _, _, behind = said.replace("\uff1a", ": ").partition(": ")
    return phrases.find_wanted(list_clauses(behind) or list_clauses(said))


def run_command(desk: GoalDesk, words: str) -> HandledRequest:
    """Decide what a command asks for; without words it lists."""
    phrases = load_goal_phrases(desk.scope.language)
    first, _, rest = words.partition(" ")
    verb = VERBS.get(first.lower())
    if words.casefold() == "help":
        return HandledRequest(name=NAME, text=desk.say("usage"), is_command=True)
    if not words or len(words) > MAX_TEXT_CHARS:
        text = desk.list() if not desk.states else f"{desk.list()}\n\n{desk.say('usage')}"
        return replace(build_handled(desk, GoalDecision(text=text)), is_command=True)
    asked = AskedGoal(ask="set", what=words) if verb is None else AskedGoal(ask=verb, what=rest)
    return replace(build_handled(desk, decide(desk, asked, phrases)), is_command=True)


def decide(desk: GoalDesk, asked: AskedGoal, phrases: GoalPhrases) -> GoalDecision:
    """Decide a request; of a new goal, the day by which it is to be reached is read."""
    if asked.ask != "set":
        return desk.handle(asked, GoalWishes())
    try:
        text, deadline = split_deadline(asked.what, phrases, desk.scope)
    except ValueError:
        return GoalDecision(text=desk.say("past_day"))
    if wants_nothing(text, phrases.language):
        return GoalDecision(text=desk.say("wants_nothing"))
    pieces, period = phrases.find_pieces(text), phrases.find_running(text)
    if pieces is not None and pieces.is_bounded:
        period = pieces.rhythm.period
    month = phrases.find_month(text) if read_total(text, phrases.language, has_day=False) else None
    today = from_micros(desk.scope.now, desk.scope.zone).date()
    last = None if month is None else find_last_day_of_month(today, month)
    last = last if period is None else find_last_day(today, period)
    if deadline is None and last is not None:
        days_back = (today - last).days - 1
        deadline = get_start_of_day(desk.scope.now, desk.scope.zone, days_back=days_back) - 1
    return desk.handle(replace(asked, what=text), GoalWishes(deadline=deadline))


def wants_nothing(text: str, language: str) -> bool:
    """Whether a goal names amounts, and none above 0: nothing could be counted."""
    spelled = spell_digits(text, language)
    amounts = read_amounts(spelled, split_amount_tokens(spelled, language), language)
    named = [each for each in amounts if each.unit or each.noun]
    return bool(named) and all(each.value <= 0 for each in named)


def split_deadline(
    text: str, phrases: GoalPhrases, desk_scope: DeskScope
) -> tuple[str, Micros | None]:
    """Return the text of a goal without its day, and the end of that day; whole if it has none.

    Raises ValueError for a day that has passed.
    """
    times = load_task_phrases(phrases.language)
    resolver = TimeResolver(times.book, desk_scope.told_at, desk_scope.zone)
    for found in phrases.list_until(text):
        words = find_leading(times, text[found.end() :])
        told = collect(words)
        due = None if told is None or told.day is None or told.every else resolver.resolve(told)
        if isinstance(due, Ambiguous) and due.question == "past":
            raise ValueError("That day has passed.")
        if isinstance(due, Resolved):
            end = due.due_at
            if due.is_date_only:
                end = get_start_of_day(due.due_at, desk_scope.zone, days_back=-1) - 1
            rest = text[found.end() + words[-1].end :].strip(EDGES)
            ending = phrases.until_end.match(rest)
            rest = rest if ending is None else rest[ending.end() :]
            wanted = f"{text[: found.start()].strip(EDGES)} {rest}".strip()
            return (wanted, end) if wanted else (text, None)
    return text, None


def find_leading(times: TaskPhrases, text: str) -> list[TimeWord]:
    """Return the words of a time with which a text begins."""
    leading: list[TimeWord] = []
    end = 0
    for word in sorted(times.book.find(text), key=lambda each: each.start):
        if times.drop_glue(text[end : word.start]):
            break
        leading.append(word)
        end = word.end
    return leading


async def open_desk(context: HandlerContext, language: str) -> GoalDesk:
    """Load a person's goals."""
    message, person = context.utterance.message, context.utterance.person
    async with context.db.begin_read() as tx:
        states = await list_goals(tx, person.id)
    scope = DeskScope(
        person=person.id,
        zone=message.zone,
        now=context.clock(),
        language=language,
        chat=message.chat,
        message=message.id,
        message_seq=message.seq,
        said_at=message.at,
    )
    return GoalDesk(scope, states, spoken=context.perception.fixed_language)


def build_handled(desk: GoalDesk, decision: GoalDecision) -> HandledRequest:
    """Build what was handled from a decision."""
    change = None
    if decision.goal is not None:
        change = GoalChange(
            goal=decision.goal,
            earlier=decision.earlier,
            progress=decision.progress,
            taken_back=decision.taken_back,
        )
    shown = [decision.earlier] if decision.earlier else []
    if change is None:
        shown = [each.goal for each in desk.states]
    return HandledRequest(
        name=NAME,
        text=decision.text,
        records=list_told_goals(desk, decision),
        changes=() if change is None else (change,),
        items=list_items(shown),
    )


def list_told_goals(desk: GoalDesk, decision: GoalDecision) -> tuple[str, ...]:
    """Return the ids of the goals of which a decision tells."""
    changed = () if decision.goal is None else (decision.goal.id,)
    known = ((each.goal.id, each.goal.text) for each in desk.states)
    return tuple(dict.fromkeys((*changed, *list_told(known, decision.text))))


def list_items(goals: list[Goal]) -> tuple[ReceiptItem, ...]:
    """Return the messages that set some goals, as what is told rests on."""
    messages = dict.fromkeys(each.message for each in goals if each.message is not None)
    return tuple(build_listed_item("message", each, 1) for each in messages)


GOAL_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_goal_request, reads_questions=True)
