"""Measurement changes: corrects a number that was told, or takes it out, as a message asks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, HOUR
from oldfriend.domain.ids import MessageId, new_id
from oldfriend.domain.messages import Message
from oldfriend.goals.goal_desk import UNMEASURED
from oldfriend.goals.goal_store import add_progress, find_goal, list_progress, remove_progress
from oldfriend.goals.goal_totals import find_total
from oldfriend.measurements.lexicon import list_lexicons
from oldfriend.measurements.measurement_corrections import (
    MeasurementCorrection,
    find_numbers,
    read_correction,
)
from oldfriend.measurements.measurement_reader import Moment, read_message
from oldfriend.measurements.measurement_store import (
    Measurement,
    delete_measurement,
    find_latest,
    list_measurements,
    list_told_lately,
    save_measurements,
)
from oldfriend.measurements.measures import Measure, get_measure, is_plausible, to_compared
from oldfriend.measurements.quantities import Quantity
from oldfriend.measurements.units import UNITS
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.turn.request_handlers.measurement_texts import (
    MeasurementTexts,
    load_measurement_texts,
)
from oldfriend.turn.request_handlers.request_kinds import find_request
from oldfriend.turn.store_change import ChangeScope

CORRECTED_WITHIN: Final = 7 * DAY
"""A number that was told this lately may be corrected by its value."""
JUST_NOW: Final = HOUR
MAX_EARLIER: Final = 40
"""Messages before a correction among which the one that it corrected is looked for."""
TOLERANCE: Final = 1e-6
FAR: Final = 0.3
"""By how much two weights of a person hardly differ, as a share of the earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMeasurements:
    """The change that takes numbers out, and keeps others in their place."""

    gone: tuple[Measurement, ...]
    measured: tuple[Measurement, ...] = ()

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Make it, and plan a look; what was counted of them for goals follows."""
        for each in self.gone:
            await delete_measurement(tx, scope.person.id, each.id, now=scope.now)
            new = next((one for one in self.measured if one.name == each.name), None)
            await follow_steps(tx, each, new)
        await save_measurements(tx, scope.person.id, self.measured, now=scope.now)
        await plan_next_look(tx, scope.person.id, now=scope.now)


async def follow_steps(tx: Transaction, kept: Measurement, new: Measurement | None) -> None:
    """Have what the message of a number counted for goals be what its right value is.

    Without a right value it counts no more.
    """
    steps = await list_progress(tx, kept.person)
    for step in [each for each in steps if each.message is not None]:
        if step.message != kept.message:
            continue
        goal = await find_goal(tx, kept.person, step.goal)
        total = None if goal is None else find_total(goal)
        amount = 0 if new is None else step.amount
        if total is not None and step.amount != UNMEASURED:
            amount = step.amount - total.to_amount(kept.value, kept.unit)
            amount += 0 if new is None else total.to_amount(new.value, new.unit)
        await remove_progress(tx, step)
        if amount > 0:
            source = kept if new is None else new
            moved = replace(
                step, amount=amount, message=source.message, message_seq=source.message_seq
            )
            await add_progress(tx, moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementChange:
    """What was decided, and how it is told."""

    text: str
    change: ChangeMeasurements
    changed: tuple[Measurement, ...]  # as they were


async def decide_correction(
    tx: Transaction,
    message: Message,
    moment: Moment,
    asked: MeasurementCorrection,
    texts: MeasurementTexts,
) -> MeasurementChange | None:
    """Decide what a correction changes; None if it is about no number that is kept."""
    meant = await find_meant(tx, message, moment, asked)
    if asked.right is None:
        is_undo = asked.wrong is None and asked.day is None and not asked.names
        return await undo_last(tx, message, meant, texts, is_undo=is_undo) if meant else None
    fitting = [each for each in meant if fits(each, asked.right)]
    if len(fitting) != 1 and asked.wrong is None:
        return None
    if not fitting:
        return None
    if asked.wrong is None and await is_doubtful(tx, message, fitting[0], asked.right):
        return ask_weight(fitting[0], asked.right, texts)
    return correct(fitting[0], asked.right, message, moment, texts)


async def is_doubtful(
    tx: Transaction, message: Message, kept: Measurement, right: Quantity
) -> bool:
    """Whether a right weight may be that of something else, of which was spoken just before.

    So it is, too, if it is far from the weight before the one it would correct, which is not.
    """
    measure = get_measure(kept.name, kept.unit)
    if kept.name != "weight":
        return False
    last = await find_last_message(tx, message)
    if last is not None and last.id != kept.message and tells_amount(last, measure):
        is_fix = is_correction(last.text, Moment(at=last.at, zone=last.zone), last.language)
        if not is_fix:
            return True
    earlier = await find_latest(tx, message.person, kept.name, before=kept.day)
    if earlier is None:
        return False
    before = to_compared(measure, earlier.value, earlier.unit)
    was = to_compared(measure, kept.value, kept.unit)
    new = to_compared(measure, right.value, right.unit or kept.unit)
    if before is None or was is None or new is None:
        return False
    return abs(was - before) <= FAR * before < abs(new - before)


def tells_amount(message: Message, measure: Measure) -> bool:
    """Whether a message tells an amount of what a measure measures, whoever's it is."""
    return any(
        each.unit is not None
        and each.unit in UNITS
        and UNITS[each.unit].dimension == measure.dimension
        for lexicon in list_lexicons(message.language)
        for each in find_numbers(message.text, lexicon)
    )


