"""What is chosen comes from the command line, the environment, the file, then defaults."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import (
    Settings,
    apply_reload,
    find_locale_language,
    flatten_settings,
    is_postgres_url,
    list_reloadable_settings,
    list_sections,
    load_settings,
    parse_database_path,
)
from oldfriend.config.settings_catalog import is_reloadable
from oldfriend.config.settings_schema import (
    BudgetSettings,
    LimitSettings,
    ModelSettings,
    ProviderSettings,
)
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.setting_parsers import Microdollars, redact_url
from tests.engines import both_engines

EVERYTHING = """
database = "sqlite:///elsewhere.db"

[models]
small = "openai:gpt-5-nano"
main = ["anthropic:claude-sonnet-5", "ollama:qwen3"]

[providers.ollama]
kind = "openai"
base_url = "http://localhost:11434/v1"
connect_s = 2

[embedder]
model = "ollama:nomic-embed-text"
dimension = 768

[limits]
messages_per_minute = 0
turn_timeout_s = 60.5
most_tool_calls = 3
lease_s = 3
heartbeat_s = 1

[budget]
background_per_day = 0.25
background_tokens_per_day = 100_000
all_per_day = 5

[context]
preset = "large"

[search]
memory_mb = 64
scorer = "act_r"

[memory]
forms = false

[serve]
host = "::1"
port = 0
public_url = "https://friend.example.org"
turns_at_once = 2
wyoming_port = 10400
wyoming_host = "192.168.1.5"
wyoming_person = "Nora"
wyoming_clients = ["192.168.1.20", "fd00::/8"]
"""


def written(data: Path, text: str) -> str:
    """The name of a folder with these settings in it."""
    data.mkdir(exist_ok=True)
    (data / "oldfriend.toml").write_text(text, encoding="utf-8")
    return str(data)


def test_command_line_overrides_environment_overrides_default(tmp_path: Path) -> None:
    """Each for itself: the folder and the database."""
    environment = {"OLDFRIEND_DATA": "/from/env", "OLDFRIEND_DATABASE": "sqlite:////env.db"}

    assert load_settings({}).data.name == "oldfriend"
    assert load_settings(environment).data == Path("/from/env")
    assert load_settings(environment).database == "sqlite:////env.db"
    assert load_settings(environment, data="/typed").data == Path("/typed")
    assert load_settings(environment, database="sqlite:////t.db").database == "sqlite:////t.db"
    assert load_settings({"OLDFRIEND_DATA": "/d"}).database == "sqlite:////d/oldfriend.db"


def test_command_line_overrides_environment_overrides_settings_file(tmp_path: Path) -> None:
    """Key by key: one that is said in one place only holds from there."""
    data = written(tmp_path, "[limits]\nlease_s = 40\nmost_tool_calls = 4\nturn_timeout_s = 44\n")
    environment = {"OLDFRIEND_LIMITS_LEASE_S": "50", "OLDFRIEND_LIMITS_MOST_TOOL_CALLS": "5"}

    limits = load_settings(environment, data=data, overrides=["limits.lease_s=60"]).limits

    assert limits == LimitSettings(lease_s=60, most_tool_calls=5, turn_timeout_s=44)


def test_settings_file_can_set_every_setting(tmp_path: Path) -> None:
    """Each value arrives as what it means."""
    settings = load_settings({}, data=written(tmp_path, EVERYTHING))

    assert settings.database == "sqlite:///elsewhere.db"
    assert settings.models.for_role("main") == ("anthropic:claude-sonnet-5", "ollama:qwen3")
    assert settings.models.for_role("reflect") == settings.models.main
    assert settings.models.for_role("small") == ("openai:gpt-5-nano",)
    assert settings.providers == {
        "ollama": ProviderSettings(kind="openai", base_url="http://localhost:11434/v1", connect_s=2)
    }
    assert settings.embedder.model == "ollama:nomic-embed-text"
    assert settings.limits.messages_per_minute == 0
    assert settings.budget.background_per_day == 250_000
    assert settings.budget.all_per_day == 5_000_000
    assert settings.context.preset == "large"
    assert settings.search.scorer == "act_r"
    assert settings.serve.port == 0


def test_default_settings_use_no_model_and_a_one_dollar_budget(
    tmp_path: Path,
) -> None:
    """A key that lies in the environment changes nothing."""
    settings = load_settings({"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y"}, data=str(tmp_path))

    assert settings.models == ModelSettings()
    assert settings.embedder.model == "local"
    assert settings.budget == BudgetSettings(background_per_day=Microdollars(1_000_000))
    assert settings.limits == LimitSettings(messages_per_minute=15, turn_timeout_s=120, lease_s=30)


def test_environment_variables_can_set_settings_like_the_file(tmp_path: Path) -> None:
    """Lists have commas; a dash in a provider's name is an underscore; "none" is no value."""
    settings = load_settings(
        {
            "OLDFRIEND_MODELS_MAIN": "lm-studio:qwen, openai:gpt-5",
            "OLDFRIEND_PROVIDERS_LM_STUDIO_BASE_URL": "http://127.0.0.1:1234/v1",
            "OLDFRIEND_BUDGET_BACKGROUND_PER_DAY": "none",
            "OLDFRIEND_SERVE_PORT": "0",
            "OLDFRIEND_LIMITS_LEASE_S": "",
        },
        data=str(tmp_path),
    )

    assert settings.models.main == ("lm-studio:qwen", "openai:gpt-5")
    assert settings.providers["lm-studio"].base_url == "http://127.0.0.1:1234/v1"
    assert settings.budget.background_per_day is None
    assert settings.serve.port == 0
    assert settings.limits.lease_s == LimitSettings().lease_s


