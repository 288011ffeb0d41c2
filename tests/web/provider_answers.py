"""What the providers answer, in the form that their documentation gives."""

import json

from tests.fakes.web_sites import Serve, page

GEOCODING = {
    "results": [
        {
            "id": 2267057,
            "name": "Lisbon",
            "latitude": 38.71667,
            "longitude": -9.13333,
            "elevation": 45.0,
            "feature_code": "PPLC",
            "country_code": "PT",
            "timezone": "Europe/Lisbon",
            "population": 517802,
            "country_id": 2264397,
            "country": "Portugal",
            "admin1": "Lisbon",
        }
    ],
    "generationtime_ms": 0.6,
}
FORECAST = {
    "latitude": 38.75,
    "longitude": -9.125,
    "generationtime_ms": 0.14,
    "utc_offset_seconds": 0,
    "timezone": "Europe/Lisbon",
    "timezone_abbreviation": "WET",
    "elevation": 45.0,
    "current_units": {"time": "iso8601", "interval": "seconds", "temperature_2m": "°C"},
    "current": {
        "time": "2026-11-29T10:15",
        "interval": 900,
        "temperature_2m": 16.3,
        "relative_humidity_2m": 81,
        "weather_code": 61,
        "wind_speed_10m": 14.2,
    },
    "daily_units": {"time": "iso8601", "weather_code": "wmo code"},
    "daily": {
        "time": ["2026-11-29", "2026-11-30"],
        "weather_code": [61, 2],
        "temperature_2m_max": [17.1, 18.0],
        "temperature_2m_min": [12.4, 11.0],
        "precipitation_probability_max": [80, None],
    },
}
RATES = {"amount": 1.0, "base": "EUR", "date": "2026-11-27", "rates": {"USD": 1.0832}}
PLACES = [
    {
        "place_id": 248312,
        "licence": "Data © OpenStreetMap contributors, ODbL 1.0.",
        "osm_type": "way",
        "osm_id": 24961762,
        "lat": "38.6915837",
        "lon": "-9.2159715",
        "category": "tourism",
        "type": "attraction",
        "place_rank": 30,
        "importance": 0.49,
        "addresstype": "tourism",
        "name": "Torre de Belém",
        "display_name": "Torre de Belém, Avenida Brasília, Belém, Lisboa, 1400-038, Portugal",
        "boundingbox": ["38.69", "38.70", "-9.22", "-9.21"],
    }
]
SEARXNG = {
    "query": "tea",
    "number_of_results": 0,
    "results": [
        {
            "url": "http://tea.example/green",
            "title": "Green tea",
            "content": "Steep it for two minutes.",
            "engine": "duckduckgo",
            "score": 1.0,
        },
        {"url": "javascript:alert(1)", "title": "No", "content": "no"},
    ],
    "answers": [],
}
BRAVE = {
    "type": "search",
    "query": {"original": "tea"},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "Green <strong>tea</strong> &amp; time",
                "url": "http://tea.example/green",
                "description": "Steep <strong>it</strong> for two minutes.",
                "age": "2 days ago",
            }
        ],
    },
}
TAVILY = {
    "query": "tea",
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "Green tea",
            "url": "http://tea.example/green",
            "content": "Steep it for two minutes.",
            "score": 0.97,
        }
    ],
    "response_time": 1.2,
}


def answer(value: object, *, status: str = "200 OK") -> Serve:
    """Answer with this as JSON."""
    return page(json.dumps(value), content_type="application/json; charset=utf-8", status=status)


PROVIDERS = {
    "geocoding-api.open-meteo.com": answer(GEOCODING),
    "api.open-meteo.com": answer(FORECAST),
    "api.frankfurter.dev": answer(RATES),
    "nominatim.openstreetmap.org": answer(PLACES),
    "search.example": answer(SEARXNG),
    "api.search.brave.com": answer(BRAVE),
    "api.tavily.com": answer(TAVILY),
}
