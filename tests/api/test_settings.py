"""What the owner chooses on the page: written as by hand, held at once, taken back."""

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from oldfriend.config.settings import Settings
from oldfriend.domain.clock import DAY
from oldfriend.memory.core_blocks import Proposal, suggest
from oldfriend.presenters.state_schemas import encode_job_id
from oldfriend.queues.jobs_table import move_to_dead_letters
from oldfriend.queues.scheduled_jobs import JobSpec, schedule_job
from oldfriend.runtime.wiring import open_app
from tests.api.conftest import Browse, Site, events, opened_site, until_topic
from tests.engines import SQLITE_ONLY
from tests.fakes.local_servers import FakeModel, FakeOllama, running
from tests.fakes.telegram import World, running_telegram


def held(choices: dict[str, list[dict[str, object]]]) -> dict[str, object]:
    """What holds, by name."""
    return {each["name"]: each["value"] for each in choices["items"]}  # type: ignore[misc]


@SQLITE_ONLY
async def test_changed_setting_takes_effect_at_once_and_is_written_to_the_file(
    site: Site, browse: Browse
) -> None:
    """As `oldfriend connect` would write it; null takes it out of the file again."""
    owner = await browse()
    file = site.app.settings.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# my own words\n[limits]\nmost_tool_calls = 3 # few\n")
    chosen = await owner.patch(
        "/settings", json={"values": {"budget.background_per_day": 0.25, "memory.thinks": False}}
    )
    now = site.room.app.settings
    text = file.read_text()
    back = await owner.patch(
        "/settings", json={"values": {"budget.background_per_day": None, "memory.thinks": None}}
    )

    assert held(chosen.json())["budget.background_per_day"] == 0.25
    assert (now.budget.background_per_day, now.memory.thinks) == (250_000, False)
    assert now.limits.most_tool_calls == 3
    assert "# my own words" in text
    assert "thinks = false" in text
    assert "background_per_day = 0.25" in text
    assert held(back.json())["memory.thinks"] is True
    assert "thinks" not in file.read_text()


@SQLITE_ONLY
async def test_refused_setting_has_error_code_and_values_for_translation(browse: Browse) -> None:
    """A code and values, which may say something themselves; the detail is the whole in English."""
    owner = await browse()
    refused = (await owner.patch("/settings", json={"values": {"memory.passes": 90}})).json()
    expected = refused["values"]["expected"]

    assert refused["detail"] == f"memory.passes must be {expected['text']}, not 90."
    assert (refused["code"], refused["values"]["given"]) == ("setting_unfit", "90")
    assert (expected["code"], expected["values"]["within"]["code"]) == ("expected_whole", "from_to")
    assert set(expected["values"]["within"]["values"]) == {"least", "most"}


@SQLITE_ONLY
async def test_broken_settings_file_is_reported_with_path_and_line(
    site: Site, browse: Browse
) -> None:
    """Whoever has chosen something else on the page would look for the fault there."""
    owner, file = await browse(), site.app.settings.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("[limits]\nlease_s = 'long'\n")
    wrong = (await owner.patch("/settings", json={"values": {"memory.thinks": False}})).json()
    file.write_text("[limits]\nlease_s =\n")
    broken = (await owner.patch("/settings", json={"values": {"memory.thinks": False}})).json()
    why = wrong["values"]["why"]

    assert (wrong["code"], why["code"]) == ("nothing_changed", "setting_unfit")
    assert (why["values"]["where"]["code"], why["values"]["where"]["values"]) == (
        "setting_in_line",
        {"name": "limits.lease_s", "path": str(file), "line": 2},
    )
    assert (broken["code"], broken["values"]["line"]) == ("settings_no_toml_in", 2)


@SQLITE_ONLY
async def test_every_expected_value_of_a_refused_setting_has_a_code(browse: Browse) -> None:
    """Also where it is one of a few words, or a name of some form."""
    owner = await browse()
    wrong = {
        "speech.speaks": "loud",
        "memory.thinks": "x",
        "telegram.allowed": ["abc"],
        "models.main": ["nonsense"],
        "speech.voice": " ",
    }
    for name, value in wrong.items():
        refused = (await owner.patch("/settings", json={"values": {name: value}})).json()

        assert refused["values"]["expected"]["code"], name