def test_too_long_lease_is_refused(tmp_path: Path) -> None:
    """Else nothing would be answered, and each message would say why anew."""
    with pytest.raises(InvalidInput, match="120"):
        load_settings({}, data=written(tmp_path, "[limits]\nlease_s = 121\n"))


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("[limits]\nlease = 3", "limits.lease_s"),
        ("[limit]\nlease_s = 3", "limits.lease_s"),
        ("[models]\nsmal = 'a:b'", "models.small"),
        ("[serve]\nprot = 3", "serve.port"),
        ("[providers.x]\nbase = 'http://a'", "providers.x.base_url"),
        ("databse = 'x'", "database"),
    ],
)
def test_unknown_setting_is_refused_with_a_suggestion(
    tmp_path: Path, text: str, nearest: str
) -> None:
    """A misspelt setting would silently be none."""
    with pytest.raises(InvalidInput, match="is not a setting") as refused:
        load_settings({}, data=written(tmp_path, text))

    assert f"Did you mean {nearest}?" in str(refused.value)
    assert str(tmp_path / "oldfriend.toml") in str(refused.value)


def test_unknown_setting_in_environment_or_override_is_refused(tmp_path: Path) -> None:
    """Named as it was written there."""
    with pytest.raises(InvalidInput, match=r"OLDFRIEND_LIMITS_LEASE is not .*limits\.lease_s"):
        load_settings({"OLDFRIEND_LIMITS_LEASE": "3"}, data=str(tmp_path))
    with pytest.raises(InvalidInput, match="--set wombat is not a setting. There are: models"):
        load_settings({}, data=str(tmp_path), overrides=["wombat=3"])
    with pytest.raises(InvalidInput, match="NAME=VALUE"):
        load_settings({}, data=str(tmp_path), overrides=["limits.lease_s"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[limits]\nlease_s = 'long'", "limits.lease_s in .* a number from 0.1 to 120, not 'long'"),
        ("[limits]\nmost_tool_calls = 1.5", "a whole number of at least 0, not 1.5"),
        ("[limits]\nmost_tool_calls = true", "a whole number"),
        ("[limits]\nlease_s = nan", "a number"),
        ("[limits]\nlease_s = inf", "a number"),
        ("[serve]\nport = 65536", "a whole number from 0 to 65535"),
        ("[serve]\nhost = '0.0.0.0'", "of this machine only"),
        ("[serve]\npublic_url = 'http://friend.example'", "an https address without a path"),
        ("[serve]\npublic_url = 'https://friend.example/a'", "an https address without a path"),
        ("[serve]\nwyoming_clients = ['10.0.0.0/40']", "an address or a network"),
        ("[serve]\nwyoming_host = 'my-pc'", "an address of this machine"),
        ("[models]\nmain = 'gpt-5'", '"provider:name"'),
        ("[models]\nmain = 5", '"provider:name"'),
        ("[models]\nmain = [1]", '"provider:name"'),
        ("[context]\npreset = 'huge'", '"small" or "normal" or "large", not \'huge\''),
        ("[budget]\nall_per_day = -1", "a number from 0"),
        ("[providers.x]\nkind = 'cohere'", '"openai-responses"'),
        ("[providers.x]\nbase_url = 'example.com'", "an address such as"),
        ("[providers.x]\nbase_url = 'http://a/v1/../admin'", 'without ".." or "[?]" or "#"'),
        ("[providers.x]\nbase_url = 'http://a/v1/..'", 'without ".."'),
        ("[providers.x]\nbase_url = 'http://a/v1/%2E%2e/b'", 'without ".."'),
        ("[providers.x]\nbase_url = 'http://../b'", 'without ".."'),
        ("[providers.x]\nbase_url = 'http://a/v1?key=b'", 'without ".."'),
        ("[providers.x]\nbase_url = 'http://a/v1#b'", 'without ".."'),
        ("[embedder]\nmodel = 'minilm'", '"local"'),
        ("database = 3", "the address of a database"),
    ],
)
def test_invalid_value_is_refused_with_its_place_and_the_expected_form(
    tmp_path: Path, text: str, expected: str
) -> None:
    """In the file as in a variable."""
    with pytest.raises(InvalidInput, match=expected) as refused:
        load_settings({}, data=written(tmp_path, text))

    assert str(tmp_path / "oldfriend.toml") in str(refused.value)


