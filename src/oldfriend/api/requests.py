"""Requests: what clients send, as Pydantic models that refuse what they do not name."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from oldfriend.domain.messages import MAX_TEXT_CHARS
from oldfriend.llm.providers import ApiKind
from oldfriend.memory.core_blocks import MAX_BLOCK_LENGTH
from oldfriend.memory.people import MAX_COMPANION_NAME_LENGTH
from oldfriend.memory.web_sessions import Scope

MAX_KEY_CHARS: Final = 200
Verdict = Literal["pin", "unpin", "confirm", "reject", "unreject"]
Value = bool | int | float | str | list[str] | None


class RequestModel(BaseModel):
    """Values that do not change, and nothing beside what is named."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SignIn(RequestModel):
    """How a browser comes to a session."""

    link: str = Field(
        max_length=200,
        description="What stands behind # in the one-time link.",
        examples=["d1YQm6vJ0cM2oTj4sX8bEo5w3rUu7nKk9aZhLqFtGyI"],
    )
    person: str | None = Field(
        default=None,
        max_length=64,
        description="Where it was asked whether to go on (409): "
        "`person` of that answer, whose page it opens …",
    )
    instead_of: str | None = Field(
        default=None, max_length=64, description="… and its `instead_of`, whose session ends."
    )


class Answered(RequestModel):
    """What the device has answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "credential": {
                        "id": "qzY0",
                        "rawId": "qzY0",
                        "type": "public-key",
                        "response": {},
                    },
                }
            ]
        }
    )
    credential: dict[str, JsonValue] = Field(description="As WebAuthn's JSON forms have it.")


class PasskeyMade(Answered):
    """A passkey that a device has made."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "credential": {
                        "id": "qzY0",
                        "rawId": "qzY0",
                        "type": "public-key",
                        "response": {},
                    },
                    "name": "My laptop",
                }
            ]
        }
    )
    name: str = Field(
        default="",
        max_length=80,
        description="How it is called in the list; else as the browser is.",
    )


class TicketWanted(RequestModel):
    """What a ticket is to be for."""

    purpose: Literal["export", "sound"] = Field(examples=["export"])


class PersonEdited(RequestModel):
    """What somebody changes about themselves; what is left out stays."""

    name: str | None = Field(default=None, max_length=200, examples=["Ana"])
    zone: str | None = Field(default=None, max_length=100, examples=["Europe/Lisbon"])


class TokenWanted(RequestModel):
    """A token that is to be made."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "backup script", "scope": "read", "days": 90}]}
    )
    name: str = Field(min_length=1, max_length=80, description="What it is for.")
    scope: Scope = Field(
        description="read: look; write: also talk and set right; admin: also everything about "
        "signing in and, for the owner, about this install."
    )
    days: int = Field(default=90, ge=1, le=366, description="How long it is good.")


class Guest(RequestModel):
    """Who is to be invited."""

    name: str = Field(min_length=1, max_length=200, examples=["Ana"])


class Said(RequestModel):
    """Something to say."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4 * MAX_TEXT_CHARS,
            examples=["My sister Ana was born in Porto."],
        ),
    ]
    zone: str | None = Field(
        default=None,
        max_length=100,
        description="Where it is said: an IANA time zone.",
        examples=["Europe/Lisbon"],
    )


class Edited(RequestModel):
    """Other words for something that was said."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4 * MAX_TEXT_CHARS,
            examples=["My sister Ana was born in Braga."],
        ),
    ]


class Judged(RequestModel):
    """What the person thinks of a belief."""

    verdict: Verdict = Field(examples=["confirm"])


class Corrected(RequestModel):
    """A belief put right."""

    text: Annotated[
        str | None, Field(min_length=1, max_length=4000, examples=["Ana was born in Braga"])
    ] = None
    value: str | None = Field(default=None, max_length=1000)
    since: str | None = Field(
        default=None,
        max_length=40,
        examples=["2026-03-14"],
        description="It was right, and has changed on this day; without: it was a mistake.",
    )
    due: str | None = Field(
        default=None,
        max_length=40,
        examples=["2026-03-14", "none"],
        description="When a promise or an expectation is due: a day, a time, or “none”.",
    )

    @model_validator(mode="after")
    def check_not_empty(self) -> "Corrected":
        """Reject a correction that changes nothing."""
        if self.text is None and (self.due is None or self.value or self.since):
            raise ValueError("say the text that is right, or when it is due")
        return self


class Other(RequestModel):
    """The second of two."""

    other: Annotated[
        str, Field(min_length=4, max_length=64, examples=["018e4e4f-0bb8-7000-a1db-edf045bb7786"])
    ]


class ForgetWish(RequestModel):
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


class Wanted(RequestModel):
    """That a file is to be brought in, and how it is to be read."""

    me: str | None = Field(
        default=None,
        max_length=200,
        examples=["Nora"],
        description="The speaker who is the person; None: nobody, or as the file tells.",
    )
    zone: str | None = Field(
        default=None,
        max_length=100,
        examples=["Europe/Lisbon"],
        description="Of times that name none; None: the person's.",
    )


class CompanionNamed(RequestModel):
    """What the companion is called, by everybody here."""

    name: str = Field(max_length=4 * MAX_COMPANION_NAME_LENGTH, examples=["Mira"])


class BlockWritten(RequestModel):
    """What a block is to say; empty words empty it."""

    text: str = Field(
        max_length=4 * MAX_BLOCK_LENGTH, examples=["Warm, exact, and never in a hurry."]
    )


class Decision(RequestModel):
    """What a person decides about a suggestion."""

    verdict: Literal["accept", "decline"]
    words: str | None = Field(
        default=None,
        max_length=4 * MAX_BLOCK_LENGTH,
        description="To accept it in other words.",
        examples=["You like short answers in the evening."],
    )


class Material(RequestModel):
    """Words from which blocks can be drafted; nothing of them is kept."""

    text: str = Field(
        min_length=1, max_length=1_000_000, examples=["An old lighthouse keeper, in no hurry …"]
    )
    with_model: bool = Field(default=False, description="Have the small model read it.")


class Chosen(RequestModel):
    """What is to be chosen; null: as usual."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"values": {"budget.background_per_day": 0.5}}]}
    )
    values: dict[str, Value] = Field(min_length=1, max_length=50)


class ModelWanted(RequestModel):
    """A model that is to be tried, or chosen."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"provider": "ollama", "name": "llama3.2"}]}
    )
    provider: str = Field(max_length=60, description="Such as ollama; `local` for this program.")
    name: str = Field(default="", max_length=300, description="Of the model, or of its folder.")
    base_url: str | None = Field(default=None, max_length=500)
    kind: ApiKind | None = Field(
        default=None, description="Which interface it has, where not usual."
    )
    key: str | None = Field(default=None, max_length=4096, description="Kept, and never shown.")
    voice: str | None = Field(default=None, max_length=100, description="Of who speaks.")


class BotToken(RequestModel):
    """What @BotFather gives."""

    token: str = Field(
        min_length=1,
        max_length=200,
        description="Checked, kept, and never shown.",
        examples=["123456789:AAExampleExampleExampleExampleExample"],
    )
