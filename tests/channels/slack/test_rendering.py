"""Markdown as Slack's rich text: always what Slack takes, and what people see is what was said."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oldfriend.channels.slack.rendering import (
    MAX_TEXT_UNITS,
    SPLITTER,
    build_blocks,
    escape,
    get_shown_text,
    render,
)
from oldfriend.channels.splitting import ReplySplitter, count_utf16_units
from oldfriend.domain.buttons import Button
from tests.channels.telegram.test_rendering import PIECES
from tests.fakes.slack import is_block, seen


def blocks(markdown: str) -> list[object]:
    """The blocks of a reply."""
    return [*build_blocks(markdown, is_markdown=True, buttons=())]


def test_marks_become_styles_and_blocks() -> None:
    """Bold, code, lists, quotations, tables and links."""
    shown = render(
        "# Plan\n\n**Bold** and `code`, *it* and ~~not~~\n\n> quoted\n\n1. one\n2. two\n   - deep\n"
        "3. three\n\n```py\nx < 1\n```\n\n|a|b|\n|-|-|\n|c|d|\n\n[here](https://a.example/?a&b)"
    )
    kinds = [str(each["type"]).removeprefix("rich_text_") for each in shown]
    assert kinds == [
        *("section", "section", "quote", "list", "list", "list"),
        *("preformatted", "preformatted", "section"),
    ]
    text = repr(shown)
    assert "{'type': 'text', 'text': 'Bold', 'style': {'bold': True}}" in text
    assert "{'type': 'text', 'text': 'code', 'style': {'code': True}}" in text
    assert "'url': 'https://a.example/?a&b', 'text': 'here'" in text
    assert [(each["style"], each["indent"], each.get("offset")) for each in shown[3:6]] == [
        ("ordered", 0, None),
        ("bullet", 1, None),
        ("ordered", 0, 2),
    ]


def test_nothing_in_a_text_calls_people_or_hides_where_a_link_goes() -> None:
    """Markup of Slack in what is said is words; only web links are links."""
    text = "<!channel> <@U1> <#C1|b> [x](javascript:alert) [y](slack://z) &lt;"
    shown = repr(render(text))

    assert seen(blocks(text)).strip().startswith("<!channel> <@U1> <#C1|b>")
    assert "'url'" not in shown
    turned = seen(blocks("[a\u202emoc.elpaxe](https://b.example)"))
    assert "\u202e" not in turned
    assert escape("<!channel> & co") == "&lt;!channel&gt; &amp; co"


@given(st.lists(PIECES, max_size=25).map("".join))
@example("- \n  - a\n\n    b")
@example("> - a\n> \n> ```\n> x\n> ```")
@example("![](x)")
@example("[](https://a.example)")
def test_any_markdown_becomes_what_slack_takes(markdown: str) -> None:
    """Whatever is written; nothing that is seen is lost."""
    if not SPLITTER.split(markdown, is_markdown=True):
        return
    made = blocks(markdown)

    assert all(map(is_block, made))
    assert re.sub(r"\s", "", seen(made)) == re.sub(r"\s", "", get_shown_text(markdown))


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(8, 40))
def test_split_parts_fit_the_limit_and_splitting_is_idempotent(markdown: str, most: int) -> None:
    """Whoever cuts it a second time gets the same."""
    splitter = ReplySplitter(get_shown_text, most)
    parts = splitter.split(markdown, is_markdown=True)

    assert all(0 < count_utf16_units(get_shown_text(part)) <= most for part in parts)
    assert all(splitter.split(part, is_markdown=True) == [part] for part in parts)


@given(st.lists(PIECES, min_size=1, max_size=25).map("".join).filter(str.strip))
def test_text_that_is_no_markdown_is_shown_as_it_stands(text: str) -> None:
    """A quotation of the person's words keeps every character."""
    made = [*build_blocks(text, is_markdown=False, buttons=())]

    assert all(map(is_block, made))
    assert seen(made).removesuffix("\n") == text


def test_long_code_stays_code_and_buttons_stand_below() -> None:
    """Each part is a block of its own; a press carries its command."""
    parts = SPLITTER.split("```py\n" + "x = 1\n" * 2_000 + "```", is_markdown=True)
    assert len(parts) > 3
    assert all(render(part)[0]["type"] == "rich_text_preformatted" for part in parts)
    assert all(count_utf16_units(get_shown_text(part)) <= MAX_TEXT_UNITS for part in parts)
    made = build_blocks("Really?", is_markdown=True, buttons=[Button("Y" * 90, "/yes")])
    assert all(map(is_block, made))


@pytest.mark.parametrize("unit", ["> ", "- a\n  ", "*a **b* ", "[a](", "|a|b|\n|-|-|\n"])
def test_adversarial_markdown_takes_bounded_time(unit: str) -> None:
    """However deep it is nested."""
    began = time.thread_time()
    parts = SPLITTER.split(unit * (3_000 // len(unit)), is_markdown=True)

    assert time.thread_time() - began < 5
    assert all(all(map(is_block, blocks(part))) for part in parts)
