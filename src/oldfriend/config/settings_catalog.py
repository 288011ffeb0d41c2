"""Settings catalog: lists settings with their values and sources, and changes them in the file.

It decides what the web page may change; everything else is left to whoever runs the machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, TypeAlias, get_type_hints

from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import (
    Settings,
    list_reloadable_settings,
    list_sections,
    parse_environment,
)
from oldfriend.config.settings_file import (
    TomlValue,
    read_settings_file,
    read_settings_text,
    replace_file_atomically,
    update_settings_file,
)
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.setting_parsers import RawSetting, SettingParser
from oldfriend.usage.costs import MICRODOLLARS

SettingValue: TypeAlias = bool | int | float | str | Sequence[str] | None

FILE_ONLY_SETTINGS: Final = frozenset(
    {
        "serve.host",
        "serve.port",
        "serve.public_url",
        "serve.wyoming_port",
        "serve.wyoming_host",
        "serve.wyoming_person",
        "serve.wyoming_clients",
        "limits.lease_s",
        "limits.heartbeat_s",
    }
)
"""With these, one could lock oneself out or send secrets elsewhere."""
MONEY_SETTINGS: Final = frozenset({"budget.background_per_day", "budget.all_per_day"})
"""Stored in millionths, written in dollars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingState:
    """The current state of one setting."""

    name: str
    value: SettingValue  # of the process that was asked
    default: SettingValue
    file_value: SettingValue  # in the file; None: not set there
    overridden_by: str | None  # the variable that overrides the file
    needs_restart: bool


def list_settings(settings: Settings) -> list[SettingState]:
    """Return every setting that may be changed here. Raises InvalidInput if the file is broken."""
    in_file = read_settings_file(settings.file)
    in_environment = dict(parse_environment(settings.environment))
    return [
        SettingState(
            name=name,
            value=to_display_value(name, value),
            default=to_display_value(name, default),
            file_value=to_file_value(in_file.get(name)),
            overridden_by=in_environment[name].source if name in in_environment else None,
            needs_restart=not is_reloadable(name),
        )
        for name, value, default in list_setting_values(settings)
    ]


def list_setting_values(settings: Settings) -> Iterator[tuple[str, object, object]]:
    """Yield each setting's name, value and default."""
    for section, defaults in list_sections().items():
        for part in fields(defaults):
            name = f"{section}.{part.name}"
            if not is_file_only(name):
                yield (
                    name,
                    getattr(settings.get_section(section), part.name),
                    getattr(defaults, part.name),
                )


def to_display_value(name: str, value: object) -> SettingValue:
    """Return a value as it is written in the file."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value / MICRODOLLARS if name in MONEY_SETTINGS else value
    if isinstance(value, float):
        return value
    assert isinstance(value, tuple)
    return [str(each) for each in value]


def to_file_value(raw: RawSetting | None) -> SettingValue:
    """Return the value in the file, as far as it can be displayed."""
    if raw is None:
        return None
    value = raw.value
    if isinstance(value, list):
        return [str(each) for each in value]
    return value if isinstance(value, bool | int | float | str) else str(value)


def is_reloadable(name: str) -> bool:
    """Return whether a running process applies changes to a setting."""
    return not {name, name.partition(".")[0]}.isdisjoint(list_reloadable_settings())


def is_file_only(name: str) -> bool:
    """Return whether a setting can only be changed in the file itself."""
    section, _, part = name.partition(".")
    of_channel = CHANNELS[section].file_only_settings if section in CHANNELS else frozenset()
    return name in FILE_ONLY_SETTINGS or part in of_channel


def write_settings(settings: Settings, changes: Mapping[str, SettingValue]) -> str:
    """Write settings to the file (None resets), and return its old content. Raises InvalidInput."""
    in_environment = dict(parse_environment(settings.environment))
    for name, value in changes.items():
        if name in in_environment:
            raise InvalidInput(
                localizable(
                    "setting_fixed",
                    f"{name} is set by {in_environment[name].source}, which overrides the file. "
                    "Change it there.",
                    name=name,
                    where=in_environment[name].source,
                )
            )
        validate_setting(name, value)
    before = read_settings_text(settings.file)
    update_settings_file(
        settings.file, {name: to_toml_value(value) for name, value in changes.items()}
    )
    return before


def allow_address(settings: Settings, channel: str, address: str) -> str:
    """Add an address to those that may write on a channel, and return it as it is compared.

    Raises InvalidInput.
    """
    name = f"{channel}.allowed"
    parsed = parse_setting(name, [address])
    assert isinstance(parsed, tuple)
    known = settings.get_allowed_addresses(channel)
    write_settings(settings, {name: [*dict.fromkeys([*known, *parsed])]})
    return str(parsed[0])


def restore_settings_file(file: Path, text: str) -> None:
    """Restore the old content of the file."""
    replace_file_atomically(file, text)


def validate_setting(name: str, value: SettingValue) -> None:
    """Raise InvalidInput for a value or setting that cannot be written."""
    section, _, part = name.partition(".")
    defaults = list_sections().get(section)
    if defaults is None or part not in {each.name for each in fields(defaults)}:
        raise InvalidInput(
            localizable("setting_unknown", f"There is no setting {name[:80]!r}.", name=name[:80])
        )
    if is_file_only(name):
        raise InvalidInput(
            localizable(
                "setting_by_hand",
                f"{name} can only be changed in the settings file itself.",
                name=name,
            )
        )
    if value is not None:
        parse_setting(name, value)


def parse_setting(name: str, value: SettingValue) -> object:
    """Parse the value of a setting that there is. Raises InvalidInput."""
    section, _, part = name.partition(".")
    hints = get_type_hints(type(list_sections()[section]), include_extras=True)
    parse: SettingParser[object] = hints[part].__metadata__[0]
    return parse(RawSetting(value=to_toml_value(value), source=name, is_text=False))


def to_toml_value(value: SettingValue) -> TomlValue:
    """Return a value as it is written to the file."""
    return [*value] if isinstance(value, list | tuple) else value
