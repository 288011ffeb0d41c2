"""Models are connected by asking, tried, and kept; nothing leaves the machine without a yes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from oldfriend.config.keys import OURA_NAME, store_key
from oldfriend.config.provider_resolution import resolve_model
from oldfriend.config.settings import load_settings
from tests.cli.conftest import Call
from tests.fakes.embedding_server import EmbeddingServer, embedding_server
from tests.processes import Finished

SECRET = "sk-very-secret"


pytestmark = pytest.mark.usefixtures("bare_machine")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """A server on this machine."""
    with embedding_server() as server:
        yield server


def everything_in(folder: Path) -> bytes:
    """All bytes of all files."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_application_of_oura_goes_with_the_last_ring(call: Call, data: Path) -> None:
    """Its secret does not stay behind."""
    call("say", "Hello.")
    store_key(OURA_NAME, f"app-id:{SECRET}", data=data)
    first, second = (call("connect", "oura", "--remove") for _ in range(2))

    assert (first.code, "forgotten here" in first.stdout) == (0, True)
    assert (second.code, "forgotten here" in second.stdout) == (1, False)
    assert SECRET.encode() not in everything_in(data.parent)


def test_connect_model_stores_choice_in_config_and_key_outside_data_dir(
    call: Call, data: Path
) -> None:
    """The choice in the file, the key outside the data folder; neither shows the key."""
    ended = call("connect", "model", "--no-test", stdin=f"anthropic\n\n{SECRET}\nyes\n")
    settings = load_settings({}, data=str(data))

    assert ended.code == 0, ended.stderr
    assert settings.models.main[0].startswith("anthropic:")
    assert settings.models.small[0].startswith("anthropic:")
    assert "is sent to anthropic (https://api.anthropic.com)" in ended.stdout
    assert "connect none" in ended.stdout
    assert SECRET not in ended.stdout + ended.stderr
    assert SECRET.encode() not in everything_in(data)
    assert SECRET.encode() in everything_in(data.parent)
    assert "anthropic (its key is in" in call("connect", "model", stdin="").stdout


def test_connect_model_offers_to_read_unread_segments_with_price(call: Call) -> None:
    """With its messages, its tokens and its price."""
    call("say", "Siskoni asuu Oulussa.")
    call("consolidate", "--now")

    ended = call("connect", "model", "--no-test", stdin=f"anthropic\n\n{SECRET}\nyes\n")

    offer = next(line for line in ended.stdout.splitlines() if "would read" in line)
    assert "1 segment of conversation (2 messages), about" in offer
    assert "tokens, for about $" in offer
    assert "oldfriend consolidate --with-model" in offer


@pytest.mark.parametrize("no", ["no\n", "\n", "nope\n"])
def test_connect_model_without_confirmation_changes_nothing(
    call: Call, data: Path, monkeypatch: pytest.MonkeyPatch, no: str
) -> None:
    """Also with a key at hand, which is offered by name."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    ended = call("connect", "model", stdin="1\n\n" + no)

    assert ended.code == 1
    assert "openai (its key is in OPENAI_API_KEY)" in ended.stdout
    assert "Nothing was changed" in ended.stdout
    assert not (data / "oldfriend.toml").exists()


def test_api_key_in_environment_is_reported_by_doctor_but_not_used(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's diary leaves the machine by accident."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    call("say", "My boat is called Dora")
    ended = call("doctor")

    assert "You could connect: openai (its key is in OPENAI_API_KEY)" in ended.stdout
    assert SECRET not in ended.stdout


def test_connect_model_accepts_all_choices_as_options(
    call: Call, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key stays in the variable that was named."""
    monkeypatch.setenv("MY_KEY", SECRET)
    ended = call(
        "connect",
        "model",
        "--provider",
        "mine",
        "--name",
        "llama",
        "--base-url",
        "http://10.0.0.7/v1",
        "--key-from-env",
        "MY_KEY",
        "--yes",
        "--no-test",
    )
    settings = load_settings({}, data=str(data))

    assert ended.code == 0, ended.stderr
    assert settings.models.main == ("mine:llama",)
    assert settings.models.small == ()
    assert settings.providers["mine"].key_from_env == "MY_KEY"
    assert SECRET.encode() not in everything_in(data.parent)


