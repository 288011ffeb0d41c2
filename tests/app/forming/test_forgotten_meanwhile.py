"""What is forgotten while somebody reads is not learned from what they have read."""

from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.forgetting import forget
from oldfriend.app.forming.means import means_for
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.background.consolidating import consolidate
from oldfriend.background.extraction import Extraction, Material
from oldfriend.memory.forgetting.choosing import Wish
from tests.clock import FrozenClock
from tests.memory.forgetting.life import rows_of

SECRET = "My dentist Ludovica Quarantotti found three enormous cavities."


pytestmark = pytest.mark.usefixtures("settings_folder")


async def test_what_was_only_context_and_is_forgotten_meanwhile_is_not_summed_up(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """A reader was shown it; what they made of it is thrown away, and they read again."""
    said = (await answer(house, line, Said(text=SECRET))).said
    for segment in await tend(house, line.person.id, because="asked"):
        await read(house, line.person.id, segment.id)
    clock.tick(minutes=1)
    for text in ("I live in Porto.", "My cat is called Miso.", "I love jazz."):
        await answer(house, line, Said(text=text))
    (segment,) = await tend(house, line.person.id, because="asked")
    means = await means_for(house, segment)
    shown: list[bool] = []

    async def read_and_tell(material: Material) -> Extraction:
        shown.append(any(SECRET in each.text for each in material.before))
        if len(shown) == 1:
            assert (await forget(house, line.person.id, Wish(ids=(said.id,)))).is_proved
        summary = SECRET if shown[-1] else "They talked."
        return replace(await means.read(material), summary=summary)

    await consolidate(replace(means, read=read_and_tell), segment)

    assert shown == [True, False]
    assert "Quarantotti" not in str(await rows_of(house.db, line.person.id))
