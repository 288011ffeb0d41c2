"""The time is told in any zone, by its name or by a city's."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.prompts.prompt import reply_prompt
from oldfriend.turn.tools.current_time import CITIES, current_time, find_zone
from tests.clock import FrozenClock


@pytest.mark.parametrize(
    ("asked", "zone"),
    [
        ("Europe/Lisbon", "Europe/Lisbon"), ("europe/lisbon", "Europe/Lisbon"),
        ("Lisbon", "Europe/Lisbon"), ("  São  Paulo ", "America/Sao_Paulo"),
        ("New York", "America/New_York"), ("new_york", "America/New_York"),
        ("Munich, Germany", "Europe/Berlin"), ("St. Petersburg", "Europe/Moscow"),
        ("北京", "Asia/Shanghai"), ("+05:30", "+05:30"), ("UTC", "UTC"),
    ],
)  # fmt: skip
def test_a_zone_is_found_by_name_city_or_offset(asked: str, zone: str) -> None:
    """However it is written."""
    assert find_zone(asked) == zone


@pytest.mark.parametrize("asked", ["Atlantis", "../../etc/passwd", "Europe", "\0", "+99:99"])
def test_a_place_that_has_no_zone_is_refused(asked: str) -> None:
    """With what would be right."""
    with pytest.raises(InvalidInput, match="Use a name such as"):
        find_zone(asked)


@pytest.mark.parametrize("city", CITIES)
def test_every_city_has_a_zone(city: str) -> None:
    """That there is."""
    assert find_zone(city) == CITIES[city]


async def test_without_a_place_it_is_the_persons_time(clock: FrozenClock) -> None:
    """With day, date, zone and offset."""
    tool = current_time(reply_prompt(), clock, zone="Asia/Kolkata")

    assert await tool.use({}) == "Wednesday 2023-11-15 03:43, Asia/Kolkata (UTC+05:30)"
    assert await tool.use({"zone": "UTC"}) == "Tuesday 2023-11-14 22:13, UTC (UTC)"