@pytest.mark.parametrize("value", ["soon", "1e999", "nan", "3 4"])
def test_invalid_environment_variable_is_refused_by_its_name(tmp_path: Path, value: str) -> None:
    """What it is called where it was set."""
    with pytest.raises(InvalidInput, match="OLDFRIEND_LIMITS_LEASE_S must be a number"):
        load_settings({"OLDFRIEND_LIMITS_LEASE_S": value}, data=str(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "[providers.openai]\napi_key = 'sk-verysecretindeed'",
        "[providers.openai]\nkey_from_env = 'sk-verysecretindeed'",
        "[models]\nmain = ['openai:gpt', 'sk-verysecretindeed']",
        "key = 'verysecretindeed'",
        "[telegram]\nbot_token = 'verysecretindeed'",
        "database = 'postgresql://me:verysecretindeed@host/db'",
        "[providers.x]\nbase_url = 'https://me:verysecretindeed@host'",
    ],
)
def test_secret_in_the_settings_file_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    """It is said where it may stand instead."""
    with pytest.raises(InvalidInput, match="looks like a secret.*keyring") as refused:
        load_settings({}, data=written(tmp_path, text))

    assert "verysecretindeed" not in str(refused.value)


def test_invalid_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    """Or that is not text."""
    with pytest.raises(InvalidInput, match=r"oldfriend\.toml .* line 2"):
        load_settings({}, data=written(tmp_path, "[limits]\nlease_s = \n"))
    (tmp_path / "oldfriend.toml").write_bytes(b"# fine\n# \xff\xfe")
    with pytest.raises(InvalidInput, match=r"oldfriend\.toml .* line 2"):
        load_settings({}, data=str(tmp_path))


