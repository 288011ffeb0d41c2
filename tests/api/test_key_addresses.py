"""A key leaves only for the address that it was kept for, whatever the page or a program asks."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import httpx
import pytest

from oldfriend.channels.telegram.spec import TELEGRAM, TelegramSettings
from oldfriend.config.keys import get_keys_path, store_key, write_keys
from oldfriend.config.provider_resolution import (
    ChannelCredentials,
    find_channel_credentials,
    get_provider_url,
    resolve_model,
)
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import ProviderSettings
from oldfriend.domain.errors import ModelMisconfigured, PlatformRejected, PlatformUnavailable
from oldfriend.runtime.bot_connections import register_bot
from oldfriend.runtime.provider_roles import ModelUse
from oldfriend.runtime.wiring import open_app
from tests.api.conftest import opened_site
from tests.engines import SQLITE_ONLY
from tests.fakes.recording_server import recording_server, redirect_to

SECRETS = {
    "OPENAI_API_KEY": "sk-of-openai-0001",
    "ANTHROPIC_API_KEY": "sk-of-anthropic-0002",
    "AWS_API_KEY": "sk-of-somebody-else-0003",
    "OLDFRIEND_TELEGRAM_TOKEN": "123456:of-the-bot-0004",
    "MINE_KEY": "sk-of-a-named-variable-0005",
}
KEPT = {
    "groq": "sk-kept-of-groq-0006",
    "telegram": "123456:kept-of-the-bot-0007",
    "forgetting": "kept-for-the-prints-0008",
    "nearby": "sk-kept-of-nearby-0009",
}
"""As they were kept before addresses were kept with them."""
EVERY_SECRET = {*SECRETS.values(), *KEPT.values()}
USES: tuple[ModelUse, ...] = get_args(ModelUse)
TYPED = "sk-typed-just-now-0010"


@pytest.fixture
def settings(settings: Settings, settings_folder: Path) -> Settings:
    """Somebody with keys in the environment and kept ones, of before and of now."""
    write_keys(get_keys_path(settings.data), KEPT)
    store_key(
        "boxed", "sk-kept-for-a-box-0011", data=settings.data, address="http://10.0.0.7:80/v1"
    )
    providers = {
        "nearby": ProviderSettings(base_url="http://10.0.0.8/v1"),
        "mine": ProviderSettings(base_url="http://10.0.0.9/v1", key_from_env="MINE_KEY"),
    }
    settings.data.mkdir(parents=True, exist_ok=True)
    settings.file.write_text(
        "[providers.nearby]\nbase_url = 'http://10.0.0.8/v1'\n"
        "[providers.mine]\nbase_url = 'http://10.0.0.9/v1'\nkey_from_env = 'MINE_KEY'\n"
    )
    return replace(settings, environment=SECRETS, providers=providers)


PROVIDERS = (
    "openai",
    "anthropic",
    "groq",
    "telegram",
    "forgetting",
    "aws",
    "nearby",
    "mine",
    "boxed",
    "my-own",
)


async def ask_all_ways(owner: httpx.AsyncClient, wanted: dict[str, object]) -> list[httpx.Response]:
    """Try and choose a model for each use."""
    return [
        await owner.request(method, path, json={**wanted, "voice": "alloy"})
        for use in USES
        for method, path in (("POST", f"/models/{use}/test"), ("PUT", f"/models/{use}"))
    ]


@pytest.mark.slow
@SQLITE_ONLY
@pytest.mark.parametrize("key", [None, TYPED])
@pytest.mark.parametrize("kind", [None, "anthropic"])
async def test_stored_key_is_never_sent_to_a_base_url_given_on_the_page(
    settings: Settings, kind: str | None, key: str | None
) -> None:
    """From no provider, for no use, also with a key typed beside it: of those only that one."""
    async with (
        recording_server() as stranger,
        open_app(settings) as app,
        opened_site(app) as site,
        site.browser() as owner,
    ):
        for provider in PROVIDERS:
            await ask_all_ways(
                owner,
                {
                    "provider": provider,
                    "name": "m",
                    "base_url": stranger.url,
                    "kind": kind,
                    "key": key,
                },
            )
        secrets_seen = {each for each in EVERY_SECRET if each in stranger.received}
        later = keys_for(site.room.app.settings, stranger.url)

    assert secrets_seen == set()
    assert later <= {None, TYPED}
    assert "sk-kept-for-a-box" not in stranger.received
    assert ("telegram" not in stranger.received) and ("forgetting" not in stranger.received)
    assert (TYPED in stranger.received) is (key is not None)


def keys_for(settings: Settings, url: str) -> set[str | None]:
    """The keys that would be sent to an address by what is chosen now."""
    choices = [
        resolve_model(settings, f"{each}:m")
        for each in PROVIDERS
        if get_provider_url(settings, each) == url
    ]
    return {each.key for each in choices}


@SQLITE_ONLY
async def test_refused_base_url_has_an_error_code_by_provider(settings: Settings) -> None:
    """Another name, or a key of its own; a channel is no provider."""
    async with (
        recording_server() as stranger,
        open_app(settings) as app,
        opened_site(app) as site,
        site.browser() as owner,
    ):
        codes = {}
        for provider in PROVIDERS:
            wanted = {"provider": provider, "name": "m", "base_url": stranger.url}
            answer = await owner.put("/models/main", json=wanted)
            codes[provider] = answer.json().get("code")
        forgetting = await owner.delete("/providers/forgetting/key")

    fixed, elsewhere = "provider_address_fixed", "key_kept_elsewhere"
    assert codes == {
        "openai": fixed,
        "anthropic": fixed,
        "groq": fixed,
        "mine": fixed,
        "telegram": "provider_reserved",
        "forgetting": "provider_reserved",
        "nearby": elsewhere,
        "boxed": elsewhere,
        "aws": None,
        "my-own": None,
    }
    assert forgetting.json()["code"] == "provider_reserved"


@SQLITE_ONLY
async def test_entered_key_is_bound_to_its_base_url(
    settings: Settings, settings_folder: Path
) -> None:
    """It goes there, then and later; not where the file of settings leads afterwards."""
    async with (
        recording_server() as first,
        recording_server() as second,
        open_app(settings) as app,
        opened_site(app) as site,
        site.browser() as owner,
    ):
        wanted = {"provider": "new", "name": "m", "base_url": first.url, "key": TYPED}
        assert (await owner.put("/models/main", json=wanted)).status_code == 200
        await owner.post("/models/main/test", json={"provider": "new", "name": "m"})
        now = site.room.app.settings
        moved = replace(now, providers={"new": ProviderSettings(base_url=second.url)})
        with pytest.raises(ModelMisconfigured, match="connect model --provider new"):
            resolve_model(moved, "new:m")
        kept = resolve_model(now, "new:m").key

    assert TYPED in first.received
    assert TYPED not in second.received
    assert kept == TYPED


@SQLITE_ONLY
def test_keys_stored_by_older_versions_still_work(settings: Settings) -> None:
    """To the provider's own address, and to the one in the file of settings."""
    proxied = replace(
        settings, providers={"openai": ProviderSettings(base_url="http://10.0.0.1/v1")}
    )

    assert resolve_model(settings, "groq:m").key == KEPT["groq"]
    assert resolve_model(settings, "nearby:m").key == KEPT["nearby"]
    assert resolve_model(settings, "mine:m").key == SECRETS["MINE_KEY"]
    assert resolve_model(settings, "openai:m").key == SECRETS["OPENAI_API_KEY"]
    assert resolve_model(proxied, "openai:m").key == SECRETS["OPENAI_API_KEY"]


