"""A time zone is found however it is written; of one that is none it is told what is like it."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.time_zones import CITY_ZONES, MAX_SUGGESTIONS, resolve_zone, suggest_zones


@pytest.mark.parametrize(
    ("asked", "zone"),
    [
        ("Europe/Lisbon", "Europe/Lisbon"),
        ("europe/lisbon", "Europe/Lisbon"),
        ("Lisbon", "Europe/Lisbon"),
        ("  São  Paulo ", "America/Sao_Paulo"),
        ("New York", "America/New_York"),
        ("new_york", "America/New_York"),
        ("Munich, Germany", "Europe/Berlin"),
        ("St. Petersburg", "Europe/Moscow"),
        ("北京", "Asia/Shanghai"),
        ("+05:30", "+05:30"),
        ("UTC", "UTC"),
        ("+2", "+02:00"),
        ("utc-3", "-03:00"),
        ("GMT +5:30", "+05:30"),
        ("−0930", "-09:30"),
    ],
)
def test_a_zone_is_found_by_name_city_or_offset(asked: str, zone: str) -> None:
    """However it is written."""
    assert resolve_zone(asked) == zone


@pytest.mark.parametrize(
    "asked", ["Atlantis", "../../etc/passwd", "Europe", "\0", "+99:99", "+25", "1"]
)
def test_unknown_time_zone_is_rejected(asked: str) -> None:
    """With what would be right."""
    with pytest.raises(InvalidInput, match="Use a name such as"):
        resolve_zone(asked)


@pytest.mark.parametrize("city", CITY_ZONES)
def test_every_city_has_a_zone(city: str) -> None:
    """That there is."""
    assert resolve_zone(city) == CITY_ZONES[city]


@pytest.mark.parametrize(
    ("asked", "zone"),
    [
        ("Madird", "Europe/Madrid"),
        ("Spain", "Europe/Madrid"),
        ("germany", "Europe/Berlin"),
        ("USA", "America/New_York"),
        ("England", "Europe/London"),
        ("Deutschland", "Europe/Berlin"),
        ("中国", "Asia/Shanghai"),
    ],
)
def test_time_zone_is_suggested_by_country_or_similar_spelling(asked: str, zone: str) -> None:
    """At most a few."""
    with pytest.raises(InvalidInput):
        resolve_zone(asked)

    assert zone in suggest_zones(asked)
    assert len(suggest_zones(asked)) <= MAX_SUGGESTIONS


def test_no_time_zone_is_suggested_for_dissimilar_text() -> None:
    """It is no guessing."""
    assert suggest_zones("qqqqq") == suggest_zones("") == []