@pytest.mark.parametrize(
    "value", ["7" * 10_000, "1e999999", "inf", "nan", "9" * 25, "[" * 100_000, "-1"]
)
def test_malformed_number_is_refused_without_crashing(tmp_path: Path, value: str) -> None:
    """It does not end the program that reads the file."""
    with pytest.raises(InvalidInput, match=r"oldfriend\.toml"):
        load_settings({}, data=written(tmp_path, f"[limits]\nlease_s = {value}\n"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# mine\n[limits]\nlease_s = 'long'", 3),
        ("[limits]\n\n  'lease' = 3", 3),
        ("limits.lease = 3", 1),
        ("[providers.'my-own']\nkind = 'x'", 2),
    ],
)
def test_invalid_setting_is_refused_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    """Nobody searches for it."""
    with pytest.raises(InvalidInput, match=rf"oldfriend\.toml, line {line} "):
        load_settings({}, data=written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[limits]\nlease_s = 5\nheartbeat_s = 4", "last longer than two heartbeats"),
        ("[embedder]\nmodel = 'openai:text-embedding-3-small'", "oldfriend connect embedder"),
    ],
)
def test_contradictory_settings_are_refused(tmp_path: Path, text: str, told: str) -> None:
    """Before anything runs under them."""
    with pytest.raises(InvalidInput, match=told):
        load_settings({}, data=written(tmp_path, text))


def test_reload_applies_reloadable_settings_and_lists_the_others(tmp_path: Path) -> None:
    """RELOADABLE is the whole list."""
    running = load_settings({}, data=str(tmp_path))
    changed = replace(
        load_settings({}, data=written(tmp_path, EVERYTHING)),
        limits=LimitSettings(
            messages_per_minute=1, turn_timeout_s=2, most_tool_calls=3, lease_s=4, heartbeat_s=1
        ),
    )

    taken, waiting = apply_reload(running, changed)

    before, after, wished = (dict(flatten_settings(each)) for each in (running, taken, changed))
    for name in wished:
        may_change = is_reloadable(name)
        assert after[name] == (wished if may_change else before)[name], name
    assert set(waiting) == {name for name in wished if after[name] != wished[name]}
    assert waiting == (
        "database",
        "embedder.model",
        "embedder.dimension",
        "limits.lease_s",
        "limits.heartbeat_s",
        "search.memory_mb",
        "serve.host",
        "serve.port",
        "serve.public_url",
        "serve.turns_at_once",
        "serve.wyoming_port",
        "serve.wyoming_host",
        "serve.wyoming_person",
        "serve.wyoming_clients",
    )
    assert apply_reload(running, running) == (running, ())
    known = {"providers", *list_sections(), *dict(flatten_settings(running))}
    assert set(list_reloadable_settings()) <= known


def test_reload_applies_by_whose_checks_mail_is_believed(tmp_path: Path) -> None:
    """It is set once the first mail has come; until then none is read."""
    running = load_settings({}, data=str(tmp_path))
    changed = load_settings({}, data=written(tmp_path, '[email]\nauthserv_id = "mx.example.org"'))

    taken, waiting = apply_reload(running, changed)

    assert dict(flatten_settings(taken))["email.authserv_id"] == "mx.example.org"
    assert waiting == ()


def test_every_setting_is_documented(tmp_path: Path) -> None:
    """A setting that nobody can know of is none."""
    page = (Path(__file__).parents[2] / "docs/how-to/settings.md").read_text("utf-8")
    names = [
        part.name for kind in (*list_sections().values(), ProviderSettings) for part in fields(kind)
    ]

    assert [
        name
        for name in (*list_sections(), *names)
        if f"`{name}`" not in page and f"[{name}]" not in page
    ] == []
    assert [
        name for name in list_reloadable_settings() if f"`{name.rpartition('.')[2]}`" not in page
    ] == []