@SQLITE_ONLY
@pytest.mark.parametrize(
    "values",
    [
        {"memory.thinks": "perhaps"},
        {"memory.read_every_turns": 0},
        {"nothing.here": 1},
        {"memory": True},
        {"serve.port": 1},
        {"telegram.base_url": "http://evil.example"},
        {"models.main": ["no colon"]},
        {"models.main": ["evil:sk-abcdefghijklmnop"]},
        {"embedder.model": "openai:small", "embedder.dimension": None},
        {"memory.forms": False, "memory.passes": 9},
    ],
    ids=str,
)
async def test_invalid_setting_is_refused_and_changes_nothing(
    site: Site, browse: Browse, values: dict[str, object]
) -> None:
    """Also where only one of several is wrong, or it is found out when it is read again."""
    owner = await browse()
    before = held((await owner.get("/settings")).json())
    refused = await owner.patch("/settings", json={"values": values})
    file = site.app.settings.file

    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert held((await owner.get("/settings")).json()) == before
    assert not file.exists() or file.read_text().strip() == ""


@SQLITE_ONLY
async def test_local_model_server_is_listed_with_rated_models(site: Site, browse: Browse) -> None:
    """It is asked for its list alone; taking a small model fits the settings to it."""
    owner = await browse()
    models = [
        FakeModel(name="llama3.2:3b", parameters=3_212_749_888, has_tools=False),
        FakeModel(name="nomic-embed-text", embeds=True, context=2048),
    ]
    with running(FakeOllama(models)) as fake:
        wanted = {"provider": "ollama", "name": "llama3.2:3b", "base_url": fake.base_url}
        await owner.put("/models/main", json=wanted)
        small = site.room.app.settings
        await owner.delete("/models")
        (server,) = [
            each
            for each in (await owner.get("/models")).json()["found"]
            if each["provider"] == "ollama"
        ]
        chats = fake.chats
        tried = await owner.post("/models/main/test", json=wanted)

    assert (server["base_url"], server["suggested"]) == (fake.base_url, "llama3.2:3b")
    assert [each["good_for"]["code"] for each in server["models"]] == ["fit_small", "fit_search"]
    assert server["models"][0]["has_tools"] is False
    assert server["models"][0]["stays_here"] is True
    assert chats == []
    assert tried.json()["works"] is True
    assert (small.context.preset, small.memory.passes) == ("small", 2)


@SQLITE_ONLY
async def test_a_model_is_chosen_its_key_kept_and_never_shown(
    site: Site, browse: Browse, settings_folder: object
) -> None:
    """One that does not answer says why; offline takes all of them away."""
    owner = await browse()
    wanted = {
        "provider": "nearby",
        "name": "tiny",
        "base_url": "http://localhost:9/v1",
        "key": "sk-very-secret-1234567890",
    }
    tried = await owner.post("/models/main/test", json=wanted)
    chosen = await owner.put("/models/main", json=wanted)
    small = await owner.put("/models/small", json={**wanted, "name": "smaller", "key": None})
    models = await owner.get("/models")
    settings = await owner.get("/settings")
    state = await owner.get("/state")
    text = site.app.settings.file.read_text()
    forgotten = await owner.delete("/providers/nearby/key")
    again = await owner.delete("/providers/nearby/key")
    await owner.delete("/models")
    offline = await owner.get("/state")
    missing = await owner.put("/models/main", json={"provider": "openai", "name": "gpt"})

    assert tried.json()["works"] is False
    assert tried.json()["message"]["code"] == "provider_unreached_here"
    assert chosen.json()["key_in"].endswith("keys.toml")
    assert chosen.json()["takes_new_start"] is False
    assert (small.status_code, state.json()["model"]) == (200, "nearby:tiny")
    assert models.json()["small"] == ["nearby:smaller"]
    for answer in (tried.text, models.text, settings.text, text):
        assert "very-secret" not in answer
    assert [forgotten.status_code, again.status_code] == [204, 404]
    assert offline.json()["model"] is None
    assert (missing.status_code, missing.json()["code"]) == (422, "key_needed")
    assert missing.json()["values"] == {"provider": "openai"}


