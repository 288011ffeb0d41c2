"""Measurement texts: words a person's numbers in their language, with unit and day."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from typing import Final

from oldfriend.measurements.lexicon import MeasureLexicon, get_lexicon
from oldfriend.measurements.measurement_store import Measurement
from oldfriend.measurements.measures import Measure, from_compared, get_measure, to_compared
from oldfriend.prompts.locale_phrases import LocalePhrases, load_phrases
from oldfriend.turn.quotes import format_date

MINUTES: Final = 60
MAX_DECIMALS: Final = 2
COUNTED: Final = re.compile(r"(?<!\d)(\d{1,9}) \[([^|\[\]]{1,30})\|([^|\[\]]{1,30})\]")
"""A count with the noun of one and of several: "3 [value|values]"."""
MAX_DIGITS: Final = 15
DIGITS: Final = Context(prec=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementTexts:
    """How numbers are told in one language."""

    lexicon: MeasureLexicon
    book: LocalePhrases

    def say(self, key: str, **values: str) -> str:
        """Return a sentence of the language."""
        text = self.lexicon.texts[key].format(**values)
        return COUNTED.sub(lambda match: f"{match[1]} {match[2 if match[1] == '1' else 3]}", text)

    def name(self, name: str) -> str:
        """Return what a measure is called."""
        return self.lexicon.names.get(name, name)

    def day(self, day: date) -> str:
        """Return a day as it is told."""
        return format_date(self.book, day)

    def number(self, value: float, *, decimals: int = MAX_DECIMALS) -> str:
        """Return a number with the separators of the language."""
        text = f"{round(value, decimals):,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        if self.lexicon.has_decimal_comma:
            text = text.translate(SWAPPED_SEPARATORS)
        return "0" if text in {"-0", ""} else text

    def exact(self, value: Decimal) -> str:
        """Return a calculated number to twelve digits; a very large or small one by its power."""
        rounded = DIGITS.create_decimal(value).normalize()
        if abs(rounded.adjusted()) > MAX_DIGITS:
            return f"{rounded:.6E}"
        text = f"{rounded:,f}"
        return text.translate(SWAPPED_SEPARATORS) if self.lexicon.has_decimal_comma else text

    def value(self, measure: Measure, value: float, unit: str) -> str:
        """Return a value with its unit; a time of hours also in minutes."""
        if unit == "h":
            minutes = round(abs(value) * MINUTES)
            hours, rest = divmod(minutes, MINUTES)
            parts = [f"{hours} h"] * bool(hours or not rest) + [f"{rest} min"] * bool(rest)
            return " ".join(parts)
        decimals = 0 if measure.is_whole else MAX_DECIMALS
        number = self.number(value, decimals=decimals)
        if unit in self.lexicon.unit_names:
            return self.lexicon.unit_names[unit].format(value=number)
        return f"{number} {unit}".rstrip()

    def told(self, measured: Measurement) -> str:
        """Return a value as it was told, with the second one that belongs to it."""
        measure = get_measure(measured.name)
        if measured.second_value is None:
            return self.value(measure, measured.value, measured.unit)
        if measure.is_pair:
            pair = f"{self.number(measured.value)}/{self.number(measured.second_value)}"
            return f"{pair} {measured.unit}"
        return self.say(
            "with_second",
            value=self.value(measure, measured.value, measured.unit),
            second=self.value(measure, measured.second_value, measured.second_unit),
        )

    def compared(self, measure: Measure, value: float, unit: str) -> str:
        """Return a value in the measure's unit, in the unit that the person uses."""
        shown = from_compared(measure, value, unit) if measure.unit and unit else value
        if shown is None:
            return self.value(measure, value, measure.unit)
        return self.value(measure, round(shown, 1), unit)

    def difference(self, measure: Measure, difference: float, unit: str) -> str:
        """Return by how much a value is above another, in the unit that the person uses."""
        shown = difference
        if measure.unit and unit and measure.unit != unit:
            top = from_compared(measure, difference, unit)
            zero = from_compared(measure, 0.0, unit)
            shown = difference if top is None or zero is None else top - zero
        amount = self.value(measure, abs(round(shown, 1)), unit)
        if not round(shown, 1):
            return self.say("compare_same")
        return self.say("more" if shown > 0 else "less", amount=amount)


SWAPPED_SEPARATORS: Final = str.maketrans(",.", ".,")


def load_measurement_texts(language: str) -> MeasurementTexts:
    """Return the texts of a language, else those of the fallback."""
    lexicon = get_lexicon(language)
    return MeasurementTexts(lexicon=lexicon, book=load_phrases(lexicon.language))


def find_usual_unit(measure: Measure, measured: Sequence[Measurement]) -> str:
    """Return the unit in which the person told the newest value that can be converted."""
    units = (
        each.unit
        for each in reversed(measured)
        if to_compared(measure, each.value, each.unit) is not None
    )
    return next(units, measure.unit)