def test_every_section_is_a_field_of_settings() -> None:
    """Under its own name."""
    assert {*list_sections()} - {*CHANNELS} < {*Settings.__dataclass_fields__}


def test_data_variable_expands_tilde_and_ignores_an_empty_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a shell would have it."""
    monkeypatch.setenv("HOME", "/home/ada")

    assert load_settings({"OLDFRIEND_DATA": "~/memory"}).data == Path("/home/ada/memory")
    assert load_settings({"OLDFRIEND_DATA": ""}).data == load_settings({}).data


@pytest.mark.parametrize("typed", [{"data": ""}, {"database": ""}])
def test_empty_command_line_value_is_refused(typed: dict[str, str]) -> None:
    """It would silently mean the usual memory."""
    with pytest.raises(InvalidInput, match="is empty"):
        load_settings({}, **typed)


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LC_ALL": "es_ES", "LANG": "de_DE"}, "es"),
        ({"LANG": "C.UTF-8"}, None),
        ({"LANG": "POSIX"}, None),
        ({}, None),
    ],
)
def test_language_is_read_from_the_locale(
    environment: dict[str, str], language: str | None
) -> None:
    """A locale without a language says nothing."""
    assert find_locale_language(environment) == language


@pytest.mark.parametrize(
    "typed",
    [
        "providers.x.base_url=https://me:s3cret@host/v1",
        "postgresql://me:s3cret@host/db?listen=x",
        "limits.lease_s=postgresql://me:s3@cret@host/db",
        "s3cret",
    ],
)
def test_refused_override_is_shown_without_its_password(typed: str) -> None:
    """Whoever types a setting may mistake its place."""
    with pytest.raises(InvalidInput, match="…@host|NAME=VALUE") as caught:
        load_settings({}, overrides=[typed])

    assert "s3" not in str(caught.value)
    assert "cret" not in str(caught.value)


engine = both_engines


def test_database_url_expands_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    """As everywhere on a command line."""
    monkeypatch.setenv("HOME", "/home/ada")

    assert parse_database_path("sqlite:///~/a.db") == Path("/home/ada/a.db")


@pytest.mark.parametrize(
    "url", ["", "mysql://host/db", "sqlite://a.db", "sqlite:///", "/just/a/path", "sqlite:"]
)
def test_invalid_database_url_is_refused_with_an_example(url: str) -> None:
    """Whoever mistypes it sees how it is written."""
    with pytest.raises(InvalidInput, match="sqlite:///PATH.*postgresql://"):
        parse_database_path(url)


@pytest.mark.parametrize("url", ["postgresql://ada@host/memory", "postgres:///memory"])
def test_postgres_url_is_recognized_by_its_scheme(url: str) -> None:
    """In both spellings that libpq takes."""
    assert is_postgres_url(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:s3:cr/et@host:5432/memory", "postgresql://…@host:5432/memory"),
        ("postgresql://ada:s3cr@et@host/memory", "postgresql://…@host/memory"),
        ("postgres://:s3?c#ret@host/memory?listen=h", "postgres://…@host/memory?listen=h"),
        (
            "postgresql://host/memory?user=ada&password=s3&c@ret",
            "postgresql://host/memory?user=ada&password=…",
        ),
        ("postgresql://host/memory?sslpassword=s3cret", "postgresql://host/memory?sslpassword=…"),
        ("https://ada:s3cret@host/v1", "https://…@host/v1"),
        ("ada:s3cret@host", "…@host"),
        ("sqlite:////home/ada@work/a.db", "sqlite:////home/ada@work/a.db"),
        ("postgresql://host:5432/memory", "postgresql://host:5432/memory"),
        ("sqlite:////home/ada/a.db", "sqlite:////home/ada/a.db"),
    ],
)
def test_redact_url_hides_passwords(url: str, shown: str) -> None:
    """Addresses end up in messages, and messages in logs."""
    assert redact_url(url) == shown
