"""Settings in a browser: what is changed holds at once, can be undone, and signs one in again."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from oldfriend.channels.channel_registry import CHANNELS
from tests.cli.serving import Running, on_any_port, served
from tests.fakes.local_servers import FakeModel, FakeOllama
from tests.fakes.local_servers import running as fake_server
from tests.journeys.browsers import LONGEST_MS, NEEDS_CHROMIUM
from tests.journeys.pages import go_to_settings, new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
SIGNED_OUT = "401 (Unauthorized)"
MOST_HIGH_PX = 600
"""Of other apps, on a phone."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One process for all of these."""
    data = tmp_path_factory.mktemp("settings") / "data"
    with served(on_any_port(Program(data=data))) as one:
        yield one


def toml_of(running: Running) -> str:
    """What stands in the file of settings."""
    file = running.program.data / "oldfriend.toml"
    return file.read_text() if file.exists() else ""


def test_local_model_is_connected_and_undone_with_one_click(
    browser: Browser, tmp_path: Path
) -> None:
    """It is shown with what it is good for, tried, and answers from then on; undone as quickly."""
    models = [FakeModel(name="qwen3:8b"), FakeModel(name="nomic-embed-text", embeds=True)]
    with fake_server(FakeOllama(models)) as fake:
        where = {"OLDFRIEND_PROVIDERS_OLLAMA_BASE_URL": fake.base_url}
        program = Program(data=tmp_path / "data", environment=where)
        with (
            served(on_any_port(program)) as one,
            opened(browser, new_link(one.program)) as (page, complaints),
        ):
            go_to_settings(page, "Models")
            expect(page.get_by_text("ollama runs at")).to_be_visible()
            expect(page.get_by_text("good for talk and for learning")).to_be_visible()
            expect(page.get_by_text("for search by meaning only")).to_be_visible()
            expect(page.get_by_role("button", name="Use it: nomic-embed-text")).to_have_count(0)
            chats = fake.chats
            page.get_by_role("button", name="Use it: qwen3:8b").click()
            expect(page.get_by_text("Replies: saved.")).to_be_visible()
            taken = toml_of(one)
            expect(page.get_by_text("ollama runs at")).to_have_count(0)
            page.get_by_role("button", name="Undo").click()
            expect(page.get_by_text("ollama runs at")).to_be_visible()

    assert chats == []
    assert 'main = ["ollama:qwen3:8b"]' in taken
    assert complaints == []


def test_list_to_keep_an_eye_on_is_written_and_taken_back(
    browser: Browser, running: Running
) -> None:
    """One thing on each line, as `/heartbeat` keeps it; how often is asked once there is one."""
    with opened(browser, new_link(running.program)) as (page, complaints):
        go_to_settings(page, "When may I write first?")
        field = page.get_by_label("What I should keep an eye on")
        expect(field).to_have_value("")
        field.fill("Is an exam near?\n- Have I called Ana?")
        field.blur()
        expect(page.get_by_text("What I should keep an eye on: saved.")).to_be_visible()
        expect(field).to_have_value("Is an exam near?\nHave I called Ana?")
        page.get_by_label("How often I look").select_option("every 2 hours")
        said = running.program.done("say", "/heartbeat").stdout
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_label("How often I look")).to_have_value("30")

    assert "Have I called Ana?" in said
    assert "120" in said
    assert complaints == []