async def test_core_blocks_are_versioned_with_etags_and_suggestions_decided(
    site: Site, browse: Browse
) -> None:
    """On each engine: an ETag for each version, and another person's are theirs."""
    owner, omar = await browse(), await browse("Omar")
    first = await owner.put("/persona/persona", json={"text": "You are Mira."})
    second = await owner.put(
        "/persona/persona",
        json={"text": "You are Mira.\nYou like rivers."},
        headers={"If-Match": first.headers["etag"]},
    )
    versions = (await owner.get("/persona/persona/versions", params={"limit": 1})).json()
    older = await owner.get("/persona/persona/versions", params={"cursor": versions["next"]})
    person = (await owner.get("/session")).json()["id"]
    async with site.app.db.begin_write() as tx:
        for text in ("Be brief.", "Be long."):
            await suggest(
                tx,
                person,
                Proposal(block="style", text=text, reason="so", author="test/1"),
                now=site.app.clock(),
            )
    brief, long = (await owner.get("/persona")).json()["suggestions"]
    accepted = await owner.post(
        f"/persona/suggestions/{brief['id']}", json={"verdict": "accept", "words": "Be short."}
    )
    declined = await owner.post(f"/persona/suggestions/{long['id']}", json={"verdict": "decline"})
    style = await owner.get("/persona/style")
    too_long = await owner.put("/persona/user", json={"text": "x" * 5_001})

    assert (first.headers["etag"], second.headers["etag"]) == ('"1"', '"2"')
    assert versions["items"][0]["lines"] == ["+ You like rivers."]
    assert [each["version"] for each in older.json()["items"]] == [1]
    assert accepted.json()["status"] == "accepted"
    assert declined.json()["status"] == "declined"
    assert style.json()["text"] == "Be short."
    assert too_long.status_code == 422
    assert (await omar.get("/persona/persona")).json()["version"] == 0
    assert (await owner.get("/persona")).json()["soul_file"].endswith("SOUL.md")
    assert (await omar.get("/persona")).json()["soul_file"] is None


async def test_only_owner_renames_the_companion_and_every_page_is_notified(
    browse: Browse,
) -> None:
    """On each engine: as it was seen, on one line; not by anybody else, nor by a token to write."""
    owner, omar = await browse(), await browse("Omar")
    first = await owner.get("/persona/name")
    made = {"name": "diary", "scope": "write", "days": 1}
    token = (await owner.post("/tokens", json=made)).json()["token"]
    async with aclosing(events(omar)) as heard:
        ready = await anext(heard)
        named = await owner.put(
            "/persona/name",
            json={"name": " Mira "},
            headers={"If-Match": first.headers["etag"]},
        )
        news = (await until_topic(heard, "chat.companion.renamed"))[-1]
    stale = await owner.put(
        "/persona/name", json={"name": "Vera"}, headers={"If-Match": first.headers["etag"]}
    )
    theirs = await omar.put("/persona/name", json={"name": "Vera"})
    by_token = await omar.put(
        "/persona/name", json={"name": "Vera"}, headers={"Authorization": f"Bearer {token}"}
    )
    long = await owner.put("/persona/name", json={"name": "x" * 41})
    again = await omar.get("/persona/name")
    character = (await omar.get("/persona")).json()

    assert (first.json(), named.json(), again.json()) == (
        {"name": "Oldfriend"},
        {"name": "Mira"},
        {"name": "Mira"},
    )
    assert named.headers["etag"] == again.headers["etag"] != first.headers["etag"]
    assert (ready.data["companion"], news.data) == ("Oldfriend", {"companion": "Mira"})
    assert (stale.status_code, theirs.status_code, by_token.status_code) == (412, 403, 403)
    assert by_token.json()["title"] == "Not with this token"
    assert long.status_code == 422
    assert "Use 1 to 40 visible characters" in long.json()["detail"]
    assert (character["name"], character["longest_name"]) == ("Mira", 40)
    assert (await omar.get("/state")).json()["companion"] == "Mira"


async def test_dead_letters_are_listed_without_content_retried_and_dropped(
    site: Site, browse: Browse
) -> None:
    """On each engine, without a word of what it says."""
    owner = await browse()
    app = site.app
    async with app.db.begin_write() as tx:
        for name in ("one", "two"):
            job = JobSpec(name="embed", arguments={"secret": "my safe opens with 4711"})
            letter = await schedule_job(tx, name, job, person=None, now=app.clock())
            assert letter is not None
            await move_to_dead_letters(
                tx,
                letter,
                error="given up after 5 attempts: BrokenOutput: not so: Ana is ill",
                now=app.clock(),
            )
    listed = await owner.get("/jobs", params={"limit": 1})
    rest = await owner.get("/jobs", params={"cursor": listed.json()["next"]})
    one, two = listed.json()["items"] + rest.json()["items"]
    tried = await owner.post(f"/jobs/{one['id']}/retry")
    dropped = await owner.delete(f"/jobs/{two['id']}")
    gone = await owner.delete(f"/jobs/{two['id']}")
    after = (await owner.get("/jobs")).json()

    assert "4711" not in listed.text
    assert [one["error"]["text"], two["error"]["text"]] == ["BrokenOutput", "BrokenOutput"]
    assert [tried.status_code, dropped.status_code, gone.status_code] == [204, 204, 404]
    assert after == {"items": [], "next": None}


