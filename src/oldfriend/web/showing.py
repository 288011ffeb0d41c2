"""How do the values of the house become the forms of the API? Purely."""

from collections.abc import Mapping, Sequence

from oldfriend.app.believing.history import Step
from oldfriend.app.believing.looking import Belief
from oldfriend.app.believing.showing import by_whom
from oldfriend.app.showing import INTENTS, Explained, Thing, moment, receipt_as_text
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Believed, Change, Entity, Evidence, Memory, Mood, Summary
from oldfriend.domain.messages import Message
from oldfriend.ledger.spending import DOLLAR
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.memory.rows import kind_of
from oldfriend.memory.watching import Position
from oldfriend.turn.explaining import reasons_in_words
from oldfriend.web.problems import Refused
from oldfriend.web.shapes import (
    BeliefShape,
    Decided,
    Ground,
    MessageShape,
    MoodShape,
    ReceiptShape,
    StepShape,
    WordsShape,
)


def message_shape(message: Message) -> MessageShape:
    """A message."""
    return MessageShape(
        id=message.id, version=message.version, role=message.role, speaker=message.speaker,
        trust=message.trust, channel=message.channel, session=message.session,
        turn=message.turn, text=message.text, at=moment(message),
    )  # fmt: skip


def words_shape(words: Evidence) -> WordsShape:
    """Words for or against a belief."""
    return WordsShape(
        message=words.message, quote=words.quote, speaker=words.speaker, trust=words.trust,
        supports=words.stance == "supports", at=in_zone(words.said_at, words.zone),
    )  # fmt: skip


def belief_shape(belief: Belief, *, zone: str) -> BeliefShape:
    """Something believed."""
    what, standing = belief.what, belief.standing
    decided = None if isinstance(what, Summary) else what
    common = BeliefShape(
        id=what.id, kind=kind_of(what), text=told(what),
        status=None if decided is None else decided.status,
        is_pinned=decided is not None and decided.is_pinned,
        is_by_person=decided is not None and decided.is_by_person,
        learned_at=in_zone(what.learned_at, zone), ended_at=at_or_none(what.ended_at, zone),
        confidence=None if standing is None else standing.confidence,
        times_seen=None if standing is None else standing.times_seen,
        words=[words_shape(each) for each in belief.words],
    )  # fmt: skip
    return common.model_copy(update=fields_of(what, zone)) if isinstance(what, Memory) else common


def fields_of(memory: Memory, zone: str) -> dict[str, str | int | None]:
    """What only a memory has."""
    return {
        "key": memory.key or None, "value": memory.value or None, "impact": memory.impact,
        "happened_at": at_or_none(memory.happened_at, zone),
        "due_at": at_or_none(memory.due_at, zone),
    }  # fmt: skip


def told(what: Believed) -> str:
    """What it says, to read."""
    if not isinstance(what, Entity):
        return what.text
    return f"{what.name}: {what.description}" if what.description else what.name


def decided_shape(change: Change, words: Sequence[Evidence], *, zone: str) -> Decided:
    """A decision, with the thing as it was decided."""
    return Decided(
        seq=change.seq, op=change.op, by=by_whom(change.author),
        at=in_zone(change.decided_at, zone),
        belief=belief_shape(Belief(what=change.after, words=tuple(words)), zone=zone),
    )  # fmt: skip


def step_shape(step: Step, *, zone: str) -> StepShape:
    """A decision in a history."""
    return StepShape(
        op=step.change.op, by=by_whom(step.change.author),
        at=in_zone(step.change.decided_at, zone), until=at_or_none(step.until, zone),
        text=told(step.change.after), because=[message_shape(each) for each in step.because],
    )  # fmt: skip


def mood_shape(mood: Mood | None) -> MoodShape | None:
    """A mood; None: neutral."""
    if mood is None:
        return None
    return MoodShape(phrase=mood.phrase, energy=mood.energy, signal=mood.signal)


def receipt_shape(told_of: Explained) -> ReceiptShape:
    """Why a reply was given."""
    details = told_of.receipt.details
    grounds = [
        (item.used, ground_shape(item, thing, told_of.because.get(ObjectId(item.object), ())))
        for item, thing in told_of.stood_on
    ]
    model = details.get("model")
    spent: Mapping[str, JsonValue] = model if isinstance(model, dict) else {}
    return ReceiptShape(
        id=told_of.receipt.id, asked=message_shape(told_of.asked),
        reply=message_shape(told_of.reply),
        intent=INTENTS.get(str(details.get("intent")), "It needed nothing from memory."),
        stood_on=[ground for used, ground in grounds if used],
        left_out=[ground for used, ground in grounds if not used],
        only_shown=[message_shape(each) for each in told_of.only_shown],
        model=text_or_none(spent.get("name")), prompt=text_or_none(details.get("prompt")),
        tokens_in=whole_or_none(spent.get("tokens_in")),
        tokens_out=whole_or_none(spent.get("tokens_out")),
        cost_usd=None if (cost := whole_or_none(spent.get("cost"))) is None else cost / DOLLAR,
        answerable=answerable if isinstance(answerable := details.get("answerable"), float)
        else None,
        as_text=receipt_as_text(told_of),
    )  # fmt: skip


def ground_shape(item: ReceiptItem, thing: Thing, words: Sequence[Evidence]) -> Ground:
    """One thing that a reply stood on."""
    message = thing if isinstance(thing, Message) else None
    return Ground(
        kind=thing.kind if isinstance(thing, Memory) else item.kind, id=item.object,
        text=None if thing is None else thing.text,
        speaker=None if message is None else message.speaker,
        channel=None if message is None else message.channel,
        at=None if message is None else moment(message), score=round(item.score, 4),
        why=list(reasons_in_words(item.why)), words=[words_shape(each) for each in words],
    )  # fmt: skip


def position_text(position: Position) -> str:
    """How far somebody has looked, as an event's id."""
    return f"{position.said}.{position.decided}.{position.rewritten}"


def position_from(text: str) -> Position:
    """How far somebody has looked. Raises Refused."""
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isdigit() and len(part) < 18 for part in parts):
        raise Refused(422, "That cannot be read", "Last-Event-ID is none of ours. Leave it out.")
    said, decided, rewritten = map(int, parts)
    return Position(said=said, decided=decided, rewritten=rewritten)


def in_zone(at: Micros, zone: str) -> str:
    """A moment by the clocks of a zone."""
    return from_micros(at, zone).isoformat(timespec="seconds")


def at_or_none(at: Micros | None, zone: str) -> str | None:
    """A moment by the clocks of a zone, where there is one."""
    return None if at is None else in_zone(at, zone)


def text_or_none(value: JsonValue) -> str | None:
    """A text, where it is one."""
    return value if isinstance(value, str) else None


def whole_or_none(value: JsonValue) -> int | None:
    """A whole number, where it is one."""
    return value if isinstance(value, int) else None