def test_list_that_is_too_long_is_not_sent_and_says_so(browser: Browser, running: Running) -> None:
    """In words, with how much fits; once it is shorter, it is kept."""
    lines = [f"Is exam {number} near?" for number in range(1, 22)]
    with opened(browser, new_link(running.program)) as (page, complaints):
        go_to_settings(page, "When may I write first?")
        field = page.get_by_label("What I should keep an eye on")
        before, alert = field.input_value(), page.get_by_role("alert")
        field.fill("\n".join(lines))
        field.blur()
        expect(alert).to_contain_text("20 lines at most")
        field.fill("a" * 201)
        field.blur()
        expect(alert).to_contain_text("200 characters at most")
        field.fill("\n".join(lines[:20]))
        expect(alert).to_have_count(0)
        field.blur()
        expect(page.get_by_text("What I should keep an eye on: saved.")).to_be_visible()
        expect(page.get_by_label("How often I look")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(field).to_have_value(before)

    assert complaints == []


def test_changed_settings_are_saved_and_undone(browser: Browser, running: Running) -> None:
    """Character with its versions, a switch and an amount in the file; each with its undo."""
    with opened(browser, new_link(running.program)) as (page, complaints):
        go_to_settings(page, "Character")
        who = page.get_by_label("Who I am")
        for number, text in enumerate(("You are Mira.", "You are Mira, and like rivers."), 1):
            who.fill(text)
            who.blur()
            expect(page.get_by_text("Who I am: saved.")).to_be_visible()
            expect(page.get_by_text(f"version {number},").first).to_be_visible()
        page.get_by_text("Earlier versions").first.click()
        expect(page.locator(".difference ins", has_text="and like rivers")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(who).to_have_value("You are Mira.")
        expect(page.locator(".versions").first.get_by_text("version 3,")).to_be_visible()
        page.get_by_label("Think between conversations").click()
        expect(page.get_by_text("Think between conversations: saved.")).to_be_visible()
        switched = toml_of(running)
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("Undone.")).to_be_visible()
        go_to_settings(page, "Budget and spending")
        amount = page.get_by_label("In the background, a day")
        amount.fill("0.25")
        amount.blur()
        expect(page.get_by_text("In the background, a day: saved.")).to_be_visible()
        go_to_settings(page, "Memory and thinking")
        page.get_by_label("Keep words for").fill("30")
        page.keyboard.press("Tab")
        expect(page.get_by_text("more than 30 days ago is deleted")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_label("Keep words for")).to_have_value("")
        wide = page.locator("html").evaluate("e => e.scrollWidth - e.clientWidth")
        page.set_viewport_size({"width": 390, "height": 780})
        narrow = page.locator(".place").evaluate("e => e.scrollWidth - e.clientWidth")
        cut = page.locator(".places span").evaluate_all(
            "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
        )

    assert "thinks = false" in switched
    assert "thinks" not in toml_of(running)
    assert "messages_days" not in toml_of(running)
    assert "background_per_day = 0.25" in toml_of(running)
    assert (wide, narrow, cut) == (0, 0, [])
    assert complaints == []


def test_a_passkey_signs_in_after_signing_out(browser: Browser, running: Running) -> None:
    """Made on one page, with a device that knows its person; no link is needed then."""
    with opened(browser, new_link(running.program)) as (page, complaints):
        with_device(page.context, page)
        go_to_settings(page, "Signing in")
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_role("button", name="remove: Chrome on Linux")).to_be_visible()
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_label("Say something …")).to_be_visible()
        go_to_settings(page, "Signing in")
        expect(page.get_by_text("this one · with a passkey")).to_be_visible()

    assert [each for each in complaints if SIGNED_OUT not in each] == []


def with_device(context: BrowserContext, page: Page) -> None:
    """A device that keeps passkeys, and whose owner always agrees."""
    device = context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    device.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )


def test_invited_guest_sees_only_their_own_settings(browser: Browser, running: Running) -> None:
    """In a browser of their own; what is the owner's alone is not offered to them."""
    with opened(browser, new_link(running.program)) as (page, complaints):
        go_to_settings(page, "People")
        page.get_by_placeholder("Name of somebody to invite").fill("Ana")
        page.get_by_role("button", name="Invite", exact=True).click()
        link = page.locator(".shown-once pre").inner_text()
        with opened(browser, link) as (theirs, their_complaints):
            theirs.get_by_role("link", name="Settings", exact=True).click()
            expect(theirs.get_by_label("Your name")).to_have_value("Ana")
            headings = theirs.locator(".setting > h3").all_inner_texts()
            go_to_settings(theirs, "Character")
            expect(theirs.locator(".setting > h3")).to_have_text(
                ["Character", "When may I write first?", "Tools", "What I did for you"]
            )
            parts = theirs.locator(".settings-nav h3").all_inner_texts()
        go_to_settings(page, "Signing in")
        page.get_by_label("What for").fill("backup")
        page.get_by_role("button", name="Make a token").click()
        expect(page.locator(".shown-once pre").last).to_contain_text("oldfriend_")

    assert headings == ["About you", "Other apps", "Health data", "Signing in"]
    assert parts == ["You", "Companion"]
    assert complaints == their_complaints == []


def test_token_request_retried_after_lost_response_is_created_once(
    browser: Browser, running: Running
) -> None:
    """A token is not made twice because the connection broke after it was made."""
    with opened(browser, new_link(running.program)) as (page, _):
        go_to_settings(page, "Signing in")

        def lose(route: Route) -> None:
            route.fetch()
            route.abort()

        page.route("**/api/v1/tokens", lose, times=1)
        page.get_by_label("What for").fill("watering")
        page.get_by_role("button", name="Make a token").click()
        expect(page.locator("#signing .bad")).to_be_visible()
        page.get_by_role("button", name="Make a token").click()
        expect(page.locator(".shown-once pre").last).to_contain_text("oldfriend_")
        page.get_by_label("What for").fill("watering")
        page.get_by_role("button", name="Make a token").click()
        made = page.get_by_role("button", name="end: watering")
        expect(made).to_have_count(2)  # once it was answered, the next is another


