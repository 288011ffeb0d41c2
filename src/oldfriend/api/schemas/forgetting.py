"""Schemas for deletion requests, previews and reports."""

from pydantic import Field

from oldfriend.api.requests import RequestModel as ApiModel
from oldfriend.memory.deletion.audit_log import DeletionKind


class ForgetWish(ApiModel):
    """What is to be forgotten: all of it that is named."""

    ids: list[str] = Field(
        default=[],
        max_length=500,
        description="Of messages, memories, names, summaries; whole, or how they begin or end.",
        examples=[["0019f1f3c4d2"]],
    )
    about: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Somebody or something, with everything that tells of it.",
        examples=["Ana"],
    )
    since: str | None = Field(
        default=None,
        max_length=40,
        description="What was said from this day or time …",
        examples=["2026-05-01"],
    )
    until: str | None = Field(
        default=None,
        max_length=40,
        description="… to the end of this day, or to this time.",
        examples=["2026-05-03"],
    )
    batch: int | None = Field(
        default=None, ge=1, le=1 << 31, alias="import", description="The number of an import."
    )
    everything: bool = Field(default=False, description="All of it.")
    orphan: bool = Field(
        default=False, description="Keep the beliefs that rested on it; they are not forgotten."
    )


class GoingShape(ApiModel):
    """A message that goes, loses its words, or stays although it says nearly the same."""

    id: str
    role: str
    speaker: str
    text: str
    at: str


class BelievedShape(ApiModel):
    """A belief that goes, or stays."""

    id: str
    kind: str
    text: str
    is_learned_anew: bool = Field(description="From words that stay.")
    words_left: int | None = Field(description="What else speaks for it, where some of that goes.")


class CallsShape(ApiModel):
    """How many calls of a model had it."""

    model: str = Field(examples=["anthropic:claude-sonnet"])
    calls: int


class ForgetForeseen(ApiModel):
    """What would be forgotten; nothing is done yet. Its ETag is asked for when it is done."""

    etag: str = Field(description="To be sent as If-Match: then exactly this is done.")
    counts: dict[str, int] = Field(description="Of all that goes or is rewritten.")
    messages: list[GoingShape] = Field(description="Go; the first 200 of them.")
    beliefs: list[BelievedShape] = Field(description="Go; the first 200 of them.")
    keep: list[BelievedShape] = Field(description="Stay, with less evidence; the first 200.")
    orphans: list[BelievedShape] = Field(description="Are not forgotten; the first 200.")
    replies: list[GoingShape] = Field(description="Lose their words; the first 200 of them.")
    near: list[GoingShape] = Field(description="Stay, and say nearly the same; the first 200.")
    read_from: list[GoingShape] = Field(
        description="Stay, though what goes was read from them; the first 200."
    )
    beside: list[BelievedShape] = Field(
        description="Stay, and were read from the very same words; the first 200."
    )
    namesakes: list[str] = Field(description="Parts of the name that are said elsewhere, and stay.")
    titles: list[str] = Field(description="Chats and imports that lose their names.")
    answers: int = Field(description="Replies that stood on it.")
    calls: list[CallsShape] = Field(description="Models that had it, and how often.")
    backups: list[str] = Field(description="Copies of the database that are deleted.")


class LeftShape(ApiModel):
    """Where something still stands."""

    place: str
    what: str
    count: int


class Forgotten(ApiModel):
    """What was forgotten, without a word of it."""

    digest: str = Field(description="By which this report is known again.")
    done_at: str
    counts: dict[str, int]
    is_proved: bool = Field(description="It was looked for everywhere in reach, and is nowhere.")
    left: list[LeftShape]
    near: list[str] = Field(description="Ids of messages that stay and say nearly the same.")
    read_from: list[str] = Field(
        description="Ids of messages that stay, though what went was read from them."
    )
    orphans: list[str] = Field(description="Ids of beliefs that were not forgotten.")
    files: int = Field(description="That were looked through; 0: a server has them.")
    log_is_empty: bool
    is_clean: bool = Field(
        description="No: files of ours are still to be cleaned; that is tried again by itself."
    )
    was_in_group: bool = Field(description="Some of it was said in a group, which keeps it.")
    stuck: list[str] = Field(description="Copies that could not be deleted: delete them yourself.")
    remarks: list[str] = Field(description="What this cannot take back, in sentences.")


class ForgottenBefore(ApiModel):
    """That something was forgotten, and how much."""

    digest: str
    done_at: str
    what: DeletionKind
    counts: dict[str, int]
    proved_at: str | None = Field(
        description="When it was looked for everywhere in reach, and was nowhere; null: it was "
        "not yet, or before this was noted."
    )


class ForgottenList(ApiModel):
    """What was forgotten before, the latest first."""

    items: list[ForgottenBefore]
