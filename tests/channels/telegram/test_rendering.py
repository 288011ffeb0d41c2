"""What a model writes looks on Telegram as it was meant, and never breaks Telegram's HTML."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oldfriend.channels.splitting import count_utf16_units
from oldfriend.channels.telegram.rendering import render, render_text

ALLOWED = {"b", "i", "s", "a", "code", "pre", "blockquote"}
PIECES = st.sampled_from(
    [
        "**",
        "*",
        "_",
        "~~",
        "`",
        "```\n",
        "```py\n",
        "# ",
        "> ",
        "- ",
        "1. ",
        "|",
        "\n",
        "\n\n",
        "<",
        ">",
        "&",
        "[a](http://b.c)",
        "[a](tg://x)",
        "](",
        "![",
        "\\",
        "</b>",
        "<1m",
        "word ",
        "\u4f60\u597d",
        "\U0001f600",
        "|a|b|\n|-|-|\n|1|2|\n",
        "    code\n",
        "---\n",
        "\x00",
        "\ud800",
    ]
)


class Strict(HTMLParser):
    """Refuses what Telegram refuses: unknown or crossed tags, code and quotations in others."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        assert not (tag in {"code", "pre"} and {*self.open} - {"pre", "blockquote"}), self.open
        assert not (tag in {"pre", "blockquote"} and self.open), self.open
        assert not {"code"} & {*self.open}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**bold** and *thin* and ~~gone~~", "<b>bold</b> and <i>thin</i> and <s>gone</s>"),
        ("in <1m & more", "in &lt;1m &amp; more"),
        ("`x<y`", "<code>x&lt;y</code>"),
        ("```py\na < b\n```", '<pre><code class="language-py">a &lt; b</code></pre>'),
        ("**half open", "**half open"),
        ("```\nhalf open", "<pre>half open</pre>"),
        ('[go](https://a.b/?x=1&y="2")', '<a href="https://a.b/?x=1&amp;y=%222%22">go</a>'),
        ("[Ana](tg://user?id=1)", "[Ana](tg://user?id=1)"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("# Title\ntext", "<b>Title</b>\n\ntext"),
        ("- a\n- b\n  - c", "\u2022 a\n\u2022 b\n   \u2022 c"),
        ("3. x\n4. y", "3. x\n4. y"),
        ("> so\n> it is", "<blockquote>so\nit is</blockquote>"),
        ("|A|Bee|\n|-|-|\n|1|*2*|", "<pre>A \u2502 Bee\n1 \u2502 2</pre>"),
        ("<b>no tag</b>", "&lt;b&gt;no tag&lt;/b&gt;"),
        ("**bold `code`**", "<b>bold code</b>"),
        ("one\ntwo", "one\ntwo"),
        ("", ""),
    ],
)
def test_markdown_is_rendered_as_telegram_html(markdown: str, html: str) -> None:
    """What Telegram cannot show is shown as plain words."""
    assert render(markdown).text == html


@given(st.lists(PIECES, max_size=25).map("".join))
@example("*a **b* c**")
@example("> ```\n> x\n> ```")
def test_rendered_html_is_well_formed_for_any_markdown(markdown: str) -> None:
    """Tags are known, closed and nested as Telegram wants; what is seen is what was counted."""
    rendered = render(markdown)
    strict = Strict()
    strict.feed(rendered.text)
    strict.close()

    assert strict.open == []
    assert re.sub(r"\s", "", strict.text) == re.sub(r"\s", "", rendered.visible)


def test_length_is_counted_in_utf16_units_without_tags() -> None:
    """An emoji is two units; tags are none."""
    assert count_utf16_units("a\U0001f600") == 3
    assert count_utf16_units(render("**ab**").visible) == 2


@given(st.lists(PIECES, max_size=25).map("".join))
@example(r"My wifi password is a*b\_c*d~e~f&amp;g and `x`.")
def test_text_that_is_no_markdown_is_shown_as_it_stands(text: str) -> None:
    """A quotation of the person's words keeps every character."""
    strict = Strict()
    strict.feed(render_text(text, is_markdown=False).text)
    strict.close()

    assert render_text(text, is_markdown=False).visible == strict.text == text


def test_words_of_a_link_are_not_turned_around() -> None:
    """What would turn the label around is shown as a mark that does nothing."""
    assert render("[a\u202eb\u2066](http://c.d)").visible == "a\ufffdb\ufffd"