def test_renewed_token_is_shown_once(browser: Browser, running: Running) -> None:
    """Beside the one that it replaces; it is the same one in the list."""
    with opened(browser, new_link(running.program)) as (page, complaints):
        go_to_settings(page, "Signing in")
        page.get_by_label("What for").fill("porch")
        page.get_by_role("button", name="Make a token").click()
        shown = page.locator(".shown-once pre").last
        expect(shown).to_contain_text("oldfriend_")
        before = shown.inner_text()
        page.get_by_role("button", name="renew: porch").click()
        page.get_by_role("button", name="renew", exact=True).click()
        expect(shown).not_to_have_text(before)
        expect(shown).to_contain_text("oldfriend_")
        expect(page.locator(".shown-once").last).to_contain_text("This is the secret of “porch”")
        expect(page.get_by_role("button", name="end: porch")).to_have_count(1)

    assert complaints == []


def test_unreachable_model_is_reported_but_can_be_chosen_and_undone(
    browser: Browser, running: Running
) -> None:
    """Beside the form; chosen all the same, and taken back."""
    with opened(browser, new_link(running.program)) as (page, complaints):
        go_to_settings(page, "Models")
        page.get_by_role("button", name="change: Replies").click()
        page.get_by_label("Provider").select_option("")
        page.get_by_label("Call it").fill("nearby")
        page.get_by_label("Model", exact=True).fill("tiny")
        page.get_by_label("Address").fill("http://localhost:9/v1")
        page.get_by_role("button", name="Try it").click()
        expect(page.locator(".choosing .bad")).to_contain_text("nearby", timeout=LONGEST_MS)
        page.get_by_role("button", name="Use it").click()
        expect(page.locator(".companion")).to_contain_text("nearby:tiny")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".companion")).to_contain_text("offline")

    assert "main" not in toml_of(running)
    assert complaints == []


def test_other_apps_take_one_line_each_and_open_to_be_connected(
    browser: Browser, running: Running
) -> None:
    """With what holds; the address of one opens it, and all of them fit on a phone."""
    phone = {"width": 390, "height": 800}
    with opened(browser, link := new_link(running.program), viewport=phone) as (page, complaints):
        go_to_settings(page, "Other apps")
        lines = page.locator("#apps summary")
        expect(lines).to_have_text(
            [re.compile(rf"{each.title}\s*not connected") for each in CHANNELS.values()]
        )
        expect(page.get_by_placeholder("Token of the bot").first).to_be_hidden()
        high = page.locator("#apps").evaluate("e => e.offsetHeight")
        lines.first.click()
        expect(page.get_by_placeholder("Token of the bot").first).to_be_visible()
        page.goto(f"{link.partition('/#')[0]}/settings/discord")
        expect(page.locator("#discord form")).to_be_in_viewport()
        expect(page.locator("#discord").get_by_role("link")).to_have_count(0)
        expect(page.locator("#slack").get_by_text("Make the app with this link")).to_have_attribute(
            "href", re.compile(r"^https://api\.slack\.com/apps\?new_app=1&manifest_json=")
        )
        expect(page.locator("#telegram form")).to_be_hidden()
        part = page.get_by_role("navigation", name="Settings")
        expect(part.get_by_role("link", name="Other apps")).to_have_attribute(
            "aria-current", "true"
        )

    assert high < MOST_HIGH_PX
    assert complaints == []


def test_when_it_may_write_first_is_chosen_and_undone(browser: Browser, running: Running) -> None:
    """Saved at once, as it is shown on the command line (ACCEPTANCE L19)."""
    with opened(browser, new_link(running.program)) as (page, complaints):
        go_to_settings(page, "When may I write first?")
        readily = page.get_by_label("How readily")
        expect(readily).to_have_value("shy")
        readily.select_option("lively")
        expect(page.get_by_text("How readily: saved.")).to_be_visible()
        page.get_by_label("Quiet from").fill("23:30")
        page.get_by_label("Quiet from").blur()
        expect(page.get_by_text("Quiet from: saved.")).to_be_visible()
        chosen = running.program("proactive").stdout
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_label("Quiet from")).to_have_value("22:00")

    assert "Speaking first: lively. Quiet: 23:30 to 08:00" in chosen
    assert complaints == []