def ask_weight(kept: Measurement, right: Quantity, texts: MeasurementTexts) -> MeasurementChange:
    """Ask whether a number is the person's weight; nothing is changed."""
    unit = right.unit or kept.unit
    value = texts.value(get_measure(kept.name, kept.unit), right.value, unit)
    asked = texts.say("ask_weight_told", value=value)
    return MeasurementChange(text=asked, change=ChangeMeasurements(gone=()), changed=())


async def undo_last(
    tx: Transaction,
    message: Message,
    meant: Sequence[Measurement],
    texts: MeasurementTexts,
    *,
    is_undo: bool,
) -> MeasurementChange:
    """Take numbers out; where one was only corrected, the value before it comes back."""
    before = await find_corrected(tx, message, meant[0]) if is_undo and len(meant) == 1 else None
    return take_out(meant, texts) if before is None else put_in_place(meant[0], before, texts)


async def find_corrected(
    tx: Transaction, message: Message, kept: Measurement
) -> Measurement | None:
    """Return the number that the last message corrected, as an earlier message told it."""
    told = await list_recent_messages(
        tx, message.person, message.chat, limit=MAX_EARLIER, before=message.seq, role="person"
    )
    last, earlier = told[-1:], told[:-1]
    moments = {each.id: Moment(at=each.at, zone=each.zone) for each in told}
    if not any(is_correction(each.text, moments[each.id], each.language) for each in last):
        return None
    for each in reversed(earlier):
        for lexicon in list_lexicons(each.language):
            read = read_message(each.text, moments[each.id], lexicon)
            for one in read.measured if read is not None else ():
                if (one.measure.name, one.day) == (kept.name, kept.day):
                    return replace(
                        kept,
                        id=new_id(message.at),
                        value=one.value,
                        unit=one.unit or kept.unit,
                        second_value=one.second_value,
                        message=each.id,
                        message_seq=each.seq,
                    )
    return None


async def build_likely_correction(
    tx: Transaction,
    message: Message,
    moment: Moment,
    told: Sequence[Quantity],
    *,
    names: Sequence[str],
    is_alone: bool,
) -> MeasurementCorrection | None:
    """Return the correction that one number is, or two of which one was just told.

    ``names``: the measures that are named; ``is_alone``: nothing beside the number says what it
    is of.
    """
    plain = MeasurementCorrection(right=told[0], wrong=None, names=frozenset(), day=None)
    lately = await list_told_lately(tx, message.person, since=moment.at - CORRECTED_WITHIN)
    of_name = [each for each in lately if len(names) == 1 and each.name == names[0]]
    if of_name:
        wrong = [each for each in told if any(is_value(one, each) for one in of_name)]
        right = [each for each in told if each not in wrong]
        if len(right) != 1:
            return None
        named = replace(plain, right=right[0], names=frozenset(names))
        if wrong:
            return replace(named, wrong=wrong[0])
        return replace(named, day=of_name[0].day) if len(told) == 1 else None
    if len(told) == 1:
        return plain if is_alone else None
    kept = await find_meant(tx, message, moment, plain)
    wrong = [each for each in told if any(is_value(one, each) for one in kept)]
    right = [each for each in told if each not in wrong]
    if len(wrong) != 1 or len(right) != 1:
        return None
    return replace(plain, right=right[0], wrong=wrong[0])


async def find_meant(
    tx: Transaction, message: Message, moment: Moment, asked: MeasurementCorrection
) -> list[Measurement]:
    """Return the numbers that a correction may mean, the last told first.

    They are those of a day that it names, those of the wrong value, or those just told.
    """
    person = message.person
    lately = await list_told_lately(tx, person, since=moment.at - CORRECTED_WITHIN)
    named = [each for each in lately if not asked.names or each.name in asked.names]
    if asked.day is not None:
        of_day = [
            each
            for name in sorted(asked.names)
            for each in await list_measurements(tx, person, name, first=asked.day, last=asked.day)
        ]
        found = of_day or [each for each in named if each.day == asked.day]
    else:
        found = named
    if asked.wrong is not None:
        return [each for each in found if is_value(each, asked.wrong)][:1]
    if asked.day is not None and asked.names:
        return found
    if asked.names and asked.right is not None:
        return found[:1]  # the last of what it names, however long ago: "no, the weight was 70.4"
    last = await find_last_message(tx, message)
    return [each for each in found if last is not None and each.message == last.id]


