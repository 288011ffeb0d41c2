"""Every command says what it takes, where it looks, and how it ended."""

import subprocess
from pathlib import Path

import pytest

from oldfriend import __version__
from oldfriend.cli.main import build_parser
from oldfriend.cli.open_context import load_settings_from_options
from oldfriend.domain.errors import StoreUnusable
from oldfriend_evals.commands.bench import write_report
from tests.cli.conftest import Call
from tests.processes import Program


def test_successful_command_exits_with_0_and_empty_stderr(call: Call) -> None:
    """And nothing is said on the error stream."""
    said = call("say", "hello")

    assert (said.code, said.stderr) == (0, "")


def test_no_command_is_a_usage_error_that_suggests_chat(call: Call) -> None:
    """As wrong usage still, for a program."""
    ended = call()

    assert ended.code == 2
    assert "oldfriend chat" in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "cat"),
        ("why",),
        ("migrate",),
        ("export",),
        ("import", "list"),
        ("letters",),
        ("cost",),
        ("status",),
    ],
)
def test_read_command_without_a_store_exits_with_1_and_creates_none(
    call: Call, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """And says how to begin."""
    ended = call(*arguments)

    assert ended.code == 1
    assert "Talk first: oldfriend chat" in ended.stderr
    assert not (tmp_path / "data").exists()


def test_doctor_checks_the_installation_before_anything_is_stored(
    call: Call, tmp_path: Path
) -> None:
    """All is well then; it says how to begin and creates nothing."""
    ended = call("doctor")

    assert ended.code == 0
    assert "Talk first: oldfriend chat" in ended.stdout
    assert "sound" not in ended.stdout
    assert not (tmp_path / "data").exists()


def test_port_of_serve_sets_the_setting() -> None:
    """Also beside other settings."""
    parse = build_parser().parse_args
    options = parse(["serve", "--port", "9000", "--set", "serve.host=127.0.0.2"])

    assert load_settings_from_options(options).serve.port == 9000
    assert load_settings_from_options(options).serve.host == "127.0.0.2"
    assert load_settings_from_options(parse(["serve"])).serve.port == 8344


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("sya", "hello"),
        ("say",),
        ("recall", "cat", "-k", "0"),
        ("recall", "cat", "-k", "x"),
        ("say", "hi", "--at", "yesterday"),
        ("say", ""),
        ("say", "  "),
        ("say", "hi", "--database", "mysql://here"),
        ("say", "hi", "--person", "\x07"),
        ("say", "hi", "--channel", ""),
        ("--nonsense",),
        ("import", "undo", "x"),
    ],
)
def test_wrong_usage_exits_with_2_and_message_on_stderr(
    call: Call, arguments: tuple[str, ...]
) -> None:
    """In a line or two; never a traceback."""
    ended = call(*arguments)

    assert ended.code == 2
    assert ended.stderr.strip()
    assert ended.stdout == ""


def test_invalid_time_or_database_url_error_shows_a_valid_example(call: Call) -> None:
    """So that nobody needs the documentation."""
    assert "2024-05-03T18:30" in call("say", "hi", "--at", "yesterday").stderr
    assert "sqlite:////home" in call("say", "hi", "--database", "mysql://here").stderr


def test_unknown_person_error_lists_the_known_persons(call: Call) -> None:
    """Looking never makes a person."""
    call("say", "hello")
    call("say", "hello", "--person", "Ada", "--new-person")
    for command in (("recall", "cat"), ("why",)):
        ended = call(*command, "--person", "Aad")

        assert ended.code == 1
        assert "Known people: owner, Ada." in ended.stderr


@pytest.mark.parametrize("before", [True, False])
def test_data_option_is_accepted_before_and_after_the_command(
    call: Call, tmp_path: Path, before: bool
) -> None:
    """As one happens to type it."""
    where = ("--data", str(tmp_path / "typed"))
    words = (*where, "say", "hello") if before else ("say", "hello", *where)

    assert call(*words).code == 0
    assert (tmp_path / "typed" / "oldfriend.db").exists()
    assert not (tmp_path / "data").exists()


