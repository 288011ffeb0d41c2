"""A key is found where it was put, kept where others cannot read it, and shown to nobody."""

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringLocked, PasswordDeleteError

from oldfriend.config.keys import (
    Credential,
    delete_key,
    find_key,
    find_key_for_other_origin,
    get_keys_path,
    store_key,
    write_keys,
)
from oldfriend.domain.errors import InvalidInput

SECRET = "sk-very-secret"


class InMemory(KeyringBackend):
    """A keyring that forgets everything when the test ends."""

    priority = 5

    def __init__(self) -> None:
        """Empty, and open."""
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        """What was kept."""
        if self.is_locked:
            raise KeyringLocked
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep it."""
        if self.is_locked:
            raise KeyringLocked
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Remove it."""
        if (service, username) not in self.kept:
            raise PasswordDeleteError
        del self.kept[service, username]


@pytest.fixture
def keyring_here() -> Iterator[InMemory]:
    """A machine with a keyring."""
    before, here = keyring.get_keyring(), InMemory()
    keyring.set_keyring(here)
    yield here
    keyring.set_keyring(before)


@pytest.fixture
def no_keyring() -> Iterator[None]:
    """A machine without one."""
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.fixture
def data(home: Path) -> Path:
    """The data folder."""
    return home / "data"


def found(provider: str, environment: dict[str, str], data: Path, **how: str) -> str | None:
    """The value of a key that is found."""
    key = find_key(provider, environment, data=data, **how)
    return None if key is None else key.value


def test_find_key_prefers_environment_then_keyring_then_file(
    keyring_here: InMemory, data: Path
) -> None:
    """Each is asked only where those before have nothing."""
    write_keys(get_keys_path(data), {"openai": "from-file"})
    assert found("openai", {}, data) == "from-file"
    assert store_key("openai", "from-keyring", data=data) == "the system keyring"
    assert found("openai", {}, data) == "from-keyring"
    assert found("openai", {"OPENAI_API_KEY": "from-env"}, data) == "from-env"
    assert found("openai", {"OPENAI_API_KEY": " "}, data) == "from-keyring"
    assert found("anthropic", {"OPENAI_API_KEY": "from-env"}, data) is None


def test_find_key_reads_the_providers_or_a_named_environment_variable(
    no_keyring: None, data: Path
) -> None:
    """An unlisted one has none of itself: nobody has said that it is a key."""
    environment = {
        "GOOGLE_API_KEY": "second",
        "GEMINI_API_KEY": "first",
        "MINE": "named",
        "MY_OWN_API_KEY": "unlisted",
    }

    assert found("google", environment, data) == "first"
    assert found("google", environment, data, variable="MINE") == "named"
    assert found("my-own", environment, data) is None
    assert found("my-own", environment, data, variable="MINE") == "named"
    assert found("ollama", environment, data) is None


def test_key_without_a_keyring_is_stored_in_a_private_file_outside_data(
    no_keyring: None, data: Path
) -> None:
    """Never in the data folder, which is copied and backed up."""
    where = Path(store_key("openai", f" {SECRET}\n", data=data))
    store_key("groq", 'gsk-"quoted\\', data=data)

    assert data not in where.parents
    assert where.stat().st_mode & 0o777 == 0o600
    assert where.parent.stat().st_mode & 0o077 == 0
    assert found("openai", {}, data) == SECRET
    assert found("groq", {}, data) == 'gsk-"quoted\\'
    assert [path.name for path in where.parent.iterdir()] == ["keys.toml"]


def test_keys_path_differs_from_the_data_folder(no_keyring: None, home: Path) -> None:
    """As some systems have it, and as anybody can choose it."""
    for data in (home / ".config" / "oldfriend", home / ".config"):
        assert data not in get_keys_path(data).parents or data == home / ".config"
    assert get_keys_path(home / ".config" / "oldfriend").parent.name == "oldfriend-keys"


def test_locked_keyring_falls_back_to_the_key_file(keyring_here: InMemory, data: Path) -> None:
    """The file is there."""
    keyring_here.is_locked = True

    assert store_key("openai", SECRET, data=data).endswith("keys.toml")
    assert found("openai", {}, data) == SECRET


