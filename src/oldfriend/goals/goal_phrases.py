"""Goal phrases: what a sentence asks to do with a goal, and how often a goal is wanted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Any, Final, Literal

from oldfriend.goals.goal import PERIODS, Period, Pieces, Rhythm
from oldfriend.goals.told_amounts import (
    ToldAmount,
    read_amounts,
    spell_digits,
    split_amount_tokens,
)
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.measurements.units import UNITS, convert_float
from oldfriend.prompts.locale_phrases import load_phrases

Ask = Literal["set", "list", "done", "drop", "did", "undo"]
ASKS: Final[tuple[Ask, ...]] = ("list", "done", "drop", "set", "undo")
MAX_SENTENCE_CHARS: Final = 300
MAX_TIMES: Final = 999_999
MOST_AT_ONCE: Final = {"m": 42_195, "s": 3_600, "l": 5}
"""What somebody may want to do in one go, by unit: a marathon, an hour. More is done in steps."""
MOST_OF_A_DAY_M: Final = 10_000
"""More metres than that in a period are run in steps, unless it says otherwise."""
FEWEST_UNBOUNDED: Final = 10
"""So many things are done in steps, even if nothing says by when."""
NOTHING: Final = r"(?!)"
APOSTROPHES: Final = str.maketrans("\u2019\u2018", "''")
DIGIT: Final = re.compile(r"\d")
THOUSANDS: Final = re.compile(r"(?<=\d)[.,](?=\d{3})")
EDGES: Final = " \t\n.!。！…"
QUESTION_EDGES: Final = f"{EDGES}?？"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedGoal:
    """What a sentence asks to do with a goal, and the words that name it."""

    ask: Ask
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalPhrases:
    """What one language has for it."""

    language: str
    asks: Mapping[Ask, Sequence[re.Pattern[str]]]
    wish: Sequence[re.Pattern[str]]
    pieces: Sequence[re.Pattern[str]]
    whole: frozenset[str]
    wholly: re.Pattern[str]
    rhythm: Sequence[re.Pattern[str]]
    count_words: re.Pattern[str]
    until: Sequence[re.Pattern[str]]
    until_end: re.Pattern[str]
    running: re.Pattern[str]  # the period that is not over, such as this month
    in_period: re.Pattern[str]  # another one, such as a month by its name, or a summer
    wants: re.Pattern[str]  # that something is wanted, aimed at or planned
    at_once: re.Pattern[str]  # that all of it is to be done in one go
    numbers: Mapping[str, int]
    units: Mapping[str, str]
    light: frozenset[str]
    quits: re.Pattern[str]
    at_most: re.Pattern[str]
    changes: re.Pattern[str]
    price: re.Pattern[str]
    saves: re.Pattern[str]
    takes_out: re.Pattern[str]
    so_far: re.Pattern[str]
    did: Sequence[re.Pattern[str]]
    parts: frozenset[str]
    elided: tuple[str, ...]  # what is left out where somebody only notes what they did: "ran 5 km"

    def read(self, sentence: str) -> AskedGoal | None:
        """Return what a whole sentence asks for; None for any other."""
        plain = " ".join(sentence.translate(APOSTROPHES).split())
        is_question = plain.endswith(("?", "？"))
        plain = plain.strip(QUESTION_EDGES)
        if not plain or len(plain) > MAX_SENTENCE_CHARS:
            return None
        for ask in ASKS:
            for pattern in () if is_question and ask != "list" else self.asks[ask]:
                found = pattern.fullmatch(plain)
                if found is not None:
                    what = (found.groupdict().get("what") or "").strip(EDGES)
                    return AskedGoal(ask=ask, what=what)
        return None if is_question else self.read_wish(plain)

    def read_wish(self, sentence: str) -> AskedGoal | None:
        """Return the goal that a wish sets by a number: "I want to read 12 books this year"."""
        for pattern in self.wish:
            found = pattern.fullmatch(sentence)
            if found is None:
                continue
            what = self.join_period(found["wish"].strip(EDGES), sentence)
            pieces, rhythm = self.find_pieces(what), self.find_rhythm(what)
            is_counted = rhythm is not None and bool(rhythm[1].groupdict().get("n"))
            is_bounded = pieces is not None and pieces.is_bounded
            if is_counted or is_bounded or self.find_running(what) is not None:
                return AskedGoal(ask="set", what=what)
        return None

    def find_wanted(self, clauses: Sequence[str]) -> str:
        """Return what is wanted by clauses that set a goal: those that tell how much or how often.

        Words that only say that it is a goal are left out, as far as they are known.
        """
        telling = [each for each in clauses if DIGIT.search(each) or self.find_rhythm(each)]
        framed = [each for each in clauses if self.cut_frame(each) != each]
        chosen = telling or framed or clauses[:1]
        return ", ".join(map(self.cut_frame, chosen))[:MAX_SENTENCE_CHARS]

    def cut_frame(self, clause: str) -> str:
        """Return a clause without the words with which a goal is set."""
        plain = clause.translate(APOSTROPHES).strip(QUESTION_EDGES)
        for pattern, group in (
            *((each, "what") for each in self.asks["set"]),
            *((each, "wish") for each in self.wish),
        ):
            found = pattern.search(plain)
            if found is not None and found[group]:
                return self.join_period(found[group].strip(EDGES), plain)
        return clause.strip(EDGES)

    def find_pieces(self, text: str) -> Pieces | None:
        """Return how many whole things are wanted; None if they are measured or not counted."""
        for pattern in self.pieces:
            found = pattern.search(text.translate(APOSTROPHES))
            if found is None:
                continue
            groups = found.groupdict()
            rhythm = Rhythm(
                times=self.read_number(groups["n"]),
                period=self.read_period(groups.get("unit") or groups["this"] or ""),
            )
            return Pieces(rhythm=rhythm, noun=groups["noun"], is_bounded=bool(groups.get("this")))
        return None

    def join_period(self, wish: str, sentence: str) -> str:
        """Return a wish with the period that stands before it: "This month I want to …"."""
        for pattern in (self.running, self.in_period):
            named = pattern.search(sentence)
            if named is not None and not pattern.search(wish):
                wish = f"{wish} {named[0].strip()}"
        return wish

    def find_running(self, text: str) -> Period | None:
        """Return the running period in which an amount is to be reached in steps.

        None if a text names none, or no such amount.
        """
        text = spell_digits(text.translate(APOSTROPHES), self.language)
        found = self.running.search(text)
        if found is None:
            return None
        rest = self.running.sub(" ", text)
        amounts = [
            each
            for each in self.list_positive(rest)
            if (each.unit or each.noun)
            and self.is_total(each, rest, has_day=False, has_period=True)
        ]
        is_limited = self.at_most.search(rest) or self.at_once.search(rest)
        is_wanted = len(amounts) == 1 and not is_limited
        return self.read_period(found["unit"]) if is_wanted else None

    def is_sum(self, value: float, unit: str, text: str) -> bool:
        """Tell whether an amount is likely reached in steps: not lifted, held or run at once."""
        if UNITS[unit].dimension == "mass":
            return self.changes.search(text) is not None
        if UNITS[unit].dimension == "money":
            return True
        in_base = ((convert_float(value, unit, base), most) for base, most in MOST_AT_ONCE.items())
        return any(amount is not None and amount > most for amount, most in in_base)

    def is_spent(self, text: str) -> bool:
        """Tell whether a text names money, but nothing of putting it aside."""
        return not self.saves.search(text) and bool(self.list_money(text))

    def is_price(self, text: str) -> bool:
        """Tell whether a text names money that a thing costs: "a phone for 400 dollars"."""
        starts = self.list_money(text)
        spelled = spell_digits(text, self.language)
        return self.is_spent(text) and any(self.price.search(spelled[:at]) for at in starts)

    def list_money(self, text: str) -> list[int]:
        """Return where the amounts of money begin in a text from `spell_digits`."""
        spelled = spell_digits(text, self.language)
        tokens = split_amount_tokens(spelled, self.language)
        return [
            tokens[each.first].start
            for each in self.list_positive(spelled)
            if each.unit and UNITS[each.unit].dimension == "money"
        ]

    def list_positive(self, text: str) -> list[ToldAmount]:
        """Return the amounts above zero that a text from `spell_digits` tells."""
        tokens = split_amount_tokens(text, self.language)
        return [each for each in read_amounts(text, tokens, self.language) if each.value > 0]

    def find_month(self, text: str) -> int | None:
        """Return the month, from 1, that a text names as the one in which something is wanted."""
        named = self.in_period.search(spell_digits(text.translate(APOSTROPHES), self.language))
        if named is None:
            return None
        names = load_phrases(self.language).date_formats.months
        spelled = [spell_digits(each, self.language).casefold() for each in names]
        fitting = [each for each in spelled if each in named[0].casefold()]
        return spelled.index(max(fitting, key=len)) + 1 if fitting else None

    def is_total(self, told: ToldAmount, text: str, *, has_day: bool, has_period: bool) -> bool:
        """Tell whether the amount of a goal is likely reached in steps.

        Of money and of many things this is so without a day, too.
        """
        is_bounded = has_day or has_period
        if told.unit is None:
            return told.value > 1 and (is_bounded or told.value >= FEWEST_UNBOUNDED)
        if UNITS[told.unit].dimension == "money":
            return True
        metres = convert_float(told.value, told.unit, "m") if has_period else None
        is_far = metres is not None and metres > MOST_OF_A_DAY_M
        return is_bounded and (is_far or self.is_sum(told.value, told.unit, text))

    def read_period(self, word: str) -> Period:
        """Return the period that a word of the pack names."""
        unit = self.units[word.lower()]
        return next(each for each in PERIODS if each == unit)

    def find_rhythm(self, text: str) -> tuple[Rhythm, re.Match[str]] | None:
        """Return how often something is wanted, and the words that say so."""
        for pattern in self.rhythm:
            found = pattern.search(text.translate(APOSTROPHES))
            if found is not None:
                times = self.read_number(found.groupdict().get("n"))
                return Rhythm(times=times, period=self.read_period(found["unit"])), found
        return None

    def read_number(self, words: str | None) -> int:
        """Return the number of times that words tell, once if they tell none."""
        plain = (words or "").lower()
        first = plain.split()[0] if plain.split() else ""
        digits = "".join(takewhile(str.isdecimal, THOUSANDS.sub("", plain)))
        number = int(digits) if digits else self.numbers.get(plain, self.numbers.get(first, 1))
        return min(max(number, 1), MAX_TIMES)

    def without_rhythm(self, text: str) -> str:
        """Return the text of a goal without the words that say how often."""
        found = self.find_rhythm(text)
        if found is not None:
            text = f"{text[: found[1].start()]} {text[found[1].end() :]}"
        return self.count_words.sub(" ", text)

    def list_until(self, text: str) -> list[re.Match[str]]:
        """Return the words after which the day may stand by which a goal is to be reached."""
        plain = text.translate(APOSTROPHES)
        return [each for pattern in self.until for each in pattern.finditer(plain)]


@cache
def load_goal_phrases(language: str) -> GoalPhrases:
    """Load the phrases of a language, or of the fallback."""
    language = choose_language_with("goals", language)
    pack = load_goal_pack(language)

    def compiled(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(each, re.IGNORECASE) for each in patterns)

    return GoalPhrases(
        language=language,
        asks={ask: compiled(pack["asks"][ask]) for ask in ASKS},
        wish=compiled(pack["asks"]["wish"]),
        pieces=compiled(pack["pieces"]["patterns"]),
        whole=frozenset(pack["pieces"]["whole"]),
        wholly=re.compile(pack["pieces"]["wholly"] or NOTHING, re.IGNORECASE),
        rhythm=compiled(pack["rhythm"]["patterns"]),
        count_words=re.compile(pack["rhythm"]["count_words"] or NOTHING),
        until=compiled(pack["until"]),
        until_end=re.compile(pack["until_end"]),
        running=re.compile(pack["running"], re.IGNORECASE),
        in_period=re.compile(pack["in_period"], re.IGNORECASE),
        wants=re.compile(pack["wants"], re.IGNORECASE),
        at_once=re.compile(pack["at_once"], re.IGNORECASE),
        numbers=pack["numbers"],
        units=pack["units"],
        light=frozenset(pack["light"]),
        quits=re.compile(pack["quits"], re.IGNORECASE),
        at_most=re.compile(pack["at_most"], re.IGNORECASE),
        changes=re.compile(pack["changes"], re.IGNORECASE),
        price=re.compile(pack["price"] or NOTHING, re.IGNORECASE),
        saves=re.compile(pack["saves"], re.IGNORECASE),
        takes_out=re.compile(pack["takes_out"], re.IGNORECASE),
        so_far=re.compile(pack["so_far"], re.IGNORECASE),
        did=compiled(pack["did"]),
        parts=frozenset(pack["parts"]),
        elided=tuple(pack["elided"]),
    )


@cache
def load_goal_pack(language: str) -> dict[str, Any]:
    """Load the table of a language."""
    return load_language_pack(language).read("goals")
