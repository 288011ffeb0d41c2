"""The files of the page: that they are what they were, and fetch nothing from elsewhere."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from oldfriend.api.web_app import STATIC_DIR
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.turn.prompt_builder import CACHED_SECTIONS, FIRST_CHANGING_SECTIONS

VENDOR = STATIC_DIR / "vendor"
OWN = sorted(
    path
    for path in STATIC_DIR.rglob("*")
    if path.is_file() and VENDOR not in path.parents and path.suffix != ".png"
)
ELSEWHERE = re.compile(r"(?:https?:)?//(?!www\.w3\.org/2000/svg)[\w.-]+\.\w+")
PHRASE = re.compile(r"^  (\w+): ", re.M)


def test_vendored_files_match_their_manifest_and_digests() -> None:
    """With version, licence and digest; nothing else lies beside it."""
    listed = json.loads((VENDOR / "vendor.json").read_text("utf-8"))
    licences = {each["license_file"] for each in listed.values()}

    for name, each in listed.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == each["sha256"], name
        assert each["version"]
        assert each["license"] in {"MIT", "ISC", "Apache-2.0"}
    assert {path.name for path in VENDOR.iterdir()} == {*listed, *licences, "vendor.json"}


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_page_files_load_no_external_resources_and_no_inline_code(path: Path) -> None:
    """And has no script or style of its own within, nor text that becomes elements."""
    text = path.read_text("utf-8")

    assert not ELSEWHERE.search(text)
    assert not re.search(r"innerHTML|dangerously|eval\(|<style|\son\w+=\"", text)
    assert len(text.splitlines()) <= 400


def phrases_of(language: str) -> list[str]:
    """The names of all that is said in a language, place by place."""
    parts = sorted((STATIC_DIR / "js" / "i18n" / language).iterdir())
    return [name for part in parts for name in PHRASE.findall(part.read_text("utf-8"))]


def test_every_page_language_has_the_same_phrases() -> None:
    """A phrase in one book is in each, and once."""
    books = {part.stem for part in (STATIC_DIR / "js" / "i18n").iterdir()}
    said = phrases_of("en")

    assert books == {"de", "en", "es", "fr", "zh"}
    assert said == phrases_of("zh")
    assert len(set(said)) == len(said)


def test_every_part_of_a_prompt_has_a_name_in_words() -> None:
    """As a receipt shows it; the others are named by whose belief they hold."""
    parts = (*CACHED_SECTIONS, *FIRST_CHANGING_SECTIONS, "recent", "message", "tools")
    names = {f"section_{each.replace(' ', '_')}" for each in parts}

    assert names <= {*phrases_of("en")}


CHOSEN = (
    "kind_",
    "status_",
    "place_",
    "forget_way_",
    "forget_count_",
    "forget_in_",
    "problem_",
    "said_",
    "thinking_why_",
    "section_",
    "tasks_every_",
    "impulse_",
    "decision_",
    "tool_status_",
    "measure_",
    "tie_",
    "unasked_none_",
    "settings_join_",
    "openai_title",
    "web_title",
)
"""What is put together from a name that the house tells."""


def test_every_defined_phrase_is_used_and_every_used_phrase_is_defined() -> None:
    """Neither is left over, nor missing."""
    said = set(phrases_of("en"))
    scripts = "".join(
        path.read_text("utf-8")
        for path in (STATIC_DIR / "js").rglob("*.js")
        if "i18n" not in path.relative_to(STATIC_DIR / "js").parts[:-1]
    )
    used = set(re.findall(r"\bt\(\s*\"(\w+)\"", scripts))
    of_channel = set(re.findall(r"`\$\{channel\}_(\w+)`", scripts))
    used |= {f"{channel}_{part}" for channel in CHANNELS for part in of_channel}
    used |= {
        f"{spec.name}_credential_{each.name}"
        for spec in CHANNELS.values()
        for each in spec.credentials * (len(spec.credentials) > 1)
    }
    named = {name for name in said if f'"{name}"' in scripts or name.startswith(CHOSEN)}

    assert used <= said
    assert said == used | named


ON = {
    "paper": ("ink", "ink-2", "accent", "good", "bad"),
    "paper-2": ("ink", "ink-2", "warn", "bad"),
    "bubble": ("ink", "ink-2"),
    "accent-soft": ("ink",),
    "accent": ("on-accent",),
}
"""Which ink stands on which ground."""


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_colors_meet_wcag_contrast_in_both_themes(theme: int) -> None:
    """4.5 : 1 at least, by the measure of WCAG 2."""
    blocks = re.findall(
        r":root \{(.*?)\}", (STATIC_DIR / "css" / "frame.css").read_text("utf-8"), re.S
    )
    tokens = dict(re.findall(r"--([\w-]+): (#\w{6});", blocks[theme]))
    weak = {
        (ink, ground): round(ratio, 2)
        for ground, inks in ON.items()
        for ink in inks
        if (ratio := contrast(tokens[ink], tokens[ground])) < 4.5
    }

    edges = [contrast(tokens["edge"], tokens[each]) for each in ("paper", "paper-2", "bubble")]

    assert weak == {}
    assert min(edges) >= 3


def contrast(one: str, other: str) -> float:
    """How much lighter one colour is than another."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """How light a colour is, 0 to 1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
