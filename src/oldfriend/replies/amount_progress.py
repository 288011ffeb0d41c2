"""Amount progress: what a message tells in passing of an amount that a goal wants in all.

"24 more today", "850", "6 km au parc" count while it is the person's own, done, and of the goal's
unit or noun; "not 24, 26" puts the amount right. In doubt it counts for nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.domain.clock import DAY
from oldfriend.domain.messages import Message
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.goals.goal import Goal
from oldfriend.goals.goal_desk import GoalDecision, GoalDesk
from oldfriend.goals.goal_phrases import GoalPhrases
from oldfriend.goals.goal_totals import GoalTotal, are_joined, find_countable
from oldfriend.goals.told_amounts import (
    ToldAmount,
    read_amounts,
    spell_digits,
    split_amount_tokens,
)
from oldfriend.lang.detection import is_possible_language
from oldfriend.lang.language_pack import choose_language_with, get_traits
from oldfriend.learning.rule_extraction.datetimes import without_times
from oldfriend.learning.rule_extraction.promises import matter_of, verb_stem
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.measurements.lexicon import (
    BREAK_CLASS,
    NUMBER_CLASS,
    OTHER_CLASS,
    Token,
    fold,
    list_lexicons,
)
from oldfriend.measurements.measurement_corrections import find_marks, is_bare_undo
from oldfriend.measurements.measurement_reader import Moment
from oldfriend.measurements.measurement_store import list_told_lately
from oldfriend.memory.receipts import MOVED_KEY, SET_KEY
from oldfriend.search.tokenizer import is_stop_word, stem_word, tokenize
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues
from oldfriend.turn.attribution.quoted_spans import find_borrowed_spans
from oldfriend.turn.request_handlers.goal_requests import tells_of_others
from oldfriend.turn.request_handlers.handler import HandlerContext
from oldfriend.turn.request_handlers.measurement_changes import find_last_message
from oldfriend.turn.request_handlers.request_kinds import classify_request, is_negated
from oldfriend.turn.request_handlers.task_requests import load_last_details

LIKELY_TOLD: Final = 0.25
"""How likely a sentence that begins with a distance must be to tell a number or something done."""
LIKELY_DONE: Final = 0.35
"""How likely it must be to tell of something done that may be for anything, as money is."""
SURELY_OTHER: Final = 0.8
"""How likely a sentence must be to ask for something else, so that it tells of nothing done."""
TELLING: Final = frozenset({"none", "goal_progress", "number_log", "goal_missed", "number_fix"})
SURELY_FIX: Final = 0.5
"""How likely a message must be to correct a number where no word says so."""
SMALL: Final = ("fill", "times", "joints", "me", "my", "months", "of", "last_night", "and_half")
"""Classes of the words that say nothing of what an amount is of."""
CORRECTED_WITHIN: Final = 7 * DAY
SMALLEST_SHARE: Final = 0.002
"""A bare number is at least so much of what is wanted, and at most all of it."""
METRES: Final = 1_000
CACHE_SIZE: Final = 256
CLAUSE_END: Final = re.compile(r"(?<![,;:.!?…])[,;:.!?…]++(?=\s|$)|(?<=\D)[,:;]|[，；：。！？\n]")
HAN_CLAUSE_END: Final = re.compile(r"[,;!?，；：。！？\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalWords:
    """Stems of what a goal is about and of verbs that say only that it is done."""

    wanted: frozenset[str]
    light: frozenset[str]
    phrases: GoalPhrases


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldClause:
    """A clause that tells one amount."""

    text: str
    earlier: Sequence[Token]  # of the clauses before it
    tokens: Sequence[Token]
    amount: ToldAmount
    verbs: frozenset[str]  # of what its sentence says was done
    done: float  # how likely its sentence tells of something done
    logged: float  # or just of a number


def count_told(
    total: GoalTotal, sentence: str, words: GoalWords, verbs: frozenset[str], book: RuleBook
) -> int:
    """Return how much of a total the clauses of a sentence tell as done by the person."""
    language = book.language
    spelled = spell_digits(sentence, language)
    if is_negated(spelled, language) or find_borrowed_spans(sentence, language):
        return 0
    likely = classify_request(sentence, language)
    kind = max(likely, key=lambda each: likely[each])
    if kind not in TELLING and likely[kind] >= SURELY_OTHER:
        return 0
    amount = 0
    for begins, ends in list_clause_spans(spelled, language):
        text = spelled[begins:ends]
        tokens = split_amount_tokens(text, language)
        amounts = [as_bare(each, words, book) for each in read_amounts(text, tokens, language)]
        told = choose_amount(without_clocks(amounts, text, tokens, language), total, tokens)
        if told is None or is_no_deed(tokens, told, text, language):
            continue
        before = spelled[: begins + tokens[told.first].start]
        behind = text[tokens[told.end - 1].end :]
        is_of_others = any(tells_of_others(each, language) for each in (before, behind))
        if is_of_others or begins_with_own(tokens[: told.first], language):
            continue
        clause = ToldClause(
            text=text,
            earlier=split_amount_tokens(spelled[:begins], language),
            tokens=tokens,
            amount=told,
            verbs=verbs,
            done=likely["goal_progress"],
            logged=likely["number_log"],
        )
        if total.is_money and words.phrases.takes_out.search(text):
            amount -= abs(measure(told, total))
        elif is_for_total(clause, total, words, book):
            amount += measure(told, total)
    return amount


def begins_with_own(tokens: Sequence[Token], language: str) -> bool:
    """Whether a clause begins with whom or what the speaker calls theirs: "mi comadre ya lleva"."""
    said = [each for each in tokens if not each.is_any("fill", "times", "joints", BREAK_CLASS)]
    return (
        len(said) > 1
        and said[0].is_any("my")
        and said[1].is_any(OTHER_CLASS)
        and not is_stop_word(said[1].text, language)
    )


def as_bare(told: ToldAmount, words: GoalWords, book: RuleBook) -> ToldAmount:
    """Return an amount without a noun that only says that it is done: "25 hechas"."""
    if not told.noun or told.noun in words.wanted:
        return told
    is_done = not words.light.isdisjoint(list_word_stems(told.word, book))
    return replace(told, noun="", word="", end=told.end - 1) if is_done else told


@text_lru_cache(CACHE_SIZE)
def list_infinitives(stem: str, language: str) -> frozenset[str]:
    """Return the infinitives of verbs that have a form of a stem: "hacer" of "hechas"."""
    forms = load_rule_book(language).infinitives.items()
    return frozenset(verb for form, verb in forms if stem_word(form, language) == stem)


def without_clocks(
    told: Sequence[ToldAmount], text: str, tokens: Sequence[Token], language: str
) -> list[ToldAmount]:
    """Return amounts without the hours of a clock, which name no unit: "at 7pm"."""
    bare = [each for each in told if each.unit is None]
    book = load_task_phrases(choose_language_with("tasks", language)).book if bare else None
    clocks = [] if book is None else [each for each in book.find(text) if each.kind == "clock"]
    hours = [
        each
        for each in bare
        if any(one.start <= tokens[each.first].start < one.end for one in clocks)
    ]
    return [each for each in told if each not in hours]


def choose_amount(
    told: Sequence[ToldAmount], total: GoalTotal, tokens: Sequence[Token]
) -> ToldAmount | None:
    """Return the amount of a total's unit or noun, or else the only bare number.

    Several that are only joined are one; any other several are none.
    """
    named = [each for each in told if total.measure(each)]
    if not named:
        return told[0] if len(told) == 1 else None
    if len(named) == 1 or not are_joined(named, tokens):
        return named[0] if len(named) == 1 else None
    value = sum(map(total.measure, named)) / total.parts
    unit = None if total.noun else total.unit
    return replace(named[0], value=value, unit=unit, end=named[-1].end)


def list_clause_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return where the clauses of a text stand; in Chinese, a space ends one, too."""
    ending = HAN_CLAUSE_END if get_traits(language).is_han else CLAUSE_END
    ends = [(each.start(), each.end()) for each in ending.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(text)]
    return [(start, stop) for start, stop in zip(starts, stops, strict=True) if start < stop]


