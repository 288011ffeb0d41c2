"""Who comes in, and by what, from the command line: links, invitations, tokens."""

import re

import pytest

from tests.cli.conftest import Call
from tests.cli.serving import on_any_port, served
from tests.processes import Program


def test_token_is_created_listed_without_secret_and_revoked(call: Call) -> None:
    """It is printed once, alone on the first line, for scripts; a list shows none."""
    call("say", "hello")
    made = call("token", "new", "backup script", "--scope", "write", "--days", "7")
    secret = made.stdout.splitlines()[0]
    listed = call("token", "list").stdout
    name = listed.splitlines()[1].split()[0]
    ended = call("token", "end", name)
    again = call("token", "end", name)
    wrong = call("token", "show")

    assert re.fullmatch(r"oldfriend_[\w-]{43}", secret)
    assert "scope write" in made.stdout
    assert "backup script" in listed
    assert "never" in listed
    assert secret not in listed
    assert (ended.code, again.code, wrong.code) == (0, 1, 2)
    assert call("token", "list").stdout == "owner has no tokens.\n"


def test_a_renewed_token_is_valid_for_as_long_as_it_was(call: Call) -> None:
    """Only who says a number of days changes that."""
    call("say", "hello")
    made = call("token", "new", "desk", "--days", "366").stdout
    name = call("token", "list").stdout.splitlines()[1].split()[0]
    ends = [
        re.findall(r"valid until (.+?) and", call("token", "renew", name, *more).stdout)
        for more in ([], ["--days", "7"])
    ]

    assert ends[0] == re.findall(r"valid until (.+?) and", made) != []
    assert ends[1] not in ([], ends[0])


def test_scope_of_a_token_is_chosen_when_it_is_made_only(call: Call) -> None:
    """Renewing with another one is refused, and the secret stays; no option is dropped silently."""
    call("say", "hello")
    call("token", "new", "desk")
    before = call("token", "list").stdout
    name = before.splitlines()[1].split()[0]
    refused = call("token", "renew", name, "--scope", "write")
    others = [call("token", "end", name, "--days", "7"), call("token", "list", "--scope", "read")]

    assert refused.code == 2
    assert "keeps its scope" in refused.stderr
    assert [each.code for each in others] == [2, 2]
    assert call("token", "list").stdout == before


def test_invite_without_a_running_server_is_refused(call: Call) -> None:
    """Without a process that serves there is none to open."""
    call("say", "hello")
    refused = call("invite", "Ana")

    assert refused.code == 1
    assert "oldfriend serve" in refused.stderr


@pytest.mark.slow
def test_sign_in_links_are_printed_by_commands_but_never_logged(oldfriend: Program) -> None:
    """Who reads the log of a process that serves cannot sign in; who is at the machine can."""
    program = on_any_port(oldfriend)
    with served(program) as running:
        invited = program.done("invite", "Ana").stdout
        listed = program.done("invite", "list").stdout
        ended = program.done("invite", "end", listed.splitlines()[1].split()[0])
        link = program.done("link").stdout
        running.process.terminate()
        said = running.process.stdout.read().decode() + running.process.stderr.read().decode()

    assert re.search(r"http://localhost:\d+/#[\w-]{43}$", invited.strip())
    assert "Ana" in listed
    assert "no longer works" in ended.stdout
    assert "/#" in link
    assert "oldfriend link" in said
    assert "/#" not in said
