"""Each provider is asked as its documentation says, and its answer becomes a few labelled facts."""

import json
from pathlib import Path

import pytest

from oldfriend.config.settings_schema import WebSettings
from oldfriend.domain.errors import FetchFailed, InvalidInput, OldfriendError
from oldfriend.web.findings import Finding
from oldfriend.web.search_providers import SearchProvider
from oldfriend.web.web_access import WebAccess, WebClient, build_web_access
from tests.fakes.web_sites import WebSites, web_sites
from tests.web.provider_answers import PROVIDERS, answer


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake has no certificates: what would go to https:// goes to http://."""
    for module in ("weather", "web_access", "search_providers"):
        names = (
            "GEOCODING_URL",
            "FORECAST_URL",
            "RATES_URL",
            "SEARCH_URL",
            "BRAVE_URL",
            "TAVILY_URL",
        )
        loaded = __import__(f"oldfriend.web.{module}", fromlist=["x"])
        for name in names:
            if hasattr(loaded, name):
                monkeypatch.setattr(loaded, name, getattr(loaded, name).replace("https", "http"))


def access(web: WebSites, provider: SearchProvider | None = None) -> WebAccess:
    """Web access to the fake."""
    return WebAccess(
        client=WebClient(fetcher=web.fetcher()), settings=WebSettings(), search_provider=provider
    )


def told(findings: list[Finding]) -> list[str]:
    """The facts of each finding."""
    return ["; ".join(f"{each.name}={each.value}" for each in one.facts) for one in findings]


async def test_weather_is_that_of_the_place_now_and_day_by_day() -> None:
    """With units; the coordinates that are sent are those of a district, not of a house."""
    async with web_sites(PROVIDERS) as web:
        found = await access(web).find_weather("Lisboa", language="pt")

    assert told(found) == [
        "place=Lisbon, Portugal; date=2026-11-29 10:15; temperature=16.3 °C; sky=sky:61; "
        "wind=14.2 km/h; humidity=81 %",
        "date=2026-11-29; temperature=12.4 – 17.1 °C; sky=sky:61; rain=80 %",
        "date=2026-11-30; temperature=11.0 – 18.0 °C; sky=sky:2",
    ]
    assert "name=Lisboa&count=1&language=pt&format=json" in web.requests[0]
    assert "latitude=38.72&longitude=-9.13&" in web.requests[1]


async def test_money_is_converted_at_the_rate_of_the_day_without_sending_the_amount() -> None:
    """Nobody outside needs to know how much it is."""
    async with web_sites(PROVIDERS) as web:
        found = await access(web).convert(1234.5, "eur", "USD")

    assert told(found) == [
        "amount=1,234.50 EUR = 1,337.21 USD; rate=1 EUR = 1.0832 USD; date=2026-11-27"
    ]
    assert "1234" not in "".join(web.requests)


@pytest.mark.parametrize(
    ("amount", "target"),
    [(1, "dollars"), (1, "US&x"), (1, ""), (float("nan"), "USD"), (1e99, "USD")],
)
async def test_what_is_no_money_is_refused_unasked(amount: float, target: str) -> None:
    """A currency is three letters."""
    async with web_sites(PROVIDERS) as web:
        with pytest.raises(InvalidInput):
            await access(web).convert(amount, "EUR", target)
        assert web.requests == []


async def test_places_are_named_with_their_address_and_map() -> None:
    """Data of OpenStreetMap, which is named."""
    async with web_sites(PROVIDERS) as web:
        (found,) = await access(web).find_places("Torre de Belém", language="pt")

    assert found.url == "https://www.openstreetmap.org/way/24961762"
    assert "OpenStreetMap" in found.provider
    assert told([found])[0].startswith("name=Torre de Belém; place=Torre de Belém, Avenida")
    assert "user-agent: Oldfriend" in web.requests[0]


async def test_places_are_asked_for_once_a_second_and_kept() -> None:
    """As the policy of Nominatim asks."""
    now, slept = [100.0], list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    async with web_sites(PROVIDERS) as web:
        client = WebClient(fetcher=web.fetcher(), now=lambda: now[0], sleep=sleep)
        found = WebAccess(client=client, settings=WebSettings())
        for query in ("a", "b", "a", "c"):
            await found.find_places(query, language="en")

    assert slept == [1.0, 1.0]
    assert len(web.requests) == 3


