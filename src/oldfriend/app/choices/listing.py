"""Which choices are there to look at and to change, and where does each come from?

What a page may change is named here; the rest is for whoever runs the machine. It does not know
how a choice is taken over by a process that runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, TypeAlias, get_type_hints

from oldfriend.app.choices.choosing import Given, Reader
from oldfriend.app.choices.settings import (
    RELOADABLE,
    SECTIONS,
    Settings,
    from_environment,
)
from oldfriend.app.choices.settings_file import read_file, text_of
from oldfriend.app.choices.settings_writing import Written, replace_file, write_choices
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying
from oldfriend.ledger.spending import DOLLAR

Value: TypeAlias = bool | int | float | str | Sequence[str] | None

ONLY_BY_HAND: Final = frozenset({
    "serve.host", "serve.port", "telegram.base_url", "telegram.webhook", "telegram.webhook_host",
    "telegram.webhook_port", "limits.lease_s", "limits.heartbeat_s",
})  # fmt: skip
"""With these one could shut oneself out, or send what is secret elsewhere."""
MONEY: Final = frozenset({"budget.background_per_day", "budget.all_per_day"})
"""Kept in millionths, written in dollars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """One setting as it is now."""

    name: str
    value: Value  # that holds in the process that was asked
    default: Value
    written: Value  # in the file; None: nothing is
    fixed_by: str | None  # the variable that wins over the file
    takes_new_start: bool


def list_chosen(settings: Settings) -> list[Chosen]:
    """Every setting that may be changed here. Raises InvalidInput where the file is broken."""
    written = read_file(settings.file)
    fixed = dict(from_environment(settings.environment))
    return [
        Chosen(
            name=name, value=shown(name, value), default=shown(name, default),
            written=given_value(written.get(name)),
            fixed_by=fixed[name].where if name in fixed else None,
            takes_new_start=not is_reloadable(name),
        )
        for name, value, default in values_of(settings)
    ]  # fmt: skip


def values_of(settings: Settings) -> Iterator[tuple[str, object, object]]:
    """Each name with its value and what holds without a choice."""
    for place, kind in SECTIONS.items():
        usual = kind()
        for part in fields(kind):
            name = f"{place}.{part.name}"
            if name not in ONLY_BY_HAND:
                yield name, getattr(getattr(settings, place), part.name), getattr(usual, part.name)


def shown(name: str, value: object) -> Value:
    """A value as it is written."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value / DOLLAR if name in MONEY else value
    if isinstance(value, float):
        return value
    assert isinstance(value, tuple)
    return [str(each) for each in value]


def given_value(given: Given | None) -> Value:
    """What stands in the file, as far as it can be shown."""
    if given is None:
        return None
    value = given.value
    if isinstance(value, list):
        return [str(each) for each in value]
    return value if isinstance(value, bool | int | float | str) else str(value)


def is_reloadable(name: str) -> bool:
    """Whether a process that runs takes it over."""
    return name in RELOADABLE or name.partition(".")[0] in RELOADABLE


def write_chosen(settings: Settings, choices: Mapping[str, Value]) -> str:
    """Keep choices in the file (None: as usual); what stood in it. Raises InvalidInput."""
    fixed = dict(from_environment(settings.environment))
    for name, value in choices.items():
        if name in fixed:
            raise InvalidInput(saying(
                "setting_fixed",
                f"{name} is set by {fixed[name].where}, which wins. Change it there.", name=name,
                where=fixed[name].where,
            ))  # fmt: skip
        check(name, value)
    before = text_of(settings.file)
    write_choices(settings.file, {name: writable(value) for name, value in choices.items()})
    return before


def put_back(file: Path, text: str) -> None:
    """Let the file read as it did."""
    replace_file(file, text)


def check(name: str, value: Value) -> None:
    """Raise InvalidInput for what cannot be chosen."""
    place, _, part = name.partition(".")
    kind = SECTIONS.get(place)
    if kind is None or part not in {each.name for each in fields(kind)}:
        raise InvalidInput(
            saying("setting_unknown", f"There is no setting {name[:80]!r}.", name=name[:80])
        )
    if name in ONLY_BY_HAND:
        raise InvalidInput(saying(
            "setting_by_hand", f"{name} is only changed in the file of settings itself.", name=name,
        ))  # fmt: skip
    if value is not None:
        read: Reader[object] = get_type_hints(kind, include_extras=True)[part].__metadata__[0]
        read(Given(value=writable(value), where=name, is_text=False))


def writable(value: Value) -> Written:
    """A value as it goes into the file."""
    return [*value] if isinstance(value, list | tuple) else value
