"""The guide to the API is true: its addresses exist, and its program runs as it stands there."""

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

from tests.api.conftest import Browse
from tests.api.openapi import operations
from tests.cli.serving import Running, on_any_port, served
from tests.engines import SQLITE_ONLY
from tests.processes import Program

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "api.md").read_text("utf-8")
PROGRAM = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)[0]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """A process that serves somebody who has told where they live."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.done("say", "I live in Porto.")
    with served(program) as running:
        yield running


@pytest.mark.slow
@SQLITE_ONLY
async def test_every_endpoint_in_the_api_guide_exists_in_openapi(browse: Browse) -> None:
    """With the queries that it shows."""
    document = (await (await browse()).get("/openapi.json")).json()
    known = {each.path: set[str]() for each in operations(document)}
    for each in operations(document):
        known[each.path] |= each.parameters("query").keys()
    shown = re.findall(r"\"\$A(/[\w/]+)(?:\?([\w=&-]+))?\"", GUIDE)

    assert len(shown) >= 5
    for path, query in shown:
        assert f"/api/v1{path}" in known
        assert set(re.findall(r"(\w+)=", query)) <= known[f"/api/v1{path}"], query


@pytest.mark.slow
def test_example_program_in_the_api_guide_runs_and_gets_its_reply(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As somebody would paste it, with a token that the command line has made."""
    made = running.program.done("token", "new", "my bot", "--scope", "write").stdout
    monkeypatch.setenv("TOKEN", made.splitlines()[0])
    program = PROGRAM.replace(":8344/", f":{running.port}/")
    code = compile(program, "api.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    async def run() -> None:
        ended = FunctionType(code, {})()
        if inspect.isawaitable(ended):
            await asyncio.wait_for(ended, 60)

    asyncio.run(run())
    assert "Porto" in capsys.readouterr().out
