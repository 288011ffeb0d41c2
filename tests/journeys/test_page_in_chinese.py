"""Whoever reads Chinese meets no sentence in English: what the house says is told in Chinese."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.serving import on_any_port, served
from tests.fakes.telegram import running_telegram
from tests.journeys.browsers import NEEDS_CHROMIUM
from tests.journeys.pages import new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
SENTENCE = re.compile(r"[A-Za-z]+(?:,? [A-Za-z]+){2,}")
AMBIGUOUS = "\n".join(
    [
        "03/05/2024, 18:30 - 安娜: 我们搬到里斯本了！",
        "03/05/2024, 18:31 - 诺拉: 我在公园街的面包店上班。",
    ]
)
BROKEN = '{"speaker": "诺拉", "at": "2024-05-03T18:30:00Z", "text": "你好"}\n{"at": 1}\n'


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """A process that serves somebody who has said something."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.done("say", "我住在里斯本。")
    with served(program):
        yield program


def home_of(page: Page) -> str:
    """Where the page is, without a place."""
    return "/".join(page.url.split("/")[:3])


def english_in(texts: list[str]) -> list[str]:
    """What of it is a sentence in English; addresses, names and commands are none."""
    return [each for each in texts if SENTENCE.search(each)]


def told_by_the_doctor(page: Page) -> list[str]:
    """What it says, once it has looked."""
    page.get_by_role("button", name="现在检查").click()
    expect(page.locator(".findings li")).not_to_have_count(0, timeout=60_000)
    return page.locator(".findings li").all_inner_texts()


def tries_a_model_that_is_not_there(page: Page) -> str:
    """Why it does not work."""
    page.locator("#models").get_by_role("button", name="更改").first.click()
    page.locator("#models select").first.select_option("ollama")
    page.get_by_role("combobox", name="模型").fill("tiny")
    page.get_by_label("地址").fill("http://localhost:9/v1")
    page.get_by_role("button", name="试一下").click()
    told = page.locator("#models p.bad[role=status]")
    expect(told).not_to_be_empty(timeout=60_000)
    return told.inner_text()


def hands_over(page: Page, file: Path, text: str) -> list[str]:
    """What is told of a file, once it was looked into."""
    file.write_text(text, "utf-8")
    page.locator("input[type=file]").set_input_files(file)
    parcel = page.locator(".parcel", has_text=file.name)
    expect(parcel.get_by_role("button", name="暂不导入")).to_be_visible()
    return parcel.locator("p:not(.parcel-name, :has(select))").all_inner_texts()


def test_server_messages_are_shown_in_chinese_on_a_chinese_page(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """By the doctor, of a model that does not answer, of what an import holds, and of a refusal."""
    with opened(browser, new_link(program), locale="zh-CN") as (page, _):
        page.locator(".composer").wait_for()
        page.goto(f"{home_of(page)}/bring")
        noticed = hands_over(page, tmp_path / "WhatsApp Chat with Anna.txt", AMBIGUOUS)
        broken = hands_over(page, tmp_path / "talk.jsonl", BROKEN)
        unknown = hands_over(page, tmp_path / "photo.bin", "\x00\x01")
        page.goto(f"{home_of(page)}/settings")
        name = page.get_by_label("你的名字")
        name.fill("\u200b")
        name.blur()
        refused = page.locator("#you .bad").inner_text()
        page.goto(f"{home_of(page)}/settings/models")
        tried = tries_a_model_that_is_not_there(page)
        findings = told_by_the_doctor(page)

    assert "日期有不止一种读法；这里按 31/12/2023 那样读取。" in noticed
    assert any("第 2 行" in each for each in broken)
    assert any("不是可以导入的文件" in each for each in unknown)
    assert "不能作为名字" in refused
    assert "联系不上 ollama" in tried
    assert any("完好" in each for each in findings)
    assert any("条消息" in each for each in findings)
    assert english_in([*noticed, *broken, *unknown, refused, tried, *findings]) == []


def test_numbers_are_formatted_in_the_page_language(browser: Browser, program: Program) -> None:
    """Whatever else the browser speaks."""
    told = {"code": "text_unfit", "text": "", "values": {"most": 500, "count": 3000}}
    with opened(browser, new_link(program), locale="pt-PT") as (page, _):
        page.locator(".composer").wait_for()
        words = page.evaluate(
            """async (told) => {
              const { use } = await import(document.querySelector("script").src);
              return use("js/i18n.js").translateServerText(told); }""",
            told,
        )

    assert words == "Use 1 to 500 characters, not 3,000."


def test_channel_failure_notice_is_shown_in_chinese(browser: Browser, tmp_path: Path) -> None:
    """On every place, as long as it is so."""
    with running_telegram() as world:
        variables = {"TOKEN": f"{world.token}x", "BASE_URL": world.url}
        program = on_any_port(
            Program(data=tmp_path / "data"),
            **{f"OLDFRIEND_TELEGRAM_{name}": value for name, value in variables.items()},
        )
        program.done("say", "我住在里斯本。")
        with served(program), opened(browser, new_link(program), locale="zh-CN") as (page, _):
            trouble = page.locator(".companion p.bad")
            expect(trouble).to_be_visible()
            told = trouble.inner_text()

    assert "不认识这个令牌" in told
    assert english_in([told]) == []