async def test_jobs_keep_their_former_names(site: Site, browse: Browse) -> None:
    """The path, the query and the field that programs of the version before use."""
    owner = await browse()
    app, own = site.app, set[str]()  # others come and go while the program runs
    async with app.db.begin_write() as tx:
        for name, is_failed in (("one", True), ("two", False)):
            job = await schedule_job(
                tx,
                name,
                JobSpec(name="embed", arguments={}),
                person=None,
                now=app.clock(),
                due_at=app.clock() + DAY,  # no worker takes it between the readings
            )
            assert job is not None
            own.add(encode_job_id(job.queue, job.partition, job.seq))
            if is_failed:
                await move_to_dead_letters(tx, job, error="given up", now=app.clock())
    today, former = [
        [
            each
            for each in (await owner.get(path, params=params)).json()["items"]
            if each["id"] in own
        ]
        for path, params in (("/jobs", {"failed": False}), ("/letters", {"parked": False}))
    ]
    failed = (await owner.get("/jobs")).json()["items"]
    tried = await owner.post(f"/letters/{failed[0]['id']}/retry")

    assert former == today
    assert {(each["is_failed"], each["is_parked"]) for each in today} == {
        (True, True),
        (False, False),
    }
    assert len(failed) == 1
    assert tried.status_code == 204


@SQLITE_ONLY
async def test_former_paths_answer_as_those_of_today(browse: Browse) -> None:
    """Each that the guide names; what only begins alike is not there."""
    owner = await browse()
    for former, today in (
        ("/bring/files", "/uploads"),
        ("/bring/imports", "/imports"),
        ("/bring/reading", "/learning"),
        ("/thinking", "/reflections"),
        ("/places", "/linked-accounts"),
        ("/character", "/persona"),
        ("/character/persona/versions", "/persona/persona/versions"),
        ("/chat/messages/nothing/sound", "/chat/messages/nothing/recording"),
    ):
        answers = [await owner.get(path) for path in (former, today)]
        assert answers[0].status_code == answers[1].status_code
        assert answers[0].json() == answers[1].json(), former
    exported = await owner.get("/take/export")
    assert exported.headers["content-disposition"].startswith("attachment")
    sent = [await owner.post(path, content=b"x") for path in ("/chat/sounds", "/chat/recordings")]
    assert sent[0].json() == sent[1].json()
    assert sent[0].status_code != 404
    assert (await owner.get("/lettersbox")).status_code == 404


async def test_dead_letter_paging_skips_nothing_after_deletions(site: Site, browse: Browse) -> None:
    """On each engine: what was tried again meanwhile moves nothing that is still to be read."""
    owner = await browse()
    app = site.app
    async with app.db.begin_write() as tx:
        for number in range(5):
            job = JobSpec(name="embed", arguments={"number": str(number)})
            letter = await schedule_job(tx, str(number), job, person=None, now=app.clock())
            assert letter is not None
            await move_to_dead_letters(tx, letter, error="given up", now=app.clock())
    every = [each["id"] for each in (await owner.get("/jobs")).json()["items"]]
    first = (await owner.get("/jobs", params={"limit": 2})).json()
    for each in first["items"]:
        await owner.delete(f"/jobs/{each['id']}")
    second = (await owner.get("/jobs", params={"limit": 2, "cursor": first["next"]})).json()
    third = (await owner.get("/jobs", params={"limit": 2, "cursor": second["next"]})).json()
    strange = await owner.get("/jobs", params={"cursor": "40"})

    assert [each["id"] for each in second["items"] + third["items"]] == every[2:]
    assert third["next"] is None
    assert strange.status_code == 422