def is_no_deed(tokens: Sequence[Token], told: ToldAmount, text: str, language: str) -> bool:
    """Whether a clause plans, supposes or compares an amount: "12 km if my knees let me"."""
    beside = [each for at, each in enumerate(tokens) if at != told.end]  # "24 more"
    is_supposed = any(each.is_any("not_told") for each in beside)
    return is_supposed or load_cues(language).hedge.search(fold_punctuation(text)) is not None


def is_for_total(clause: ToldClause, total: GoalTotal, words: GoalWords, book: RuleBook) -> bool:
    """Whether the amount of a clause was likely done for a total, whose unit may be any's.

    By the words of the goal, by nothing else in the clause, or by how likely it tells of a deed.
    """
    told = clause.amount
    known = words.wanted | words.light | ({total.noun} if total.noun else frozenset())
    before = list_unknown(clause.tokens[: told.first], known, book)
    behind = list_unknown(clause.tokens[told.end :], known, book)
    said = {stem for each in clause.tokens for stem in list_stems(each, book)}
    is_saved = total.is_money and words.phrases.saves.search(clause.text) is not None
    is_named = is_saved or not said.isdisjoint(words.wanted)
    is_likely = clause.done >= LIKELY_DONE
    has_deed = bool(words.wanted - {total.noun})
    is_other_deed = not is_saved and has_deed and clause.verbs.isdisjoint(known)
    if not is_named and list_unknown(clause.earlier, known, book):  # it goes on about that
        return is_likely
    if before or (is_other_deed and clause.verbs):
        return is_likely or (is_named and bool(clause.verbs) and not is_other_deed)
    if is_named or (not behind and not total.is_money) or told.noun:
        return True
    if total.dimension == "length":
        return clause.done + clause.logged >= LIKELY_TOLD
    return is_likely