@pytest.mark.slow
def test_unreachable_model_is_not_stored_by_connect(call: Call, data: Path) -> None:
    """Neither is the key that was typed for it."""
    ended = call(
        "connect",
        "model",
        "--provider",
        "mine",
        "--name",
        "llama",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--yes",
    )

    assert ended.code == 1
    assert "cannot be reached" in ended.stderr
    assert not (data / "oldfriend.toml").exists()


def test_connect_model_with_missing_answers_fails_with_usage_error(call: Call) -> None:
    """A script that forgot something does not wait for ever."""
    ended = call("connect", "model", stdin="")
    assert (ended.code, "Which provider?" in ended.stderr) == (2, True)
    ended = call("connect", "model", "--provider", "../etc", stdin="")
    assert (ended.code, "is not a known provider" in ended.stderr) == (2, True)
    ended = call("connect", "model", "--provider", "openai", "--key-from-env", "GONE", "--yes")
    assert (ended.code, "There is no key in GONE" in ended.stderr) == (2, True)


def test_connected_embedder_is_stored_and_embeds_existing_messages(
    call: Call, data: Path, server: EmbeddingServer
) -> None:
    """And the way back is as short."""
    call("say", "My boat is called Dora")
    ended = call(
        "connect",
        "embedder",
        "--provider",
        "mine",
        "--name",
        "hashed",
        "--base-url",
        server.url,
        "--yes",
    )
    assert ended.code == 0, ended.stderr
    assert "nothing leaves it" in ended.stdout
    assert "1 message can now be found by meaning" in ended.stdout
    assert load_settings({}, data=str(data)).embedder.dimension == 512
    assert any("owner: My boat is called Dora" in asked for asked in server.asked)
    (sums,) = call("cost", "--by", "purpose", "--json").json["sums"]
    assert (sums["purpose"], sums["calls"]) == ("embedding", 2)  # the test, and the message

    (hit,) = found(call("recall", "boat's name", "--json", "-k", "1"))
    assert hit["text"] == "My boat is called Dora"
    assert "mine:hashed/512" in call("doctor").stdout

    ended = call("connect", "none")
    assert ended.code == 0
    assert "offline again" in ended.stdout
    asked = len(server.asked)
    assert "all-MiniLM-L6-v2" in call("doctor").stdout
    (hit,) = found(call("recall", "boat's name", "--json", "-k", "1"))
    assert hit["text"] == "My boat is called Dora"
    assert len(server.asked) == asked


def found(ended: Finished) -> list[dict[str, object]]:
    """The hits that were printed."""
    hits: list[dict[str, object]] = json.loads(ended.stdout)
    return hits


@pytest.mark.slow
def test_recall_falls_back_to_words_when_embedder_is_unavailable(
    call: Call, server: EmbeddingServer
) -> None:
    """And it is said."""
    call("say", "My boat is called Dora")
    call(
        "connect",
        "embedder",
        "--provider",
        "mine",
        "--name",
        "hashed",
        "--base-url",
        server.url,
        "--yes",
    )
    server.refusals = [(500, "out of order")] * 100
    ended = call("recall", "boat", "--json", "-k", "1")

    assert found(ended)[0]["text"] == "My boat is called Dora"
    assert "out of order" in call("doctor").stdout


def test_connect_forget_deletes_the_stored_provider_key(call: Call, data: Path) -> None:
    """Going offline keeps it; forgetting does not."""
    call("connect", "model", "--provider", "openai", "--no-test", stdin=f"\n{SECRET}\nyes\n")
    call("connect", "none")
    assert SECRET.encode() in everything_in(data.parent)
    ended = call("connect", "forget", "--provider", "openai")

    assert (ended.code, "deleted from this machine" in ended.stdout) == (0, True)
    assert SECRET.encode() not in everything_in(data.parent)
    assert call("connect", "forget", "--provider", "openai").code == 1