@SQLITE_ONLY
async def test_the_owner_sees_spending_and_health(browse: Browse) -> None:
    """In numbers, and in words that say what to do."""
    owner = await browse()
    spending = (await owner.get("/spending")).json()
    health = (await owner.get("/doctor")).json()

    assert {each["purpose"] for each in spending["left"]} == {"background", "everything"}
    assert spending["total"]["heading"] == "all"
    assert "database_sound" in [each["message"]["code"] for each in health["findings"]]
    assert all(each["told"] == each["message"] for each in health["findings"])


@pytest.fixture
def world() -> Iterator[World]:
    """Telegram, with a bot on it."""
    with running_telegram() as opened:
        yield opened


@pytest.mark.slow
@SQLITE_ONLY
async def test_telegram_bot_is_connected_and_link_code_comes_with_a_qr_code(
    settings: Settings, world: World, settings_folder: object
) -> None:
    """Whose token it is, is asked first; the token is kept and not shown, and can be let go."""
    telegram = replace(settings.channels["telegram"], base_url=world.url)
    there = replace(settings, channels={**settings.channels, "telegram": telegram})
    async with open_app(there) as app, opened_site(app) as site, site.browser() as owner:
        wrong = await owner.put("/telegram/token", json={"token": "123456789:wrong-token"})
        odd = await owner.put("/telegram/token", json={"token": "123456789:AAÄ-secret"})
        connected = await owner.put("/telegram/token", json={"token": world.token})
        shown = await owner.get("/telegram")
        code = (await owner.post("/telegram/code")).json()
        gone = await owner.delete("/telegram/token")
        after = (await owner.get("/telegram")).json()

    assert (wrong.status_code, odd.status_code, connected.status_code) == (422, 422, 200)
    assert (odd.json()["code"], "secret" in odd.text) == ("bot_token_unfit", False)
    assert connected.json()["name"] == shown.json()["bot"]
    assert world.token not in shown.text
    assert code["link"] == f"https://t.me/{connected.json()['name']}?start={code['code']}"
    assert code["qr"].startswith("M4 4h1v1h-1z")
    assert code["qr_size"] > 20
    assert (gone.status_code, after["is_connected"]) == (204, False)


@SQLITE_ONLY
async def test_telegram_link_code_belongs_to_the_requesting_person(
    site: Site, browse: Browse
) -> None:
    """Everybody gets their own; without a bot there is no link, and only the owner connects one."""
    owner, omar = await browse(), await browse("Omar")
    code = (await omar.post("/telegram/code")).json()
    shown = (await omar.get("/telegram")).json()
    denied = await omar.put("/telegram/token", json={"token": "123456789:AAAAAAAAAAAA"})
    unknown = await owner.delete("/telegram/people/Omar")
    async with site.app.db.begin_read() as tx:
        rows = await tx.rows("SELECT p.name FROM link_code c JOIN person p ON p.id = c.person")

    assert len(code["code"]) == 6
    assert code["link"] is None
    assert shown == {
        "is_connected": False,
        "unreachable_since": None,
        "is_mine": False,
        "bot": None,
        "token_in": None,
        "people": [],
        "pairs_by_code": True,
        "make_link": None,
        "listen_port": None,
        "needed_setting": None,
        "credentials": [{"name": "token", "is_secret": True, "default": None}],
    }
    assert (denied.status_code, unknown.status_code) == (403, 404)
    assert [row[0] for row in rows] == ["Omar"]


@SQLITE_ONLY
async def test_own_mail_address_is_linked_on_the_page_by_the_owner_alone(
    site: Site, browse: Browse
) -> None:
    """Nobody sends a code by mail; whoever runs this says whose an address is."""
    del site
    owner, omar = await browse(), await browse("Omar")
    denied = await omar.post("/email/mine", json={"address": "omar@example.org"})
    by_code = await owner.post("/telegram/mine", json={"address": "1"})
    unfit = await owner.post("/email/mine", json={"address": "nobody"})
    linked = await owner.post("/email/mine", json={"address": "Ana@Example.org"})
    shown = (await owner.get("/email")).json()
    settings = {
        each["name"]: each["value"] for each in (await owner.get("/settings")).json()["items"]
    }
    accounts = (await owner.get("/linked-accounts")).json()["items"]

    assert [each.status_code for each in (denied, by_code, unfit, linked)] == [403, 422, 422, 204]
    assert (shown["is_mine"], shown["needed_setting"]) == (True, "email.authserv_id")
    assert settings["email.allowed"] == ["ana@example.org"]
    assert [(each["channel"], each["address"]) for each in accounts] == [
        ("email", "ana@example.org")
    ]
