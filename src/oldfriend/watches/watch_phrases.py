"""Watch phrases: what a sentence asks to be told of once it changes, and what is said about it.

In what is read, LINK stands for the one address of the sentence.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.measurements.lexicon import get_lexicon
from oldfriend.measurements.number_source import NumberSource
from oldfriend.watches.amounts import find_amount, parse_amount
from oldfriend.watches.watch import Condition, Watch

APOSTROPHES: Final = str.maketrans("\u2019\u2018", "''")
EDGES: Final = " \t\n.!。！…?？"
LINK: Final = "LINK"
MAX_SENTENCE_CHARS: Final = 240
LIMIT: Final = re.compile(r"\d[\d.,]{0,14}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWatch:
    """What is asked: to watch something, to stop, or which there are."""

    ask: Literal["watch", "stop", "list"]
    condition: Condition = "changes"
    threshold: float | None = None
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPhrases:
    """What one language has for it."""

    language: str
    asks: Sequence[re.Pattern[str]]
    things: Sequence[re.Pattern[str]]
    stop: Sequence[re.Pattern[str]]
    list: Sequence[re.Pattern[str]]
    below: re.Pattern[str]
    above: re.Pattern[str]
    texts: Mapping[str, str]

    def read(self, sentence: str) -> AskedWatch | None:
        """Return what a whole sentence asks for; None for any other."""
        plain = " ".join(sentence.translate(APOSTROPHES).split()).strip(EDGES)
        if not plain or len(plain) > MAX_SENTENCE_CHARS:
            return None
        if any(each.fullmatch(plain) for each in self.list):
            return AskedWatch(ask="list")
        for pattern in self.stop:
            found = pattern.fullmatch(plain)
            if found is not None:
                return AskedWatch(ask="stop", ref=found["ref"])
        for pattern in self.asks if LINK in plain else ():
            found = pattern.fullmatch(plain)
            if found is not None:
                return self.build(found.groupdict())
        return None

    def asks_without_address(self, sentence: str) -> bool:
        """Whether a sentence asks to have a thing watched, and names no page: "the kettle"."""
        plain = " ".join(sentence.translate(APOSTROPHES).split()).strip(EDGES)
        return len(plain) <= MAX_SENTENCE_CHARS and any(
            each.fullmatch(plain) is not None for each in self.things
        )

    def read_limit(self, text: str) -> AskedWatch:
        """Return what a text, which asks to have LINK watched, wants: a price, or any change."""
        numbers = [each for found in LIMIT.findall(text) if (each := found.rstrip(".,"))]
        price = find_amount(text) or (parse_amount(numbers[0]) if len(numbers) == 1 else None)
        if price is None:
            return AskedWatch(ask="watch")
        is_above = self.above.search(text) is not None
        condition: Condition = "above" if is_above else "below"
        return AskedWatch(ask="watch", condition=condition, threshold=price)

    def build(self, groups: Mapping[str, str | None]) -> AskedWatch | None:
        """Return what is to be watched; None for a threshold that is no number."""
        side, limit = groups.get("side"), groups.get("limit")
        if not side or not limit:
            return AskedWatch(ask="watch")
        threshold = parse_amount(limit.rstrip(".,"))
        if threshold is None:
            return None
        condition: Condition = "below" if self.below.fullmatch(side) else "above"
        return AskedWatch(ask="watch", condition=condition, threshold=threshold)

    def say(self, name: str, **values: object) -> str:
        """Return a phrase with values filled in."""
        return self.texts[name].format(**values)

    def confirm(self, watch: Watch) -> str:
        """Say what is watched, as it is stored."""
        if watch.number is not None:
            return self.say_number(watch.condition, watch)
        if watch.threshold is None:
            return self.say("set", url=watch.url)
        return self.say(watch.condition, url=watch.url, limit=format_amount(watch.threshold))

    def list_watches(self, watches: Sequence[Watch]) -> str:
        """List what is watched, with its numbers."""
        if not watches:
            return self.say("empty")
        lines = [
            self.say("line", number=number, url=self.name(each), limit=self.format_limit(each))
            for number, each in enumerate(watches, 1)
        ]
        return "\n".join([self.say("head"), *lines])

    def format_limit(self, watch: Watch) -> str:
        """Format the price for which a page is watched; empty for any change."""
        if watch.threshold is None:
            return ""
        if watch.number is not None:
            return self.say_number(f"line_{watch.condition}", watch)
        limit = self.say(f"line_{watch.condition}", limit=format_amount(watch.threshold))
        if watch.amount is None:
            return limit
        return limit + self.say("now", amount=format_amount(watch.amount))

    def tell_ended(self, watch: Watch) -> str:
        """Say that something is watched no more."""
        if watch.number is not None:
            return self.say_number("stopped", watch)
        return self.say("stopped", url=watch.url)

    def name(self, watch: Watch) -> str:
        """Return what is watched: an address, or a measure as the language calls it."""
        number = watch.number
        return watch.url if number is None else self.name_measure(number)

    def name_measure(self, number: NumberSource) -> str:
        """Return what a measure is called."""
        return get_lexicon(self.language).names.get(number.name, number.name)

    def say_number(self, name: str, watch: Watch) -> str:
        """Return a phrase about a number, with its measure, its limit and its value."""
        number = watch.number
        assert number is not None
        title = self.name_measure(number)
        return self.say(
            f"number_{name}",
            measure=title[:1].upper() + title[1:] if name.startswith("is_") else title,
            limit=self.format_value(watch.threshold, number.unit),
            amount=self.format_value(watch.amount, number.unit),
        )

    def format_value(self, value: float | None, unit: str) -> str:
        """Format a value with its unit; empty without one."""
        lexicon = get_lexicon(self.language)
        if value is None:
            return ""
        text = format_amount(value)
        if lexicon.has_decimal_comma:
            text = text.replace(".", ",")
        shown = lexicon.unit_names.get(unit)
        return f"{text} {unit}".rstrip() if shown is None else shown.format(value=text)

    def tell_first(self, watch: Watch) -> str:
        """Say which price a page has as it is first read; empty if it is watched for no price."""
        if watch.threshold is None or watch.amount is None:
            return ""
        return self.say(
            f"first_{watch.condition}",
            url=watch.url,
            amount=format_amount(watch.amount),
            limit=format_amount(watch.threshold),
        )

    def tell(self, watch: Watch) -> str:
        """Say what was seen, by which a watch has ended."""
        if watch.number is not None:
            return self.say_number(f"is_{watch.condition}", watch)
        if watch.status == "lost":
            return self.say("lost", url=watch.url)
        if watch.threshold is None or watch.amount is None:
            return self.say("changed", url=watch.url)
        return self.say(
            f"is_{watch.condition}",
            url=watch.url,
            amount=format_amount(watch.amount),
            limit=format_amount(watch.threshold),
        )


def format_amount(amount: float) -> str:
    """Format an amount, with its decimals where it has any."""
    return f"{amount:.0f}" if amount == int(amount) else f"{amount:.2f}"


@cache
def load_watch_phrases(language: str) -> WatchPhrases:
    """Load the phrases of a language, or of the fallback."""
    language = choose_language_with("watches", language)
    pack: dict[str, Any] = load_language_pack(language).read("watches")

    def compiled(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(each, re.IGNORECASE) for each in patterns)

    return WatchPhrases(
        language=language,
        asks=compiled(pack["asks"]),
        things=compiled(pack["things"]),
        stop=compiled(pack["stop"]),
        list=compiled(pack["list"]),
        below=re.compile(pack["below"], re.IGNORECASE),
        above=re.compile(pack["above"], re.IGNORECASE),
        texts=pack["say"],
    )