def test_database_option_takes_precedence_over_environment_variable(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a variable, and by an option, which is stronger."""
    monkeypatch.setenv("OLDFRIEND_DATABASE", f"sqlite:///{tmp_path}/env.db")
    call("say", "hello")
    call("--database", f"sqlite:///{tmp_path}/typed.db", "say", "hello")

    assert (tmp_path / "env.db").exists()
    assert (tmp_path / "typed.db").exists()
    assert not list((tmp_path / "data").glob("*.db"))


def test_non_database_file_is_refused_and_left_unchanged(call: Call, tmp_path: Path) -> None:
    """And stays as it is."""
    (tmp_path / "notes.txt").write_text("my notes " * 100)
    ended = call("--database", f"sqlite:///{tmp_path}/notes.txt", "say", "hello")

    assert ended.code == 1
    assert "notes.txt is damaged or not a database" in ended.stderr
    assert (tmp_path / "notes.txt").read_text() == "my notes " * 100


@pytest.mark.slow
def test_version_and_help_of_every_command_are_printed(call: Call) -> None:
    """Each command has a sentence about itself."""
    assert call("--version").stdout == f"oldfriend {__version__}\n"
    for command in (
        "chat",
        "say",
        "recall",
        "why",
        "import",
        "export",
        "doctor",
        "migrate",
        "serve",
        "work",
        "stop",
        "reload",
        "status",
        "letters",
        "cost",
        "person",
    ):
        assert build_parser().parse_args([command, *NEEDED.get(command, [])]).handler
        assert call(command, "--help").code == 0


NEEDED = {"say": ["x"], "recall": ["x"], "import": ["x"], "person": ["list"]}


@pytest.mark.slow
def test_closed_stdout_pipe_ends_the_command_without_traceback(oldfriend: Program) -> None:
    """``oldfriend recall … | head -1`` ends quietly."""
    with oldfriend.started("say", "-") as process:
        process.stdout.close()
        process.stdin.write(b"hello")
        process.stdin.close()
        code = process.wait(60)
        errors = process.stderr.read().decode()

    assert code in {0, 1}
    assert "Traceback" not in errors


def test_invalid_utf8_arguments_are_accepted_and_shown_as_replacement(call: Call) -> None:
    """A shell passes any bytes on."""
    assert (
        call("say", "caf\udce9", "--person", "A\udcff", "--new-person", "--channel", "\udcff").code
        == 0
    )
    assert call("recall", "\udcff caf", "--person", "A\udcff").code == 0
    for arguments in (("why", "\udcff"), ("recall", "x", "--person", "B\udcff")):
        ended = call(*arguments)

        assert ended.code in {1, 2}
        assert "\ufffd" in ended.stderr


@pytest.mark.parametrize("option", ["--data", "--database"])
def test_empty_data_or_database_option_is_a_usage_error(
    call: Call, tmp_path: Path, option: str
) -> None:
    """Perhaps a script's variable was empty; the usual memory is not meant."""
    ended = call("say", "hello", option, "")

    assert ended.code == 2
    assert f"{option} is empty" in ended.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("arguments", [("say", "hello"), ("export",), ("doctor",)])
def test_full_stdout_device_is_reported_in_one_line(
    oldfriend: Program, arguments: tuple[str, ...]
) -> None:
    """In one line, whenever it shows."""
    oldfriend.done("say", "hello")
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            oldfriend.command(*arguments),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            env=oldfriend.variables,
            check=False,
        )

    assert ended.returncode == 1
    expected = "oldfriend: standard output cannot be used (No space left on device).\n"
    assert ended.stderr.decode() == expected


def test_unwritable_report_file_raises_store_unusable(tmp_path: Path) -> None:
    """The table has been printed by then."""
    with pytest.raises(StoreUnusable, match="could not be written"):
        write_report(tmp_path / "none" / "bench.json", "{}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sya", "hello"), "there is no 'sya'. Did you mean say? See: oldfriend --help"),
        (("memory", "lst"), "there is no 'lst'. Did you mean list? See: oldfriend memory --help"),
        (("say", "hi", "--chanel", "x"), "'--chanel'. Did you mean --channel? See: oldfriend say"),
        (("say", "hi", "--nonsense"), "there is no '--nonsense'. See: oldfriend say --help"),
        (("recall",), "required: QUERY. See: oldfriend recall --help"),
        (("recall", "cat", "-k", "x"), "-k cannot be 'x'. See: oldfriend recall --help"),
        (("chat", "loudly"), "there is no 'loudly'. See: oldfriend chat --help"),
    ],
)
def test_usage_error_is_one_line_with_suggestion_and_help_command(
    call: Call, arguments: tuple[str, ...], said: str
) -> None:
    """That of the command, where there is one."""
    ended = call(*arguments)

    assert ended.code == 2
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_world_writable_data_dir_is_warned_about_by_say_and_doctor(call: Call, data: Path) -> None:
    """And by the doctor, which then finds not all well."""
    data.mkdir(mode=0o700)
    data.chmod(0o777)
    said, examined = call("say", "hi"), call("doctor")
    data.chmod(0o700)

    assert said.code == 0
    assert f"chmod go-w {data}" in said.stderr
    assert f"chmod go-w {data}" in examined.stdout
    assert examined.code == 1
    assert "chmod" not in call("say", "hi").stderr
