"""Calendar editions: which entries of a calendar file are the same, and which of them is newest."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from oldfriend.domain.clock import Micros, to_micros
from oldfriend.tasks.recurrence import to_utc

if TYPE_CHECKING:
    from icalendar import Component, vDDDTypes

MAX_UID_CHARS: Final = 300
MAX_SEQUENCE: Final = 2**31 - 1


def keep_newest(components: Sequence["Component"]) -> list["Component"]:
    """Leave out the entries of which the same file holds a newer edition."""
    newest: dict[tuple[str, ...], tuple[int, Micros]] = {}
    named = [(list_edition_keys(each), read_edition(each)) for each in components]
    for keys, edition in named:
        for key in keys:
            newest[key] = max(newest.get(key, edition), edition)
    return [
        component
        for component, (keys, edition) in zip(components, named, strict=True)
        if all(edition == newest[key] for key in keys)
    ]


def list_edition_keys(component: "Component") -> list[tuple[str, ...]]:
    """List the keys that editions of one entry share: its id with its title or its start.

    Different events of one id have neither in common. A day of a series has an id of its own.
    """
    uid, start = read_uid(component), read_moment(component, "DTSTART")
    if not uid or find_replaced(component) is not None:
        return [(uid,)] if uid else []
    title = " ".join(str(component.get("SUMMARY", "")).split())
    return [(uid, "title", title), (uid, "start", str(start))]


def read_edition(component: "Component") -> tuple[int, Micros]:
    """Return which edition of an entry this is: by its number, then by when it was changed."""
    return read_sequence(component) or 0, read_time(component, "LAST-MODIFIED") or 0


def read_sequence(component: "Component") -> int | None:
    """Return the number of an entry's edition; None if it has none that can be read."""
    stated = component.get("SEQUENCE")
    return int(stated) if isinstance(stated, int) and 0 <= stated <= MAX_SEQUENCE else None


def group_moved(components: Sequence["Component"]) -> dict[str, list["vDDDTypes"]]:
    """Return the times of each series in a file that are told on their own: moved or cancelled."""
    moved: dict[str, list[vDDDTypes]] = {}
    for each in components:
        if (day := find_replaced(each)) is not None and each.get("UID"):
            moved.setdefault(str(each.get("UID")), []).append(day)
    return moved


def find_replaced(component: "Component") -> "vDDDTypes | None":
    """Return which time of a series an entry replaces; None if none, or none that can be read."""
    day: vDDDTypes | None = component.get("RECURRENCE-ID")
    return None if read_moment(component, "RECURRENCE-ID") is None else day


def read_moment(component: "Component", name: str) -> date | datetime | None:
    """Return the day or time that an entry states by a name; None without one that can be read."""
    try:
        stated = component.get(name).dt
    except (AttributeError, ValueError):  # a broken one tells so only when it is read
        return None
    return stated if isinstance(stated, date) else None


def read_uid(component: "Component") -> str:
    """Return the id of an entry; a moved day of a series has one of its own.

    Empty without one, or if it cannot be read which day that is.
    """
    uid, day = str(component.get("UID") or ""), read_moment(component, "RECURRENCE-ID")
    if day is None and component.get("RECURRENCE-ID") is not None:
        return ""
    return clean_uid(uid if day is None or not uid else f"{uid}/{day.isoformat()}")


def clean_uid(uid: str) -> str:
    """Return an id in one line of the length that is kept."""
    return " ".join(uid.split())[:MAX_UID_CHARS]


def normalize_uid(uid: str, zone: str) -> str:
    """Return an id of a time of a series by its moment, in whatever zone it was told."""
    series, _, day = uid.rpartition("/")
    if not series or "T" not in day:
        return uid
    try:
        stated = datetime.fromisoformat(day)
        moment = to_utc(stated, zone) if stated.tzinfo is None else stated.astimezone(UTC)
    except (ValueError, OverflowError):
        return uid
    return f"{series}/{moment.isoformat()}"


def read_stamp(component: "Component") -> Micros | None:
    """Return when an entry was made or changed last; None if it does not say."""
    times = [read_time(component, each) for each in ("DTSTAMP", "LAST-MODIFIED")]
    return max((each for each in times if each is not None), default=None)


def read_time(component: "Component", name: str) -> Micros | None:
    """Return the moment that an entry states by a name; None if it states none."""
    stated = read_moment(component, name)
    if not isinstance(stated, datetime):
        return None
    return to_micros(stated if stated.tzinfo else stated.replace(tzinfo=UTC))
