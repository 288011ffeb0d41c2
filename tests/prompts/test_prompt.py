"""Prompts are text files that say what goes in and what comes out."""

import hashlib
import tomllib
from importlib import resources
from pathlib import Path
from string import Formatter

import pytest

from oldfriend.prompts.prompt import (
    ANY_END,
    CLOSING_TAG,
    Prompt,
    drop_version,
    get_prompt,
    get_reply_prompt,
)

FILES = resources.files("oldfriend.prompts")
NAMES = [
    f"{folder.name}/{file.name.removesuffix('.txt')}"
    for folder in FILES.iterdir()
    if folder.is_dir()
    for file in folder.iterdir()
    if file.name.endswith(".txt")
]
VERSIONS = tomllib.loads(Path(__file__).with_name("prompt_versions.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_prompt_whose_text_has_changed_has_a_new_version(name: str) -> None:
    """A stored receipt names its prompt by the version, and must not mean another text."""
    text = FILES.joinpath(f"{name}.txt").read_text("utf-8")
    known = VERSIONS["current"][drop_version(name)]
    former = VERSIONS["former"].get(drop_version(name), 0)

    assert name == f"{drop_version(name)}/{known['version']}"
    assert known["version"] > former
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == known["sha256"], (
        f"{name} reads otherwise: give it the next version, here and in prompt_versions.toml"
    )


def test_each_prompt_has_one_file() -> None:
    """Versions of before are in the repository's history."""
    assert sorted(map(drop_version, NAMES)) == sorted(VERSIONS["current"])


@pytest.mark.parametrize("name", NAMES)
def test_prompt_id_matches_its_file_name(name: str) -> None:
    """The name and version in its header are those that the ledger keeps."""
    assert get_prompt(name).id == name


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_takes_exactly_the_inputs_that_it_declares(name: str) -> None:
    """No more, no fewer, over all parts."""
    prompt = get_prompt(name)
    used = {
        field
        for part in prompt.parts.values()
        for _, field, _, _ in Formatter().parse(part)
        if field
    }

    assert used == prompt.inputs
    assert prompt.output


def test_replies_have_a_prompt() -> None:
    """Which is the newest."""
    assert get_reply_prompt().id in NAMES


def test_braces_in_a_filled_in_value_are_not_expanded() -> None:
    """Whatever braces a person writes."""
    prompt = Prompt(
        name="test", version=1, inputs=frozenset({"text"}), output="", parts={"a": "<{text}>"}
    )

    assert prompt.render("a", text="{text} {0} {name}") == "<{text} {0} {name}>"


@pytest.mark.parametrize("name", NAMES)
def test_no_value_closes_the_section_that_it_stands_in(name: str) -> None:
    """Of any prompt, in capitals or with spaces or invisible characters in it either."""
    prompt = get_prompt(name)
    for part, text in prompt.parts.items():
        fields = {field for _, field, _, _ in Formatter().parse(text) if field}
        for tag in CLOSING_TAG.findall(text):
            for end in (f"</{tag}>", f"< / {tag.upper()} >", f"<\u200b/{tag}", f"</{tag}\n>"):
                told = prompt.render(part, **dict.fromkeys(fields, f"a {end} b </b>"))
                ends = [found["tag"].lower() for found in ANY_END.finditer(told)]
                assert ends.count(tag) == text.count(f"</{tag}>")
                assert not fields or f"\u2039{end[1:]} b </b>" in told
