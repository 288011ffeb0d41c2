"""Somebody sends numbers and texts that are none, wherever the API takes something."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.conftest import Browse, Site
from tests.api.openapi import Operation, operations
from tests.api.test_contract import NOT_ASKED
from tests.conftest import SIZE
from tests.engines import SQLITE_ONLY

pytestmark = SQLITE_ONLY
LONG = "7" * 10_000
VALUES = (
    LONG,
    f"-{LONG}",
    "1e999999",
    "-1e999999",
    "NaN",
    "Infinity",
    "9" * 25,
    "9" * 400,
    "-0",
    "[" * 5_000,
    "[" * 50_000 + "]" * 50_000,
    '"\\ud800"',
    '"\\u0000"',
    f'"{LONG}"',
    '"\u0661\u0662"',
)
"""As they stand in a body of JSON."""
WORDS = (
    "7" * 5_000,
    "-" + "7" * 5_000,
    "9" * 25,
    "9" * 400,
    "1e999",
    "NaN",
    "%00",
    "%ED%A0%80",
    "%C2%B2",
    "%D9%A1%D9%A2",
    "-0",
    "0x10",
    "1_0",
)
"""As they stand in an address."""
CURSORS = (
    [0, 0, 10**400, "x"],
    [10**30, 0, 0, "x"],
    [0, 0, 1e308, "x"],
    [10**30],
    ["\ud800"],
    [0, 0, 0, "\ud800"],
    [0, 0, 0, "a\x00"],
    [10**30, "x"],
    [float("inf")],
    [1, "\udfff"],
    ["inbox", "\ud800", 1],
    ["inbox", "x", 10**30],
    [True, True, True, "x"],
)
"""What none of ours is made of."""


def bodies_of(operation: Operation) -> Iterator[str]:
    """Bodies in which one value after the other is none that anybody sends."""
    whole = operation.example()
    values = VALUES if SIZE == "full" else VALUES[:: 1 + len(whole or {}) // 4]
    for value in values:
        yield value
        for name in whole if isinstance(whole, dict) else ():
            pairs = [
                f"{json.dumps(each)}: {value if each == name else json.dumps(whole[each])}"
                for each in whole
            ]
            yield f"{{{', '.join(pairs)}}}"


async def asked(site: Site, browse: Browse) -> tuple[Any, list[Operation]]:
    """Somebody who may ask for everything, and what can be asked for."""
    browser = await browse()
    document = (await browser.get("/openapi.json")).json()
    return browser, [each for each in operations(document) if each.name not in NOT_ASKED]


async def test_invalid_values_in_a_body_never_cause_a_server_error(
    site: Site, browse: Browse
) -> None:
    """It is refused, or taken for what it is; the next question is answered."""
    browser, every = await asked(site, browse)
    wrong = set()
    count = 0
    for each in every:
        if each.example() is None or "/session" in each.path:
            continue
        for body in bodies_of(each):
            address = site.origin + each.at(dict.fromkeys(each.parameters("path"), "1"))
            answer = await browser.request(
                each.method,
                address,
                content=body.encode(),
                headers={"Content-Type": "application/json"},
            )
            count += 1
            if answer.status_code >= 500:
                wrong.add((each.name, body[:60], answer.status_code))

    assert wrong == set()
    assert count > 200
    assert (await browser.get("/state")).status_code == 200


async def test_invalid_values_in_path_or_query_never_cause_a_server_error(
    site: Site, browse: Browse
) -> None:
    """In its path and in its query."""
    browser, every = await asked(site, browse)
    wrong = set()
    for each in every:
        if each.method != "get":
            continue
        for word in WORDS if SIZE == "full" else WORDS[::2]:
            path = site.origin + each.at(dict.fromkeys(each.parameters("path"), word))
            query = [f"?{name}={word}" for name in each.parameters("query")]
            for address in (path, *(path + part for part in query)):
                answer = await browser.get(address)
                if answer.status_code >= 500:
                    wrong.add((each.name, address[-60:], answer.status_code))

    assert wrong == set()


@pytest.mark.slow
@pytest.mark.parametrize("made_of", CURSORS, ids=lambda parts: json.dumps(parts)[:30])
async def test_forged_cursor_never_causes_a_server_error(
    site: Site, browse: Browse, made_of: Any
) -> None:
    """Whatever it is made of; the same for the name of what waits."""
    browser, every = await asked(site, browse)
    cursor = base64.urlsafe_b64encode(json.dumps(made_of).encode()).decode()
    statuses = {
        each.name: (
            await browser.get(
                site.origin + each.at(dict.fromkeys(each.parameters("path"), cursor.rstrip("="))),
                params={"cursor": cursor},
            )
        ).status_code
        for each in every
        if each.method == "get"
        and ("cursor" in each.parameters("query") or "letter" in each.parameters("path"))
    }

    assert statuses
    assert {name for name, status in statuses.items() if status >= 500} == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("If-Match", f'"{LONG}"'),
        ("If-Match", '"\u00b2"'),
        ("Idempotency-Key", "\u00b2" * 80),
        ("Range", f"bytes={LONG}-"),
        ("X-File-Name", "%ED%A0%80" * 50),
    ],
)
async def test_invalid_header_values_never_cause_a_server_error(
    site: Site, browse: Browse, name: str, value: str
) -> None:
    """Also not one that only looks like a digit."""
    browser, every = await asked(site, browse)
    headers = {**browser.headers, name: value.encode("latin-1")}
    wrong = set()
    for each in every:
        if name.casefold() not in {named.casefold() for named in each.parameters("header")}:
            continue
        address = site.origin + each.at(dict.fromkeys(each.parameters("path"), "1"))
        answer = await browser.request(each.method, address, json=each.example(), headers=headers)
        if answer.status_code >= 500:
            wrong.add((each.name, answer.status_code))

    assert wrong == set()


@pytest.mark.parametrize("value", ["\u00b2.1.1", f"{LONG}.1.1", "1.1"])
async def test_invalid_last_event_id_is_refused(browse: Browse, value: str) -> None:
    """One that was never given out is refused."""
    browser = await browse()
    headers = {**browser.headers, "Last-Event-ID": value.encode("latin-1")}

    assert (await browser.get("/chat/events", headers=headers)).status_code == 422
