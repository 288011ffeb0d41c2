"""Measurement answers: answers questions about a person's numbers from the stored rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.measurements.measurement_questions import DayRange, MeasurementQuestion
from oldfriend.measurements.measurement_store import (
    Measurement,
    find_latest,
    list_kept_measures,
    list_measurements,
)
from oldfriend.measurements.measures import Measure, get_measure
from oldfriend.measurements.statistics import (
    FEW_DAYS,
    WEAK,
    Comparison,
    DayValue,
    compare,
    compute_weekly_slope,
    correlate,
    group_by_week,
    list_days,
    split_by_days,
    summarize,
)
from oldfriend.turn.request_handlers.measurement_texts import MeasurementTexts, find_usual_unit

MAX_WEEKS = 26


async def answer_question(
    tx: Transaction,
    person: PersonId,
    question: MeasurementQuestion,
    texts: MeasurementTexts,
    *,
    used: list[Measurement],
) -> str | None:
    """Answer a question about a person's numbers; None if none of that kind was ever kept.

    Adds the values on which the answer rests to ``used``.
    """
    if question.action == "list":
        return await list_kept(tx, person, texts, used)
    latest = await find_latest(tx, person, question.name)
    if latest is None:
        return tell_none(question, texts)
    used.append(latest)
    if question.action == "latest":
        return await tell_latest(tx, person, latest, texts, used)
    days = question.days
    measured = await list_measurements(tx, person, question.name, first=days.first, last=days.last)
    used.extend(measured)
    measure = get_measure(question.name, latest.unit)
    answer = MeasurementAnswer(
        texts=texts,
        measure=measure,
        unit=find_usual_unit(measure, [latest]),
        measured=measured,
        days=days,
    )
    if question.action == "correlate":
        others = await list_measurements(
            tx, person, question.other, first=days.first, last=days.last
        )
        used.extend(others)
        return answer.tell_together(question.other, others)
    if question.action == "compare" and question.other_days is not None:
        span = question.other_days
        others = await list_measurements(
            tx, person, question.name, first=span.first, last=span.last
        )
        used.extend(others)
        return answer.tell_comparison(others, span)
    if question.action == "weekly":
        return answer.tell_weeks()
    return answer.tell_trend() if question.action == "trend" else answer.tell_range()


def tell_none(question: MeasurementQuestion, texts: MeasurementTexts) -> str | None:
    """Tell that nothing is kept of what a reckoning is asked about; None: memory may know."""
    if question.action == "latest":
        return None
    return texts.say("none_ever", name=texts.name(question.name))


async def list_kept(
    tx: Transaction, person: PersonId, texts: MeasurementTexts, used: list[Measurement]
) -> str:
    """Tell what numbers are kept, the newest first; it rests on the newest of each."""
    kept = await list_kept_measures(tx, person)
    newest = [await find_latest(tx, person, name) for name, _, _ in kept]
    used.extend(each for each in newest if each is not None)
    lines = [
        texts.say("list_line", name=texts.name(name), count=f"{count}", day=texts.day(day))
        for name, count, day in kept
    ]
    return "\n".join([texts.say("list"), *lines]) if lines else texts.say("list_empty")


async def tell_latest(
    tx: Transaction,
    person: PersonId,
    latest: Measurement,
    texts: MeasurementTexts,
    used: list[Measurement],
) -> str:
    """Tell the newest value and the one before it."""
    sentences = [
        texts.say(
            "latest",
            name=texts.name(latest.name),
            value=texts.told(latest),
            day=texts.day(latest.day),
        )
    ]
    earlier = await find_latest(tx, person, latest.name, before=latest.day)
    if earlier is not None:
        used.append(earlier)
        sentences.append(
            texts.say("latest_change", day=texts.day(earlier.day), value=texts.told(earlier))
        )
    return " ".join(sentences)


@dataclass(frozen=True, kw_only=True)
class MeasurementAnswer:
    """The answer to a question about one measure over some days."""

    texts: MeasurementTexts
    measure: Measure
    unit: str  # in which the person tells it
    measured: Sequence[Measurement]
    days: DayRange

    @property
    def name(self) -> str:
        """What the measure is called."""
        return self.texts.name(self.measure.name)

    def list_days(self) -> list[DayValue]:
        """Return the values by day."""
        return list_days(self.measure, self.measured)

    def format(self, value: float) -> str:
        """Format a value in the person's unit."""
        return self.texts.compared(self.measure, value, self.unit)

    def format_with_second(self, value: float, day: date | None = None) -> str:
        """Format a value; of a pair also the mean of the other, on one day or on all."""
        seconds = [
            each.second_value
            for each in self.measured
            if each.second_value is not None and day in {None, each.day}
        ]
        if not (self.measure.is_pair and seconds):
            return self.format(value)
        pair = (value, sum(seconds) / len(seconds))
        return f"{'/'.join(self.texts.number(each, decimals=0) for each in pair)} {self.unit}"

    def format_span(self, days: DayRange, values: Sequence[DayValue]) -> dict[str, str]:
        """Return the first and the last day of a span; of an open one those with values."""
        first = values[0].day if values and days.first.year <= 1 else days.first
        last = values[-1].day if values and days.last.year >= 9999 else days.last
        return {"first": self.texts.day(first), "last": self.texts.day(last)}

    def tell_none(self, days: DayRange) -> str:
        """Tell that there is no value in a span."""
        return self.texts.say("none", name=self.name, **self.format_span(days, ()))

    def tell_range(self) -> str:
        """Tell what the values of a span have in common."""
        values, texts = self.list_days(), self.texts
        summary = summarize(values)
        if summary is None:
            return self.tell_none(self.days)
        if summary.count == 1:
            told = [each for each in self.measured if each.day == values[0].day]
            value = texts.told(told[-1]) if len(told) == 1 else self.format(values[0].value)
            return texts.say("range_one", name=self.name, day=texts.day(values[0].day), value=value)
        sentences = [
            texts.say(
                "range",
                name=self.name,
                **self.format_span(self.days, values),
                count=f"{summary.count}",
                mean=self.format_with_second(summary.mean),
                least=self.format_with_second(summary.least.value, summary.least.day),
                least_day=texts.day(summary.least.day),
                most=self.format_with_second(summary.most.value, summary.most.day),
                most_day=texts.day(summary.most.day),
            ),
            texts.say("range_sum", total=self.format(summary.total))
            if self.measure.is_summed
            else texts.say(
                "from_to",
                start=self.format_with_second(summary.start.value, summary.start.day),
                start_day=texts.day(summary.start.day),
                end=self.format_with_second(summary.end.value, summary.end.day),
                end_day=texts.day(summary.end.day),
            ),
        ]
        return " ".join(sentences)

    def tell_weeks(self) -> str:
        """Tell the mean of each week."""
        weeks = group_by_week(self.list_days())[-MAX_WEEKS:]
        if not weeks:
            return self.tell_none(self.days)
        lines = [
            self.texts.say(
                "week",
                day=self.texts.day(monday),
                mean=self.format(summary.mean),
                count=f"{summary.count}",
            )
            for monday, summary in weeks
        ]
        return "\n".join([self.texts.say("weekly", name=self.name), *lines])

    def tell_trend(self) -> str:
        """Tell by how much the values change a week."""
        values, texts = self.list_days(), self.texts
        summary, slope = summarize(values), compute_weekly_slope(values)
        if summary is None:
            return self.tell_none(self.days)
        if slope is None:
            ends = self.format_span(self.days, values)
            few = texts.say("trend_few", count=f"{summary.count}", **ends)
            return f"{few} {self.tell_range()}"
        change = texts.difference(self.measure, slope, self.unit)
        is_flat = change == texts.say("compare_same")
        return texts.say(
            "trend_flat" if is_flat else "trend",
            **self.format_span(self.days, values),
            name=self.name,
            slope=change,
            count=f"{summary.count}",
            mean=self.format(summary.mean),
        ) + ("" if is_flat else f" {self.tell_ends(values)}")

    def tell_ends(self, values: Sequence[DayValue]) -> str:
        """Tell the first and the last value."""
        return self.texts.say(
            "from_to",
            start=self.format(values[0].value),
            start_day=self.texts.day(values[0].day),
            end=self.format(values[-1].value),
            end_day=self.texts.day(values[-1].day),
        )

    def tell_comparison(self, measured: Sequence[Measurement], span: DayRange) -> str:
        """Tell how the values of one span differ from those of another."""
        values, others = self.list_days(), list_days(self.measure, measured)
        ends, other_ends = self.format_span(self.days, values), self.format_span(span, others)
        named = {**ends, **{f"other_{key}": value for key, value in other_ends.items()}}
        named |= {
            "name": self.name,
            "count": f"{len(values)}",
            "other_count": f"{len(others)}",
        }
        found = compare(values, others)
        if found is None:
            return self.texts.say("compare_lacking", **named)
        return self.texts.say("compare", **named, **self.format_means(found))

    def format_means(self, found: Comparison) -> dict[str, str]:
        """Return two means and their difference."""
        return {
            "mean": self.format(found.mean),
            "other_mean": self.format(found.other_mean),
            "change": self.texts.difference(self.measure, found.difference, self.unit),
        }

    def tell_together(self, other: str, measured: Sequence[Measurement]) -> str:
        """Tell how a measure goes with another, with a caution where that says little."""
        other_measure = get_measure(other, measured[-1].unit if measured else "")
        values, others = self.list_days(), list_days(other_measure, measured)
        if others and not other_measure.second_unit:
            found = correlate(values, others)
            if found is not None:
                return self.tell_correlation(other, *found)
        with_it, without = split_by_days(values, others)
        named = {"name": self.name, "other": self.texts.name(other)}
        counts = {"count": f"{len(with_it)}", "other_count": f"{len(without)}"}
        compared = compare(with_it, without)
        if compared is None:
            return self.texts.say("when_lacking", **named, **counts)
        text = self.texts.say("when", **named, **counts, **self.format_means(compared))
        smaller = min(compared.count, compared.other_count)
        return f"{text} {self.tell_caution(smaller)}"

    def tell_correlation(self, other: str, count: int, r: float) -> str:
        """Tell whether two measures rise and fall together."""
        texts = self.texts
        kind = "none" if abs(r) < WEAK else "up" if r > 0 else "down"
        text = texts.say(
            "correlation",
            name=self.name,
            other=texts.name(other),
            count=f"{count}",
            how=texts.say(f"correlation_{kind}"),
            r=texts.number(r),
        )
        return f"{text} {self.tell_caution(count)}"

    def tell_caution(self, count: int) -> str:
        """Tell how little a comparison says."""
        texts = self.texts
        few = [texts.say("caution", count=f"{count}")] if count < FEW_DAYS else []
        return " ".join([*few, texts.say("caution_cause")])
