"""Tools: what each does, how it has been used, and the trail of what was done for a person."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Self

from oldfriend.app.audit_trail import AuditKind, AuditRecord, AuditStatus
from oldfriend.beliefs.queries import BeliefDetails, get_belief
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import Message, Person
from oldfriend.memory.belief_views import get_kind
from oldfriend.memory.limitation_store import Limitation
from oldfriend.memory.message_log import get_message
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.presenters.belief_schemas import name_belief
from oldfriend.turn.tools.tool import CostClass, Importance, OutputField, ToolSpec
from oldfriend.turn.tools.tool_words import ToolWords
from oldfriend.usage.costs import MICRODOLLARS
from oldfriend.usage.program_questions import ProgramQuestion
from oldfriend.usage.tool_log import LoggedToolUse, ToolTotals

MILLISECOND_US = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFieldSchema(Schema):
    """A field of a tool's result."""

    name: str
    label: str = field(metadata=describe("What it is called for people."))
    type: Literal["text", "number", "time", "address"]
    importance: Importance

    @classmethod
    def from_domain(cls, output: OutputField, words: ToolWords) -> Self:
        """Present a field."""
        return cls(
            name=output.name,
            label=words.get_field_label(output.name),
            type=output.type,
            importance=output.importance,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema(Schema):
    """A tool that is switched on, with its use for the person."""

    name: str
    label: str = field(metadata=describe("What it is called for people."))
    cost: CostClass = field(
        metadata=describe(
            "`free`: on this machine. `network`: asks a server outside. `paid`: may cost money."
        )
    )
    asks_first: bool = field(metadata=describe("Whether the person is asked each time."))
    output: tuple[ToolFieldSchema, ...]
    uses: int
    done: int
    useful: int = field(metadata=describe("Uses to whose results a reply can be traced."))
    last_at: str | None

    @classmethod
    def from_domain(
        cls, tool_spec: ToolSpec, totals: ToolTotals | None, words: ToolWords, zone: str
    ) -> Self:
        """Present a tool."""
        return cls(
            name=tool_spec.name,
            label=words.get_label(tool_spec.name, tool_spec.label),
            cost=tool_spec.cost,
            asks_first=tool_spec.needs_confirmation,
            output=tuple(ToolFieldSchema.from_domain(each, words) for each in tool_spec.output),
            uses=0 if totals is None else totals.uses,
            done=0 if totals is None else totals.done,
            useful=0 if totals is None else totals.useful,
            last_at=None if totals is None else format_time(totals.last_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSourceSchema(Schema):
    """Where a result comes from."""

    provider: str
    url: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUseSchema(Schema):
    """A use of a tool, or why it was not used."""

    at: str
    name: str
    label: str
    status: str = field(metadata=describe(examples=["done"]))
    intent: str = field(metadata=describe("What the message wanted.", examples=["question"]))
    result: str = field(metadata=describe("Shortened."))
    sources: tuple[ToolSourceSchema, ...]
    was_useful: bool | None = field(metadata=describe("Null if it is not known."))
    ms: int
    turn: str

    @classmethod
    def from_domain(cls, use: LoggedToolUse, words: ToolWords, zone: str) -> Self:
        """Present a use."""
        return cls(
            at=format_time(use.made_at, zone),
            name=use.name,
            label=words.get_label(use.name),
            status=use.status,
            intent=use.intent,
            result=use.result,
            sources=tuple(
                ToolSourceSchema(provider=each.provider, url=each.url, title=each.title)
                for each in use.sources
            ),
            was_useful=use.was_useful,
            ms=round(use.latency_us / MILLISECOND_US),
            turn=use.turn,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitationSchema(Schema):
    """Something that the companion could not do for the person yet."""

    title: str
    description: str
    plan: str = field(metadata=describe("What would help; empty if nobody has said."))
    noted_at: str

    @classmethod
    def from_domain(cls, limitation: Limitation, zone: str) -> Self:
        """Present a limitation."""
        return cls(
            title=limitation.title,
            description=limitation.description,
            plan=limitation.plan,
            noted_at=format_time(limitation.changed_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOverviewSchema(Schema):
    """The tools, their last uses, and what none of them can do yet."""

    tools: tuple[ToolSchema, ...]
    recent: tuple[ToolUseSchema, ...] = field(metadata=describe("Newest first."))
    limitations: tuple[LimitationSchema, ...] = field(
        metadata=describe("Open ones, the one that was written last first.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecordSchema(Schema):
    """Something that was done for the person, or that was not allowed."""

    at: str
    kind: AuditKind
    what: str = field(
        metadata=describe(
            "The model, the tool, the kind of deletion or word, the format or channel."
        )
    )
    label: str = field(metadata=describe("What that is called for people."))
    why: str = field(metadata=describe("The purpose, or what the message wanted."))
    status: AuditStatus
    ending: str
    turn: str = field(metadata=describe("The turn that it belongs to; empty if to none."))
    dollars: float | None = field(metadata=describe("Null if it is not known, or nothing."))
    ms: int | None
    details: str
    asked: str = field(metadata=describe("The message that asked for it; empty if none did."))
    asked_by: str = field(
        metadata=describe("The channel that it came by, or the id of the program's token.")
    )
    question: str = field(
        metadata=describe("The id of what a program asked: `/audit/questions/…` opens it.")
    )
    given: int | None = field(
        metadata=describe("How many messages and beliefs a program was given; null otherwise.")
    )

    @classmethod
    def from_domain(cls, record: AuditRecord, zone: str, words: ToolWords) -> Self:
        """Present a record."""
        return cls(
            at=format_time(record.at, zone),
            kind=record.kind,
            what=record.what,
            label=words.get_label(record.what) if record.kind == "tool" else record.what,
            why=record.why,
            status=record.status,
            ending=record.ending,
            turn=record.turn,
            dollars=None if record.cost is None else record.cost / MICRODOLLARS,
            ms=None if record.latency_us is None else round(record.latency_us / MILLISECOND_US),
            details=record.details,
            asked=record.asked,
            asked_by=record.asked_by,
            question=record.question,
            given=record.given,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSchema(Schema):
    """A message or belief that a program was given."""

    id: str
    kind: str
    text: str
    channel: str = field(metadata=describe("Where it was said, of a belief last; empty: unknown."))
    at: str | None = field(metadata=describe("When it was said, of a belief last."))

    @classmethod
    def from_message(cls, message: Message) -> Self:
        """Present a message."""
        return cls(
            id=message.id,
            kind="message",
            text=message.text,
            channel=message.channel,
            at=format_time(message.at, message.zone),
        )

    @classmethod
    def from_belief(cls, belief: BeliefDetails) -> Self:
        """Present a belief."""
        last = belief.evidence[-1] if belief.evidence else None
        return cls(
            id=belief.content.id,
            kind=get_kind(belief.content),
            text=name_belief(belief.content),
            channel="" if last is None else last.channel or "",
            at=None if last is None else format_time(last.said_at, last.zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramQuestionSchema(Schema):
    """What a program asked of the memory, with what it was given."""

    id: str
    at: str
    program: str = field(metadata=describe("The name of its token, else what it calls itself."))
    tool: str = field(metadata=describe(examples=["recall"]))
    asked: str
    given: tuple[GivenSchema, ...] = field(metadata=describe("In the order given."))

    @classmethod
    async def load(cls, tx: Transaction, person: Person, question: ProgramQuestion) -> Self:
        """Present a question with what is still there of what the program was given."""
        given: list[GivenSchema] = []
        for each in question.given:
            with suppress(NotFound):
                given.append(await load_given(tx, person, each))
        return cls(
            id=question.id,
            at=format_time(question.asked_at, person.zone),
            program=question.program,
            tool=question.tool,
            asked=question.asked,
            given=tuple(given),
        )


async def load_given(tx: Transaction, person: Person, wanted: str) -> GivenSchema:
    """Present the message or belief with an id. Raises NotFound."""
    try:
        return GivenSchema.from_message(await get_message(tx, person.id, MessageId(wanted)))
    except NotFound:
        return GivenSchema.from_belief(await get_belief(tx, person.id, wanted))


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPageSchema(Schema):
    """Records of what was done, newest first."""

    items: tuple[AuditRecordSchema, ...]
    next: str | None = field(
        metadata=describe("The cursor of the next page; null if there is none.")
    )


def format_tool_row(tool: ToolSchema) -> tuple[str, ...]:
    """Return a tool as a row of a table."""
    asks = "asks first" if tool.asks_first else tool.cost
    return tool.label, tool.name, asks, str(tool.uses), str(tool.useful), tool.last_at or "-"


def format_audit_row(record: AuditRecordSchema) -> tuple[str, ...]:
    """Return a record as a row of a table."""
    cost = "-" if record.dollars is None else f"${record.dollars:.4f}"
    status = record.status if record.ending in {"done", "verified"} else record.ending
    return record.at, record.kind, record.what, record.why or "-", status, cost, record.details
