"""The API does what it says: every route, asked in every way that its description allows."""

import asyncio

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.conftest import Browse, Site
from tests.api.openapi import operations
from tests.conftest import SIZE
from tests.engines import SQLITE_ONLY

EXAMPLES = 60 if SIZE == "full" else 2
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
NOT_ASKED = {
    "GET /api/v1/chat/events": "does not end",
    "POST /api/v1/models/{use}/test": "asks a provider",
    "PUT /api/v1/models/{use}": "asks a provider",
    "PUT /api/v1/telegram/token": "asks Telegram",
    "POST /api/v1/chat/recordings": "takes a sound; see test_voice",
    "POST /api/v1/session": "too many wrong links; see test_access",
    "POST /api/v1/session/passkey": "too many wrong answers; see test_credentials",
}
"""What is not asked at random here, and why."""


@pytest.mark.slow
@SQLITE_ONLY
async def test_every_operation_in_openapi_has_description_errors_and_example(
    browse: Browse,
) -> None:
    """Of what may be sent with it, and what may go wrong."""
    document = (await (await browse()).get("/openapi.json")).json()
    every = [*operations(document)]

    assert len(every) > 60
    for each in every:
        assert each.told.get("summary"), each.name
        assert each.told.get("description"), each.name
        assert {"401", "403", "404", "422", "429"} <= each.told["responses"].keys(), each.name
        for named in ("path", "query", "header"):
            for parameter in each.parameters(named).values():
                is_plain = named == "path" or parameter.get("description")
                assert is_plain, f"{each.name}: {parameter['name']}"
        each.example()


async def test_unknown_path_returns_problem_json(browse: Browse) -> None:
    """Whatever its address looks like."""
    browser = await browse()
    for address in ("/nowhere", "/memories/one%0Atwo", "/%0A"):
        answer = await browser.get(address)
        assert answer.status_code in {404, 422}
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.slow
async def test_openapi_describes_the_200_response_to_a_repeated_message(browse: Browse) -> None:
    """It was taken in before: 200 instead of 202, with the same form."""
    document = (await (await browse()).get("/openapi.json")).json()
    for path in ("/api/v1/chat/messages", "/api/v1/chat/recordings"):
        told = document["paths"][path]["post"]["responses"]
        assert told["200"]["content"] == told["202"]["content"]


@pytest.mark.slow
@SQLITE_ONLY
@pytest.mark.timeout(240 if SIZE != "full" else 3000)
async def test_every_operation_conforms_to_the_openapi_schema(site: Site, browse: Browse) -> None:
    """With a token that may do everything: no error inside, no status or form that is not told."""
    browser = await browse()
    made = await browser.post("/tokens", json={"name": "contract", "scope": "admin"})
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    document = (await browser.get("/openapi.json")).json()
    schema = schemathesis.openapi.from_dict(document)
    asked = [found.ok() for found in schema.get_all_operations()]
    named = {f"{each.method.upper()} {each.path}": each for each in asked}
    for name in NOT_ASKED:
        named.pop(name)
    with requests.Session() as session:
        session.trust_env = False
        session.headers.update(headers)
        for each in named.values():
            await asyncio.to_thread(ask, each, session, site.origin)
        still = await asyncio.to_thread(session.get, f"{site.origin}/api/v1/session")

    assert len(named) > 50
    assert still.status_code == 200


def ask(operation: APIOperation, session: requests.Session, origin: str) -> None:
    """Ask for something in a few of the ways that are right, and in a few that are not."""
    ways = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in MODES))

    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=[*HealthCheck],
        phases=[Phase.generate],
    )
    @given(case=ways)
    def every(case: schemathesis.Case) -> None:
        case.call_and_validate(base_url=origin, session=session, checks=CHECKS, timeout=20)

    every()
