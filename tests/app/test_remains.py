"""Files that were handed over, or hold a talk: one's own are looked through, nobody else's."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from oldfriend.app.accepting import Line, open_line
from oldfriend.app.bringing import Porter
from oldfriend.app.forgetting import forget
from oldfriend.app.house import House
from oldfriend.app.parcels import Parcel
from oldfriend.app.safekeeping import put_into_safety
from oldfriend.channels.telegram.begun import Begun
from oldfriend.domain.ids import PersonId
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages
from tests.app.conftest import Say
from tests.conftest import SQLITE_ONLY
from tests.processes import line_of, python

SECRET = "my sister Ana is terribly allergic to hazelnuts"
WAITS = """
import asyncio, sys, time
from pathlib import Path
from oldfriend.channels.telegram.begun import Begun

began = time.monotonic()
asyncio.run(Begun(Path(sys.argv[1]), patience_s=0.5).hold("reply/0"))
print("waited" if time.monotonic() - began >= 0.5 else "went on")
"""
CHAT = f"03/05/2024, 18:30 - Nora: {SECRET}\n03/05/2024, 18:31 - Ana: oh\n"

pytestmark = [SQLITE_ONLY, pytest.mark.usefixtures("settings_folder")]


def zipped(text: str) -> bytes:
    """A text in a zip, where no byte of it can be read."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_chat.txt", text)
    return packed.getvalue()


async def hand_over(house: House, person: PersonId, name: str, content: bytes) -> Parcel:
    """Hand a file over, and leave it."""

    async def sent() -> AsyncIterator[bytes]:
        yield content

    porter = Porter(house.settings.data / "brought")
    return await porter.receive(person, name, sent(), zone="UTC", now=house.clock())


@pytest.fixture
async def other(house: House) -> PersonId:
    """Somebody else who is known here."""
    return (await open_line(house, person="Omar", channel="terminal")).person.id


async def test_with_everything_goes_what_waits_to_be_brought_in(
    house: House, line: Line, say: Say, other: PersonId
) -> None:
    """One's own; what another has handed over, or said, is neither looked at nor named."""
    own = await hand_over(house, line.person.id, "mine.zip", zipped(CHAT))
    theirs = await hand_over(house, other, "Chat with my lover Bo.txt", CHAT.encode())
    arriving = house.settings.data / "brought" / "arriving"
    arriving.mkdir()
    (arriving / "half.txt").write_text(CHAT)
    await say(SECRET, person="Omar")
    async with house.db.reading() as tx:
        kept = put_into_safety(house.settings.data, await list_messages(tx, other))
    await say(SECRET)
    report = await forget(house, line.person.id, Wish(everything=True))

    assert report.is_proved, report.left
    assert not own.folder.exists()
    assert theirs.file.exists()
    assert kept is not None
    assert kept.exists()


@pytest.mark.parametrize("content", [CHAT.encode(), zipped(CHAT), CHAT.encode("utf-16")])
async def test_of_a_part_what_waits_and_holds_it_is_named(
    house: House, line: Line, say: Say, content: bytes
) -> None:
    """However it is packed and written: who handed it over puts it away."""
    parcel = await hand_over(house, line.person.id, "WhatsApp.dat", content)
    await hand_over(house, line.person.id, "harmless.zip", zipped("Nothing of that is in here."))
    said = await say(SECRET)
    report = await forget(house, line.person.id, Wish(about="hazelnuts"))

    assert said
    assert [each.place for each in report.left] == ["WhatsApp.dat"]
    assert parcel.file.exists()


async def test_ones_own_talk_that_lies_in_a_file_is_named(
    house: House, line: Line, say: Say
) -> None:
    """It could not get into its store, and is not ours to delete."""
    await say(SECRET)
    async with house.db.reading() as tx:
        messages = await list_messages(tx, line.person.id)
    file: Path | None = await asyncio.to_thread(put_into_safety, house.settings.data, messages)
    report = await forget(house, line.person.id, Wish(everything=True))

    assert file is not None
    assert [each.place for each in report.left] == [file.name]


async def test_what_is_about_to_be_sent_stays_held(house: House, line: Line, say: Say) -> None:
    """Whoever opens a file of a process and closes it lets go of what that holds."""
    folder = house.settings.data / "telegram"
    begun = Begun(folder, patience_s=9)
    await begun.hold("reply/0")
    await say(SECRET)
    report = await forget(house, line.person.id, Wish(everything=True))
    with python(WAITS, folder) as other:
        outcome = await asyncio.to_thread(line_of, other.stdout)

    assert report.is_proved, report.left
    assert outcome == "waited"
