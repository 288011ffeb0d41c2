"""Whoever starts it sees it: a browser is opened at the page, or they are told how."""

import re
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.cli.serve import get_program_name
from tests.cli.serving import on_any_port, served
from tests.processes import Program, line_of

LINK = re.compile(r"http://localhost:(\d+)/#[\w-]{20,}")


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A browser that only writes down where it was sent."""
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/visited\n')
    script.chmod(0o700)
    return script


def with_browser(program: Program, browser: Path) -> Program:
    """The command line of somebody who has a browser."""
    return replace(program, environment={**program.environment, "BROWSER": f"{browser} %s"})


@pytest.mark.slow
def test_serve_open_opens_browser_at_sign_in_link_and_hides_the_link(
    oldfriend: Program, browser: Path
) -> None:
    """At a link that signs them in; the link itself stands nowhere on the screen."""
    program = with_browser(on_any_port(oldfriend), browser)
    with program.started("serve", "--open") as process:
        said = line_of(process.stdout)
        visited = (browser.parent / "visited").read_text().strip()
        process.send_signal(signal.SIGINT)
        rest, log = process.communicate(timeout=30)

    found = LINK.fullmatch(visited)
    assert found
    assert said == (
        f"Oldfriend is open in your browser, at http://localhost:{found[1]}/ (Ctrl-C stops it)"
    )
    assert (rest, log, process.returncode) == (b"", b"", 0)


@pytest.mark.slow
def test_serve_open_opens_the_page_of_an_already_running_server(
    oldfriend: Program, browser: Path
) -> None:
    """Instead of failing; the one that serves goes on."""
    program = with_browser(on_any_port(oldfriend), browser)
    with served(program) as running:
        ended = program.done("serve", "--open")

        assert f"http://localhost:{running.port}/#" in (browser.parent / "visited").read_text()
        assert ended.stdout == (
            f"Oldfriend is open in your browser, at http://localhost:{running.port}/\n"
        )
        assert running.is_ready


@pytest.mark.slow
def test_serve_open_uses_another_port_if_the_configured_one_is_taken(oldfriend: Program) -> None:
    """Whoever only wants to see the page is shown it at another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        program = replace(oldfriend, environment={"OLDFRIEND_SERVE_PORT": str(port)})
        refused = program("serve")
        with program.started("serve", "--open") as process:
            found = LINK.search(line_of(process.stdout))
            told = [line_of(process.stdout) for _ in range(2)]

    assert refused.code == 1
    assert "cannot be listened at" in refused.stderr
    assert found
    assert int(found[1]) != port
    assert f"Port {port} is taken" in told[-1]
    assert found[1] in told[-1]


@pytest.mark.slow
def test_serve_open_without_a_browser_prints_link_and_ssh_hint(oldfriend: Program) -> None:
    """With the link, and the way from another machine."""
    with on_any_port(oldfriend).started("serve", "--open") as process:
        said = [line_of(process.stdout), line_of(process.stdout)]

    found = LINK.search(said[0])
    assert found
    assert f"ssh -L {found[1]}:localhost:{found[1]} " in said[1]


def test_program_name_in_hints_is_one_that_can_be_called(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After ``make run`` it is on no path: then it is called as it was."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [".venv/bin/oldfriend", "serve", "--open"])
    from_a_checkout = get_program_name()
    (tmp_path / "oldfriend").touch(mode=0o700)

    assert from_a_checkout == ".venv/bin/oldfriend"
    assert get_program_name() == "oldfriend"