@pytest.mark.parametrize(
    ("provider", "key_header"),
    [
        (SearchProvider(name="searxng", url="http://search.example"), ""),
        (SearchProvider(name="brave", key="secret-key"), "x-subscription-token: secret-key"),
        (SearchProvider(name="tavily", key="secret-key"), "authorization: Bearer secret-key"),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
async def test_search_results_have_address_title_and_excerpt(
    provider: SearchProvider, key_header: str
) -> None:
    """Of addresses of the web alone; a key goes where it belongs, and is in no repr."""
    async with web_sites(PROVIDERS) as web:
        (found,) = await access(web, provider).search("green tea & time")

    assert found.url == "http://tea.example/green"
    assert found.title.startswith("Green tea")
    assert told([found]) == ["summary=Steep it for two minutes."]
    assert key_header in web.requests[0]
    assert "secret-key" not in repr(provider)
    sent = web.requests[0]
    is_sent = "q=green+tea+%26+time" in sent or json.loads(sent.rpartition("\r\n\r\n")[2] or "0")
    assert is_sent


async def test_what_was_looked_up_is_kept_for_minutes_and_failures_are_not() -> None:
    """A follow-up asks nobody again (ACCEPTANCE K10)."""
    now = [0.0]
    async with web_sites(PROVIDERS) as web:
        client = WebClient(fetcher=web.fetcher(), now=lambda: now[0])
        found = WebAccess(client=client, settings=WebSettings())
        for now[0] in (0.0, 599.0, 601.0):
            await found.find_weather("Lisboa", language="en")
        assert len(web.requests) == 4
        for _ in range(2):
            with pytest.raises(FetchFailed):
                await found.read_page("http://nowhere.example/")
        assert web.resolved.count("nowhere.example") == 2


@pytest.mark.parametrize(
    "value",
    [None, [], {}, "x", 7, {"results": "x"}, {"results": [7, None, {"url": 7}]}, {"web": []}],
)
async def test_answer_of_another_form_is_no_finding_and_no_crash(value: object) -> None:
    """Whatever a provider sends."""
    sites = {name: answer(value) for name in PROVIDERS}
    async with web_sites(sites) as web:
        for name in ("searxng", "brave", "tavily"):
            provider = SearchProvider(name=name, url="http://search.example", key="k")
            assert await access(web, provider).search("x") == []
        assert await access(web).find_places("x", language="en") == []
        for asked in (
            access(web).find_weather("x", language="en"),
            access(web).convert(1, "EUR", "USD"),
        ):
            with pytest.raises(OldfriendError):
                await asked


async def test_provider_that_refuses_is_a_failure_with_its_status() -> None:
    """A wrong key, or too many questions."""
    async with web_sites(
        {"api.search.brave.com": answer({}, status="429 Too Many Requests")}
    ) as web:
        with pytest.raises(FetchFailed) as failed:
            await access(web, SearchProvider(name="brave", key="k")).search("x")

    assert (failed.value.reason, failed.value.status) == ("status", 429)


@pytest.mark.parametrize(
    ("settings", "environment", "name"),
    [
        (WebSettings(), {}, None),
        (WebSettings(search="searxng"), {}, None),
        (WebSettings(search="searxng", search_url="http://127.0.0.1:8888"), {}, "searxng"),
        (WebSettings(search="brave"), {}, None),
        (WebSettings(search="brave"), {"TAVILY_API_KEY": "k"}, None),
        (WebSettings(search="brave"), {"BRAVE_API_KEY": "k"}, "brave"),
        (WebSettings(search="tavily"), {"TAVILY_API_KEY": "k"}, "tavily"),
    ],
)
@pytest.mark.usefixtures("settings_folder")
def test_search_without_its_key_or_address_is_not_set_up(
    tmp_path: Path, settings: WebSettings, environment: dict[str, str], name: str | None
) -> None:
    """And no other provider gets the key of one."""
    web = build_web_access(WebClient(), settings, environment, data=tmp_path)

    assert (None if web.search_provider is None else web.search_provider.name) == name
