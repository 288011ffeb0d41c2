"""What is chosen comes from the command line, then the environment, then defaults."""

from pathlib import Path

import pytest

from oldfriend.app.settings import locale_language, read_settings, sqlite_path
from oldfriend.domain.errors import InvalidInput


def test_the_command_line_beats_the_environment_which_beats_the_default(tmp_path: Path) -> None:
    """Each for itself: the folder and the database."""
    environment = {"OLDFRIEND_DATA": "/from/env", "OLDFRIEND_DATABASE": "sqlite:////env.db"}

    assert read_settings({}).data.name == "oldfriend"
    assert read_settings(environment).data == Path("/from/env")
    assert read_settings(environment).database == "sqlite:////env.db"
    assert read_settings(environment, data="/typed").data == Path("/typed")
    assert read_settings(environment, database="sqlite:////t.db").database == "sqlite:////t.db"
    assert read_settings({"OLDFRIEND_DATA": "/d"}).database == "sqlite:////d/oldfriend.db"


def test_a_tilde_is_the_home_and_an_empty_variable_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a shell would have it."""
    monkeypatch.setenv("HOME", "/home/ada")

    assert read_settings({"OLDFRIEND_DATA": "~/memory"}).data == Path("/home/ada/memory")
    assert read_settings({"OLDFRIEND_DATA": ""}).data == read_settings({}).data
    assert sqlite_path("sqlite:///~/a.db") == Path("/home/ada/a.db")


@pytest.mark.parametrize("typed", [{"data": ""}, {"database": ""}])
def test_an_empty_word_that_was_typed_is_refused(typed: dict[str, str]) -> None:
    """It would silently mean the usual memory."""
    with pytest.raises(InvalidInput, match="is empty"):
        read_settings({}, **typed)


@pytest.mark.parametrize(
    "url", ["", "postgres://host/db", "sqlite://a.db", "sqlite:///", "/just/a/path", "sqlite:"]
)
def test_a_url_that_names_no_database_is_refused_with_an_example(url: str) -> None:
    """Whoever mistypes it sees how it is written."""
    with pytest.raises(InvalidInput, match="sqlite:///PATH"):
        sqlite_path(url)


@pytest.mark.parametrize(
    ("environment", "language"),
    [({"LANG": "de_DE.UTF-8"}, "de"), ({"LC_ALL": "es_ES", "LANG": "de_DE"}, "es"),
     ({"LANG": "C.UTF-8"}, None), ({"LANG": "POSIX"}, None), ({}, None)],
)  # fmt: skip
def test_the_language_is_that_of_the_locale(
    environment: dict[str, str], language: str | None
) -> None:
    """A locale without a language says nothing."""
    assert locale_language(environment) == language
