"""Command menu: the commands that people are offered, in groups, and what each does."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Final, Self

from oldfriend.lang.language_pack import (
    choose_language_with,
    list_languages,
    load_language_pack,
)

COMMAND_GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "reminders": ("remind", "schedule", "tasks", "done", "snooze", "cancel", "undo"),
        "goals": ("goal", "goals", "watches"),
        "records": ("journal", "log"),
        "memory": (
            "why",
            "facts",
            "history",
            "memory",
            "search",
            "learning",
            "summary",
            "compact",
            "new",
        ),
        "own": ("export", "forget", "purge"),
        "projects": ("project", "projects", "skill", "skills"),
        "choices": (
            "personality",
            "language",
            "zone",
            "active",
            "quiet",
            "digest",
            "recap",
            "heartbeat",
            "link",
            "unlink",
        ),
        "about": ("status", "cost", "tips", "help"),
    }
)
"""The commands that are offered wherever somebody talks to the companion, by group."""
OFFERED_COMMANDS: Final = tuple(each for group in COMMAND_GROUPS.values() for each in group)
MAX_NAME_CHARS: Final = 32
"""As platforms limit it that have a menu of commands."""
MAX_ASK_CHARS: Final = 100
EDGES: Final = " \t\n.,;:!?¡¿。，；：！？…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command as somebody writes it: "/Tasks@friend today" is named "tasks"."""

    name: str
    words: str  # what follows

    @property
    def text(self) -> str:
        """Return the command as it is offered."""
        return f"/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandMenu:
    """What is said of the commands in one language."""

    help: Mapping[str, str]
    groups: Mapping[str, str]
    does: Mapping[str, str]
    say: Mapping[str, str]

    @classmethod
    @cache
    def load(cls, language: str) -> Self:
        """Load the menu of a language; what it does not word is said in English."""
        fallback = load_language_pack("en").read("commands")
        pack = load_language_pack(choose_language_with("commands", language)).read("commands")
        return cls(
            help=pack.get("help", fallback["help"]),
            groups=pack.get("groups", fallback["groups"]),
            does=pack["does"],
            say=pack.get("say", fallback["say"]),
        )

    def format_help(self) -> str:
        """List the commands by group."""
        lines = [
            self.help["line"].format(
                group=self.groups[group], commands=" ".join(f"/{each}" for each in names)
            )
            for group, names in COMMAND_GROUPS.items()
        ]
        return "\n".join([self.help["head"], *lines, self.help["foot"]])

    def format_one(self, name: str) -> str | None:
        """Tell what one command does; None if none is called so."""
        does = self.does.get(name)
        return None if does is None else self.help["one"].format(command=f"/{name}", does=does)

    def format_unknown(self, name: str) -> str:
        """Tell that there is no such command, and which may be meant."""
        near = find_near_command(name)
        part = "unknown" if near is None else "near"
        return self.help[part].format(command=f"/{name}", near=f"/{near}")


def read_command(text: str) -> Command | None:
    """Return the command that a text begins with; None for any other text."""
    text = translate_command(text)
    first, *rest = text[: MAX_NAME_CHARS * 4].split(maxsplit=1) or [""]
    name = first.partition("@")[0].removeprefix("/").lower()
    is_name = name.isascii() and name[:1].isalpha() and name.replace("_", "a").isalnum()
    if not first.startswith("/") or not is_name or len(name) > MAX_NAME_CHARS:
        return None
    return Command(name=name, words=text.strip()[len(first) :].strip() if rest else "")


def translate_command(text: str) -> str:
    """Return a text with the command that it begins with by its own name: "/hilfe" is "/help"."""
    begins = text.lstrip()
    if not begins.startswith("/"):
        return text
    first = begins[: MAX_NAME_CHARS * 2].split(maxsplit=1)[0]
    name, at, addressee = first.partition("@")
    known = load_translated_names().get(name.removeprefix("/").lower())
    return text if known is None else f"/{known}{at}{addressee}{begins[len(first) :]}"


def translate_part(word: str) -> str:
    """Return what a word behind a command is called in English: "zurücksetzen" is "reset"."""
    return load_translated_parts().get(word.lower(), word.lower())


@cache
def load_translated_parts() -> Mapping[str, str]:
    """Load what the languages call parts of commands, each with its English word."""
    packs = (load_language_pack(each).read("commands") for each in list_languages("commands"))
    return MappingProxyType(
        {
            word: part
            for pack in packs
            for part, words in pack.get("parts", {}).items()
            for word in words
        }
    )


@cache
def load_translated_names() -> Mapping[str, str]:
    """Load what the languages call commands, each with the command's own name."""
    packs = (load_language_pack(each).read("commands") for each in list_languages("commands"))
    return MappingProxyType(
        {
            called: name
            for pack in packs
            for name, names in pack.get("names", {}).items()
            for called in names
        }
    )


def asks_for(name: str, text: str) -> bool:
    """Tell whether a whole text asks in words, of any language, for what a command does."""
    plain = " ".join(text[:MAX_ASK_CHARS].replace("\u2019", "'").split()).strip(EDGES).lower()
    return bool({plain, plain.removesuffix(" please").rstrip(EDGES)} & load_asks(name))


@cache
def load_asks(name: str) -> frozenset[str]:
    """Load the whole messages that ask for what a command does, of all languages."""
    packs = (load_language_pack(each).read("commands") for each in list_languages("commands"))
    return frozenset(ask for pack in packs for ask in pack.get("asks", {}).get(name, ()))


def find_near_command(name: str) -> str | None:
    """Return the command that somebody may have meant who wrote another name."""
    return next(iter(get_close_matches(name, OFFERED_COMMANDS, n=1, cutoff=0.7)), None)