@pytest.mark.parametrize("key", ["", "  ", "two words", "a\x07bell", "schlüssel", "x" * 5000])
def test_invalid_key_is_refused_and_not_shown(no_keyring: None, data: Path, key: str) -> None:
    """A slip of the clipboard."""
    with pytest.raises(InvalidInput, match="cannot be a key") as refused:
        store_key("openai", key, data=data)

    assert not key.strip() or key not in str(refused.value)
    assert not get_keys_path(data).exists()


def test_readable_or_damaged_key_file_is_refused_without_showing_keys(
    no_keyring: None, data: Path
) -> None:
    """It is said how to mend it, without what is in it."""
    store_key("openai", SECRET, data=data)
    get_keys_path(data).chmod(0o640)
    with pytest.raises(InvalidInput, match="chmod 600") as refused:
        find_key("openai", {}, data=data)
    get_keys_path(data).chmod(0o600)
    get_keys_path(data).write_text("openai = ", encoding="utf-8")
    with pytest.raises(InvalidInput, match="damaged"):
        find_key("openai", {}, data=data)

    assert SECRET not in str(refused.value)


def test_deleted_key_is_removed_from_keyring_and_file(keyring_here: InMemory, data: Path) -> None:
    """From the keyring and from the file; the others stay."""
    write_keys(get_keys_path(data), {"openai": "filed", "groq": "filed too"})
    store_key("openai", SECRET, data=data)

    assert delete_key("openai", data=data)
    assert found("openai", {}, data) is None
    assert found("groq", {}, data) == "filed too"
    assert not keyring_here.kept
    assert delete_key("groq", data=data)
    assert not get_keys_path(data).exists()
    assert not delete_key("groq", data=data)


HERE, THERE = "https://here.example/v1", "https://there.example/v1"


@pytest.mark.parametrize("where", ["keyring_here", "no_keyring"])
def test_key_is_found_only_for_the_origin_it_was_stored_for(
    request: pytest.FixtureRequest, data: Path, where: str
) -> None:
    """Whatever the path; not for another host, port or scheme."""
    request.getfixturevalue(where)
    store_key("mine", SECRET, data=data, address=HERE)

    assert found("mine", {}, data, address="https://HERE.example:443/other") == SECRET
    for url in (THERE, "http://here.example/v1", "https://here.example:8443/v1", "nothing"):
        assert found("mine", {}, data, address=url) is None
    assert find_key_for_other_origin("mine", HERE, data=data) is None
    elsewhere = find_key_for_other_origin("mine", THERE, data=data)
    assert elsewhere is not None
    assert elsewhere.origin == "https://here.example:443"


@pytest.mark.parametrize("where", ["keyring_here", "no_keyring"])
def test_new_key_replaces_the_old_key_and_its_origin(
    request: pytest.FixtureRequest, data: Path, where: str
) -> None:
    """Also of one that was kept without any."""
    request.getfixturevalue(where)
    store_key("mine", "kept-before", data=data)
    assert found("mine", {}, data, address=THERE) == "kept-before"
    store_key("mine", "first", data=data, address=HERE)
    store_key("mine", SECRET, data=data, address=THERE)

    assert found("mine", {}, data, address=HERE) is None
    assert found("mine", {}, data, address=THERE) == SECRET
    assert delete_key("mine", data=data)
    assert find_key_for_other_origin("mine", HERE, data=data) is None


def test_older_unbound_key_is_not_used_for_origins_of_a_newer_bound_key(
    keyring_here: InMemory, data: Path
) -> None:
    """One of both places is older: it goes nowhere that the newer one does not go."""
    store_key("mine", "kept-before", data=data)
    keyring_here.is_locked = True
    store_key("mine", SECRET, data=data, address=HERE)
    keyring_here.is_locked = False

    assert found("mine", {}, data, address=HERE) == SECRET
    assert found("mine", {}, data, address=THERE) is None


def test_credential_repr_does_not_show_the_key() -> None:
    """Not in a trace, not in a log."""
    assert SECRET not in repr(Credential(value=SECRET, source="OPENAI_API_KEY"))