def list_unknown(tokens: Sequence[Token], known: frozenset[str], book: RuleBook) -> list[str]:
    """Return the words among tokens that carry matter, and none of what is known."""
    return [
        each.text
        for each in tokens
        if not each.is_any(*SMALL, NUMBER_CLASS, BREAK_CLASS)
        and each.unit is None
        and not is_stop_word(each.text, book.language)
        and known.isdisjoint(list_stems(each, book))
    ]


def list_stems(token: Token, book: RuleBook) -> tuple[str, ...]:
    """Return what a token may share with the words of a goal; of Chinese, its characters."""
    if get_traits(book.language).is_han:
        return (*token.text,)
    return list_word_stems(token.text, book)


def list_word_stems(word: str, book: RuleBook) -> tuple[str, ...]:
    """Return the stems of a word, and of the verbs that it may be a form of."""
    stem = stem_word(word, book.language)
    verbs = (verb_stem(each, book) for each in list_infinitives(stem, book.language))
    return (normalize(stem, book), verb_stem(word, book), *verbs)


def measure(told: ToldAmount, total: GoalTotal) -> int:
    """Return how much of a total an amount is, also one that names no unit; 0 for no such one."""
    if told.unit is not None or told.noun:
        return total.measure(told)
    is_in_metres = total.dimension == "length" and told.value > total.value  # "7k"
    value = told.value / METRES if is_in_metres else told.value
    is_fitting = SMALLEST_SHARE * total.value <= abs(value) <= total.value
    takes_bare = total.dimension in {"", "money", "length"}
    return total.to_amount(value, total.unit) if takes_bare and is_fitting else 0


def decide_fix(desk: GoalDesk, message: Message) -> GoalDecision | None:
    """Put right what was counted last with one of the two amounts of a message: "not 24, 26"."""
    found = [
        (step, state, right)
        for state in desk.states
        for wrong, right in list_fixes(state.goal, message)
        for step in state.progress
        if step.amount == wrong and step.at >= message.at - CORRECTED_WITHIN
    ]
    is_done = any(each.message == message.id for state in desk.states for each in state.progress)
    if not found or is_done:
        return None
    step, state, right = max(found, key=lambda each: each[0].at)
    return None if step.amount == right else desk.put_right(state, step, right)