@SQLITE_ONLY
def test_environment_keys_are_read_only_for_known_or_named_providers(settings: Settings) -> None:
    """A name does not make a variable a key; nor is a channel ever asked as a model."""
    strange = replace(
        settings,
        providers={
            "aws": ProviderSettings(base_url="http://10.0.0.1/v1"),
            "telegram": ProviderSettings(base_url="http://10.0.0.1/v1"),
            "forgetting": ProviderSettings(base_url="http://10.0.0.1/v1"),
        },
    )

    assert resolve_model(strange, "aws:m").key is None
    for name in ("telegram", "forgetting"):
        with pytest.raises(ModelMisconfigured, match="cannot be the name of a provider"):
            resolve_model(strange, f"{name}:m")


@SQLITE_ONLY
async def test_bot_token_is_bound_to_its_base_url_and_follows_no_redirect(
    settings: Settings, settings_folder: Path
) -> None:
    """No redirect is followed with it, and another address in the settings does not get it."""
    token = "123456:typed-for-the-bot-0012"
    credentials = ChannelCredentials((("token", token),), "")
    async with recording_server() as elsewhere:
        sent_on = redirect_to(elsewhere.url)
        async with recording_server(sent_on) as telegram:
            there = replace(
                settings,
                environment={},
                channels={**settings.channels, "telegram": TelegramSettings(base_url=telegram.url)},
            )
            with pytest.raises((PlatformRejected, PlatformUnavailable)):
                await register_bot(TELEGRAM, credentials, there)
        store_key("telegram", token, data=settings.data, address=telegram.url)
        moved = replace(
            there,
            channels={**settings.channels, "telegram": TelegramSettings(base_url=elsewhere.url)},
        )
        found = find_channel_credentials(there, TELEGRAM)
        gone = find_channel_credentials(moved, TELEGRAM)
        forbidden = replace(
            there,
            channels={
                **settings.channels,
                "telegram": TelegramSettings(base_url="http://169.254.169.254"),
            },
        )
        with pytest.raises(PlatformRejected, match="will not be used"):
            await register_bot(TELEGRAM, credentials, forbidden)

    assert token in telegram.received
    assert elsewhere.requests == []
    assert found is not None
    assert (found.values, gone) == (credentials.values, None)


