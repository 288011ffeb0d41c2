"""What clients show of a reply, and in how many messages."""

import json

import pytest

from oldfriend.channels.matrix.event_mapping import to_command
from oldfriend.channels.matrix.rendering import SPLITTER, build_content, get_shown_text, render


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**bold** _and_ `code`", "<p><strong>bold</strong> <em>and</em> <code>code</code></p>"),
        ("~~gone~~", "<p><s>gone</s></p>"),
        ("- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"),
        ("> said", "<blockquote>\n<p>said</p>\n</blockquote>"),
        ("```py\na < b\n```", '<pre><code class="language-py">a &lt; b\n</code></pre>'),
        ("[site](https://a.example)", '<p><a href="https://a.example">site</a></p>'),
        ("[odd](matrix:u/eve)", "<p>odd</p>"),
        ("[odd](javascript:alert(1))", "<p>[odd](javascript:alert(1))</p>"),
        ("![cat](https://a.example/c.png)", "<p>cat</p>"),
        ("<b>raw</b> & <script>", "<p>&lt;b&gt;raw&lt;/b&gt; &amp; &lt;script&gt;</p>"),
        ("[a\u202eb](https://a.example)", '<p><a href="https://a.example">a\ufffdb</a></p>'),
        ("**open", "<p>**open</p>"),
    ],
)
def test_markdown_is_html_of_which_nothing_is_the_writers(markdown: str, html: str) -> None:
    """Tags are ours alone; links lead to the web; pictures are words."""
    assert render(markdown) == html


def test_plain_text_has_no_html() -> None:
    """As it stands, also where it looks like Markdown."""
    assert build_content("**as is** <b>", is_markdown=False) == {
        "msgtype": "m.text",
        "body": "**as is** <b>",
        "m.mentions": {},
    }
    assert "formatted_body" not in build_content("Only words & such", is_markdown=True)


@pytest.mark.parametrize("is_markdown", [True, False])
def test_commands_are_shown_as_they_are_written_here(*, is_markdown: bool) -> None:
    """Since clients keep "/help" to themselves; paths and addresses stay."""
    told = "“/help tasks” says more, 用/todo写。 See https://a.example/help, /home/help or and/or."
    content = build_content(told, is_markdown=is_markdown)
    assert content["body"] == told.replace("“/", "“!").replace("用/", "用!")
    for each in ("/zone", "/todo", "/watch", "/join", "/tips"):
        assert to_command(f"!{each[1:]} x") == f"{each} x"


@pytest.mark.parametrize(
    "piece", ["word ", "漢字", "😀", "[a](https://a.example/" + "x" * 200 + ") "]
)
def test_every_part_fits_into_an_event(piece: str) -> None:
    """Also encrypted, in any script and with any markup."""
    for part in SPLITTER.split(piece * 3_000, is_markdown=True):
        content = build_content(part, is_markdown=True)
        assert len(json.dumps(content)) * 4 / 3 < 60_000
        assert str(content["body"]).strip()


def test_words_of_all_blocks_are_shown() -> None:
    """For the limit."""
    assert get_shown_text("# A\n\nb **c**\nd\n\n```\ne\n```") == "A\nb c\nd\ne\n"
