"""Who is signed in, and how are things? The forms for it."""

from pydantic import Field

from oldfriend.domain.memories import MoodSignal
from oldfriend.web.shapes.common import Shape


class SignIn(Shape):
    """How a browser comes to a session."""

    link: str = Field(max_length=200, description="What stands behind # in the one-time link.")


class Signed(Shape):
    """Who this browser is signed in as."""

    name: str = Field(description="The person's name.", examples=["owner"])
    is_owner: bool = Field(description="Whether this install is theirs.")
    language: str | None = Field(description="The language they last spoke, such as en.")
    token: str = Field(description="To be sent as X-CSRF-Token with whatever changes something.")
    expires_at: str = Field(description="Until when this browser is signed in.")


class MoodShape(Shape):
    """How the companion feels just now."""

    phrase: str = Field(examples=["calm and glad to hear from you"])
    energy: int = Field(ge=0, le=10)
    signal: MoodSignal | None = Field(description="How the person seemed.")


class State(Shape):
    """How things are now."""

    companion: str = Field(examples=["Oldfriend"])
    mood: MoodShape | None = Field(description="None: neutral.")
    model: str | None = Field(description="Which model answers; None: it is offline.")
    troubles: list[str] = Field(description="Why not all of its work is done; empty: all is well.")
    version: str