async def undo_count(context: HandlerContext, desk: GoalDesk) -> tuple[GoalDecision, bool] | None:
    """Take back what the message before counted, or what it put right, if this one is "undo".

    Also return whether the reply to it set or moved reminders, which are undone with it. What it
    counted of a number that is kept goes with that number.
    """
    message = context.utterance.message
    moment = Moment(at=message.at, zone=message.zone)
    lexicons = list_lexicons(context.perception.language)
    if not any(is_bare_undo(context.text, moment, each) for each in lexicons):
        return None
    async with context.db.begin_read() as tx:
        last = await find_last_message(tx, message)
        numbers = await list_told_lately(tx, message.person, since=message.at - DAY)
        details = await load_last_details(tx, message)
    counted = [
        (state, step)
        for state in desk.states
        for step in state.progress
        if last is not None and step.message == last.id
    ]
    if last is None or len(counted) != 1 or any(each.message == last.id for each in numbers):
        return None
    state, step = counted[0]
    former = [wrong for wrong, right in list_fixes(state.goal, last) if right == step.amount]
    decision = (
        desk.put_right(state, step, former[0]) if former else desk.take_back_step(state, step)
    )
    has_tasks = not details.keys().isdisjoint((SET_KEY, MOVED_KEY))  # they are undone, too
    return decision, has_tasks


def list_fixes(goal: Goal, message: Message) -> list[tuple[int, int]]:
    """Return what may be wrong and what right of a goal's amounts, if a message corrects one."""
    language, total = goal.language, find_countable(goal)
    spelled = spell_digits(message.text, language)
    told = read_amounts(spelled, split_amount_tokens(spelled, language), language)
    is_pair = len(told) == len(("wrong", "right")) and is_possible_language(message.text, language)
    if total is None or not is_pair or not corrects(message.text, spelled, language):
        return []
    one, other = (measure_any(each, total) for each in told)
    return [(one, other), (other, one)] if one and other else []


def measure_any(told: ToldAmount, total: GoalTotal) -> int:
    """Return how much of a total a number is, whatever stands behind it if it is no unit."""
    return total.to_amount(told.value, told.unit or total.unit)


def corrects(text: str, spelled: str, language: str) -> bool:
    """Whether a message says that a number was wrong."""
    likely = classify_request(text, language)
    is_marked = is_negated(spelled, language) or bool(find_marks(fold(spelled), language))
    return likely["number_fix"] >= SURELY_FIX or (is_marked and likely["number_ask"] < SURELY_FIX)


def collect_wanted(goal: Goal, phrases: GoalPhrases, book: RuleBook) -> frozenset[str]:
    """Return the stems of what a goal is about, without how often and how many."""
    text = without_times(phrases.without_rhythm(goal.text), book)
    stems = matter_of(text, book.language)
    if not get_traits(book.language).is_han:
        acted = {verb_stem(each, book) for each in tokenize(text)}
        stems = frozenset(stem for stem in stems if stem in acted or not has_digit(stem))
        stems = frozenset(normalize(each, book) for each in stems)
    stems = frozenset(each for each in stems if not has_digit(each))
    idle = collect_light(phrases, book)
    if has_digit(goal.text):  # "8000 steps a day"
        idle |= {stem_word(each, book.language) for each in phrases.units}
    return stems - idle or stems


def collect_light(phrases: GoalPhrases, book: RuleBook) -> frozenset[str]:
    """Return the stems of the verbs that say only that something is done: "go running"."""
    verbs = {verb_stem(each, book) for each in phrases.light}
    return frozenset(
        {*verbs, *(normalize(stem_word(each, book.language), book) for each in phrases.light)}
    )


def normalize(stem: str, book: RuleBook) -> str:
    """Return the stem that a word shares with its forms as a verb."""
    return verb_stem(book.infinitives.get(stem, stem), book)


def has_digit(stem: str) -> bool:
    """Whether a stem is a number."""
    return any(each.isdigit() for each in stem)