async def decide_denial(
    tx: Transaction, message: Message, denied: MessageId, texts: MeasurementTexts
) -> MeasurementChange | None:
    """Take out the numbers of an earlier message that this one says are not so.

    "I didn't run 5 km" takes out the run, and leaves the weight that was told with it.
    """
    lately = await list_told_lately(tx, message.person, since=message.at - CORRECTED_WITHIN)
    numbers = [
        number
        for lexicon in list_lexicons(message.language)
        for number in find_numbers(message.text, lexicon)
        if number.unit is not None
    ]
    gone = [
        each
        for each in lately
        if each.message == denied and any(is_value(each, number) for number in numbers)
    ]
    return take_out(gone, texts, words_stay=False) if gone else None


async def find_last_message(tx: Transaction, message: Message) -> Message | None:
    """Return the person's message before this one, if it was said just now."""
    earlier = await list_recent_messages(
        tx, message.person, message.chat, limit=1, before=message.seq, role="person"
    )
    is_near = bool(earlier) and message.at - earlier[0].at <= JUST_NOW
    return earlier[0] if is_near else None


def is_value(kept: Measurement, told: Quantity) -> bool:
    """Tell whether a number is the one that is said to be wrong."""
    values = (told.value, told.other_value)
    if told.unit is None:
        return any(abs(kept.value - each) < TOLERANCE for each in values)
    measure = get_measure(kept.name, kept.unit)
    own = to_compared(measure, kept.value, kept.unit)
    others = [to_compared(measure, each, told.unit) for each in values]
    return own is not None and any(
        each is not None and abs(own - each) < TOLERANCE for each in others
    )


def fits(kept: Measurement, told: Quantity) -> bool:
    """Tell whether a number can be the right value of one that is kept."""
    measure = get_measure(kept.name, kept.unit)
    is_pair = told.pair_value is not None
    is_alike = is_pair == measure.is_pair or (measure.is_pair and kept.second_value is None)
    return is_alike and is_plausible(measure, told.value, told.unit or kept.unit)


def correct(
    kept: Measurement,
    told: Quantity,
    message: Message,
    moment: Moment,
    texts: MeasurementTexts,
) -> MeasurementChange:
    """Put the right value in the place of a wrong one."""
    new = replace(
        kept,
        id=new_id(moment.at),
        value=told.value,
        unit=told.unit or kept.unit,
        second_value=told.pair_value if told.pair_value is not None else kept.second_value,
        origin="told",
        message=message.id,
        message_seq=message.seq,
    )
    return put_in_place(kept, new, texts)


def put_in_place(kept: Measurement, new: Measurement, texts: MeasurementTexts) -> MeasurementChange:
    """Put one number in the place of another, and say both."""
    what = texts.say("what", name=texts.name(new.name), value=texts.told(new))
    told_text = texts.say("kept_again", what=what, day=texts.day(new.day), before=texts.told(kept))
    change = ChangeMeasurements(gone=(kept,), measured=(new,))
    return MeasurementChange(text=told_text, change=change, changed=(kept,))


def correct_in_place(
    message: Message, moment: Moment, kept: Sequence[Measurement], language: str
) -> MeasurementChange | None:
    """Correct the number that the words of a message told before it was edited: "oops, 70.4"."""
    for lexicon in list_lexicons(language):
        asked = read_correction(message.text, moment, lexicon)
        right = None if asked is None else asked.right
        fitting = [each for each in kept if right is not None and fits(each, right)]
        if right is not None and len(fitting) == 1:
            texts = load_measurement_texts(lexicon.language)
            return correct(fitting[0], right, message, moment, texts)
    return None


def is_correction(text: str, moment: Moment, language: str) -> bool:
    """Tell whether a message only corrects or takes back a number."""
    lexicons = list_lexicons(language)
    is_read = any(read_correction(text, moment, each) is not None for each in lexicons)
    return is_read or find_request(text, language, "number_fix") is not None


def take_out(
    kept: Sequence[Measurement], texts: MeasurementTexts, *, words_stay: bool = True
) -> MeasurementChange:
    """Take numbers out, and say that the words stay."""
    lines = [
        texts.say(
            "taken_out",
            what=texts.say("what", name=texts.name(each.name), value=texts.told(each)),
            day=texts.day(each.day),
        )
        for each in kept
    ]
    if words_stay and any(each.message is not None for each in kept):
        lines.append(texts.say("words_stay"))
    change = ChangeMeasurements(gone=tuple(kept))
    return MeasurementChange(text="\n".join(lines), change=change, changed=tuple(kept))