def test_key_stored_for_another_base_url_is_asked_for_again(call: Call, data: Path) -> None:
    """And kept for the new one alone."""
    store_key("mine", "sk-of-the-old-place", data=data, address="http://10.0.0.7/v1")
    there = (
        "connect",
        "model",
        "--provider",
        "mine",
        "--name",
        "m",
        "--base-url",
        "http://10.0.0.8/v1",
        "--no-test",
    )
    without = call(*there, stdin="")
    ended = call(*there, stdin=f"{SECRET}\nyes\n")
    choice = resolve_model(load_settings({}, data=str(data)), "mine:m")

    assert (without.code, "mine needs a key" in without.stderr) == (2, True)
    assert ended.code == 0, ended.stderr
    assert (choice.base_url, choice.key) == ("http://10.0.0.8/v1", SECRET)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ("model", "--provider", "openai", "--name", "m", "--base-url", "http://10.0.0.8/v1"),
            "--key-from-env",
        ),
        (
            ("model", "--provider", "telegram", "--name", "m", "--base-url", "http://10.0.0.8/v1"),
            "telegram cannot be the name of a provider",
        ),
        (
            ("model", "--provider", "x", "--name", "m", "--base-url", "http://169.254.169.254/v1"),
            "will not be used",
        ),
        (("forget", "--provider", "forgetting"), "forgetting cannot be the name of a provider"),
    ],
)
def test_connect_refuses_a_foreign_base_url_and_reserved_providers(
    call: Call, data: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], told: str
) -> None:
    """What cannot be is said before anything is sent or kept."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    ended = call("connect", *options, *(["--yes"] if options[0] == "model" else []))

    assert ended.code == 2
    assert told in ended.stderr
    assert SECRET not in ended.stdout + ended.stderr
    assert not (data / "oldfriend.toml").exists()


@pytest.mark.slow
def test_failed_connection_test_is_billed_to_owner_only_if_one_exists(call: Call) -> None:
    """Also one that failed; where nobody has talked yet, nothing is made for it."""
    failing = (
        "connect",
        "model",
        "--provider",
        "mine",
        "--name",
        "llama",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--yes",
    )
    call(*failing)
    assert "Talk first" in call("cost").stderr
    call("say", "My boat is called Dora")
    call(*failing)
    (sums,) = call("cost", "--json").json["sums"]

    assert sums["purpose"] == "test"
    assert sums["failed"] == sums["calls"] > 0


@pytest.mark.parametrize(
    "asked",
    [
        ["--provider", "my-box", "--base-url", "https://me:s3cret@box/v1"],
        ["--provider", "https://me:s3cret@box"],
    ],
)
def test_base_url_with_password_is_refused_and_redacted(
    call: Call, data: Path, asked: list[str]
) -> None:
    """It would stand in the file, and be shown at each start."""
    ended = call("connect", "model", *asked, "--name", "llama", "--yes", "--no-test")

    assert ended.code == 2
    assert "…@box" in ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr
    assert b"s3cret" not in everything_in(data)


@pytest.mark.parametrize(
    ("options", "stdin", "told"),
    [
        (
            (
                "--provider",
                "mine",
                "--name",
                "m",
                "--base-url",
                "http://localhost:1",
                "--key-from-env",
                "NO_SUCH",
            ),
            "yes\n",
            "There is no key in NO_SUCH.",
        ),
        (
            ("--provider", "openai", "--name", "m", "--key-from-env", "NO_SUCH"),
            "yes\n",
            "There is no key in NO_SUCH.",
        ),
        (("--provider", "openai", "--name", "m"), "", "openai needs a key"),
    ],
)
def test_missing_provider_key_is_reported_before_confirmation(
    call: Call, data: Path, options: tuple[str, ...], stdin: str, told: str
) -> None:
    """Nobody agrees to what cannot be done."""
    ended = call("connect", "model", "--no-test", *options, stdin=stdin)

    assert ended.code == 2
    assert told in ended.stderr
    assert "From now on" not in ended.stdout
    assert not (data / "oldfriend.toml").exists()
