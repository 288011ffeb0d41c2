"""Prompts are text files that say what goes in and what comes out."""

from importlib import resources
from string import Formatter

import pytest

from oldfriend.prompts.prompt import (
    ANY_END,
    CLOSING_TAG,
    Prompt,
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
