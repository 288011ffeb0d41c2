"""How is what somebody says aloud to the page taken in? Heard first, then like any other words.

Unlike on a platform, whoever has spoken still looks on: what could not be heard is told at once,
and nothing of it is kept.
"""

from typing import Final

from oldfriend.app.accepting import Accepted, Line, Said, accept
from oldfriend.app.attaching import erase
from oldfriend.app.hearing import Heard, NotHeard, hear
from oldfriend.app.house import House
from oldfriend.app.recordings import HEARD, RECORDING
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.messages import MAX_TEXT

HERE: Final = "here"
"""In a message's details: no platform gives its recording out."""


async def say_aloud(
    house: House, line: Line, sound: bytes, *, mime: str, zone: str | None, key: str,
    to_answer: bool,
) -> Accepted | NotHeard | None:  # fmt: skip
    """Take in what is said in a recording, with the recording where these are kept.

    None: it was taken in before. Raises StoreError.
    """
    heard = await hear(house, line.person.id, sound, mime=mime)
    if isinstance(heard, NotHeard):
        return heard
    said = Said(
        text=heard.text[:MAX_TEXT], zone=zone, key=key, sound=heard.sound,
        details={RECORDING: HERE, HEARD: "yes"},
    )  # fmt: skip
    try:
        accepted = await accept(house, line, said, to_answer=to_answer)
    except OldfriendError:
        await let_go(house, heard)
        raise
    if accepted is None:
        await let_go(house, heard)
    return accepted


async def let_go(house: House, heard: Heard) -> None:
    """Delete a recording that belongs to no message."""
    if heard.sound is not None:
        await erase(house.settings, [heard.sound])