FORBIDDEN = [
    "http://169.254.169.254/v1",
    "http://2852039166/v1",
    "http://0xa9fea9fe/v1",
    "http://0251.0376.0251.0376/v1",
    "http://169.254.43518/v1",
    "http://0xa9.254.0251.254/v1",
    "http://[::ffff:169.254.169.254]/v1",
    "http://[::ffff:a9fe:a9fe]/v1",
    "http://[fe80::1]/v1",
    "http://[fe80::1%25eth0]/v1",
    "http://[fd00:ec2::254]/v1",
    "http://[64:ff9b::a9fe:a9fe]/v1",
    "http://[2002:a9fe:a9fe::1]/v1",
    "http://[::169.254.169.254]/v1",
    "http://169.254.169.254./v1",
    "http://metadata.google.internal/v1",
    "http://METADATA.google.internal./v1",
    "http://100.100.100.200/v1",
    "http://168.63.129.16/v1",
    "http://192.0.0.192/v1",
    "http://１６９.254.169.254/v1",
    "http://169。254。169。254/v1",
    "https://169.254.0.1:8443/v1",
]


@pytest.mark.slow
@SQLITE_ONLY
async def test_metadata_service_base_urls_are_refused_by_the_api(settings: Settings) -> None:
    """However they are spelled, for every use; also with a key that was typed for them."""
    async with open_app(settings) as app, opened_site(app) as site, site.browser() as owner:
        codes = {
            (url, use, method): (
                await owner.request(
                    method,
                    path,
                    json={"provider": "new", "name": "m", "base_url": url, "key": TYPED},
                )
            )
            .json()
            .get("code")
            for url in FORBIDDEN
            for use in USES
            for method, path in (("POST", f"/models/{use}/test"), ("PUT", f"/models/{use}"))
        }

    assert {told: code for told, code in codes.items() if code != "address_forbidden"} == {}


@SQLITE_ONLY
@pytest.mark.parametrize("url", FORBIDDEN)
def test_metadata_service_base_url_in_settings_file_is_refused(
    settings: Settings, url: str
) -> None:
    """Wherever it was chosen."""
    chosen = replace(settings, providers={"new": ProviderSettings(base_url=url)})
    with pytest.raises(ModelMisconfigured, match="will not be used"):
        resolve_model(chosen, "new:m")
