"""oldfriend connect: chooses, tests and saves models, or connects a chat platform.

Asks for whatever is not given as an option. Before a model is used, shows which data will leave
this machine and asks for consent.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qs, urlsplit

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import ChannelSpec, Sender
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.cli.connect_server import connect_tool_server
from oldfriend.cli.consolidate_cmd import print_rereading_offer
from oldfriend.cli.import_cmd import embed_messages
from oldfriend.cli.model_offers import choose_likely_model, format_models, format_providers
from oldfriend.cli.open_context import (
    ask_secret,
    get_person_option,
    get_selected_person,
    load_settings_from_options,
    resolve_chat_person,
)
from oldfriend.config.keys import delete_key
from oldfriend.config.provider_resolution import (
    ChannelCredentials,
    build_credentials,
    find_channel_credentials,
    get_provider_url,
    store_channel_credentials,
)
from oldfriend.config.settings import Settings
from oldfriend.config.settings_catalog import allow_address, write_settings
from oldfriend.config.settings_schema import LOCAL
from oldfriend.domain.errors import InvalidInput, StoreNotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.setting_parsers import RawSetting, parse_url
from oldfriend.inbound.account_linking import create_code, link_own_address, unlink_channel
from oldfriend.llm.addresses import resolve_refusal
from oldfriend.llm.local_models import LocalServer
from oldfriend.llm.providers import PROVIDERS
from oldfriend.measurements.oura_store import has_connections
from oldfriend.memory.people import find_owner, list_people
from oldfriend.runtime.bot_connections import diagnose_bot, register_bot
from oldfriend.runtime.provider_roles import (
    DEFAULT_SPEAKERS,
    DEFAULT_TRANSCRIBERS,
    ModelCandidate,
    ModelUse,
    SavedChoice,
    save_candidate,
    try_candidate,
)
from oldfriend.runtime.provider_setup import (
    DEFAULT_EMBEDDING_MODELS,
    ProviderOffer,
    ProviderSetup,
    delete_provider_key,
    disconnect_models,
    find_empty_variable,
    find_server,
    is_key_needed,
    is_local,
    list_offers,
    validate_address,
    validate_provider,
)
from oldfriend.runtime.wiring import open_app
from oldfriend.transfer.oura_client import REGISTER_URL, OuraApplication
from oldfriend.transfer.oura_connection import (
    find_application,
    forget_application,
    store_application,
)
from oldfriend.transfer.oura_pull import begin_consent, finish_consent
from oldfriend.transfer.oura_pull import disconnect as disconnect_ring


async def connect_oura(options: argparse.Namespace, settings: Settings) -> int:
    """Connect the ring of a person, or disconnect it. Raises InvalidInput, FetchFailed."""
    async with open_app(settings) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        if options.remove:
            return await disconnect_oura(app, person.id)
        redirect = f"http://localhost:{settings.serve.port}/settings/health"
        if find_application(settings) is None:
            await asyncio.to_thread(ask_for_application, settings, redirect)
        address = await begin_consent(app.db, app.clock, settings, person.id, redirect=redirect)
        print(f"1. Open this address, sign in at Oura, and agree:\n{address}")
        print(f"2. Your browser then goes to {redirect}?… . Copy that whole address.")
        answer = await asyncio.to_thread(ask_secret, "The address that the browser went to")
        code, state = read_answer(answer)
        await finish_consent(app, app.web.fetcher, person.id, code=code, state=state)
    print("The ring is connected. It is read once a day while oldfriend serve runs.")
    return 0


async def disconnect_oura(app: AppContext, person: PersonId) -> int:
    """Disconnect the ring of a person; with the last one, the application goes, too."""
    was_there = await disconnect_ring(app, person)
    print("The ring is disconnected; what was read stays." if was_there else "No ring.")
    async with app.db.begin_read() as tx:
        is_used = await has_connections(tx)
    if not is_used and await asyncio.to_thread(forget_application, app.settings):
        print("Nobody has a ring any more, so the application at Oura is forgotten here.")
        return 0
    return 0 if was_there else 1


def ask_for_application(settings: Settings, redirect: str) -> None:
    """Ask for the application, and store it. Raises InvalidInput."""
    print(f"Register an application at {REGISTER_URL} with this redirect URI: {redirect}")
    name, secret = ask_secret("Client ID"), ask_secret("Client Secret")
    print(f"Stored in {store_application(settings, OuraApplication(id=name, secret=secret))}.")


def read_answer(address: str) -> tuple[str, str]:
    """Return the code and the state of an address. Raises InvalidInput."""
    query = parse_qs(urlsplit(address.strip()).query)
    if "code" not in query or "state" not in query:
        raise InvalidInput("That address has no code. Nothing was connected.")
    return query["code"][0], query["state"][0]


MAIN_MODELS = {name: known.main for name, known in PROVIDERS.items() if known.main}
DATA_SENT_TO_MODEL = "what you say, with the memories that bear on it,"
DATA_SENT_TO_TRANSCRIBER = "each recording that the companion receives"
DATA_SENT_TO_SPEAKER = "the text of each reply that is spoken"
NOT_OPUS_NOTE = ", not as Opus: replies are sent as audio files, not as voice messages"
DATA_SENT_TO_EMBEDDER = "the text of every stored message, and of each new one,"


async def run(options: argparse.Namespace) -> int:
    """Connect what was named, or disconnect it."""
    settings = load_settings_from_options(options)
    what: str = options.what
    if what in CHANNELS:
        return await connect_channel(options, settings, CHANNELS[what])
    if what == "forget":
        return forget_key(options, settings)
    return await CONNECTIONS[what](options, settings)


async def go_offline(options: argparse.Namespace, settings: Settings) -> int:
    """Use no model any more."""
    disconnect_models(settings)
    print(
        "Oldfriend is offline again: answers come from the memory alone, and nothing is "
        "sent to a model."
    )
    await reembed_all(options)
    return 0


async def connect_model(options: argparse.Namespace, settings: Settings) -> int:
    """Choose a language model."""
    candidate = await ask_model_choice(options, settings, MAIN_MODELS, use="main")
    if not confirm_data_use(options, settings, candidate.required_setup, DATA_SENT_TO_MODEL):
        return 1
    if not options.no_test:
        print(f"{candidate.model} answers: {(await try_candidate(settings, candidate)).text}")
    saved = save_candidate(settings, candidate)
    lines = [f"{role}: {model}" for role, model in saved.models.items()]
    if saved.is_small:
        lines.append("for a small model: short prompts, and two passes to learn from what is said")
    print_saved(settings, saved, lines)
    await offer_rereading(options)
    return 0


async def offer_rereading(options: argparse.Namespace) -> None:
    """Offer that the model now reads what none has read, if anything was said so far."""
    try:
        async with open_app(load_settings_from_options(options), create=False) as app:
            async with app.db.begin_read() as tx:
                owner = await find_owner(tx)
            if owner is not None:
                await print_rereading_offer(app, owner.id)
    except StoreNotFound:
        return  # nothing was said yet


async def connect_embedder(options: argparse.Namespace, settings: Settings) -> int:
    """Choose an embedding model, and re-embed what is stored."""
    if options.provider == LOCAL:
        saved = save_candidate(settings, ModelCandidate(use="embedder", setup=None))
        print_saved(settings, saved, ["embedder: the built-in model"])
        await reembed_all(options)
        return 0
    candidate = await ask_model_choice(options, settings, DEFAULT_EMBEDDING_MODELS, use="embedder")
    if not confirm_data_use(options, settings, candidate.required_setup, DATA_SENT_TO_EMBEDDER):
        return 1
    dimension = options.dimension
    if not options.no_test:
        dimension = (await try_candidate(settings, candidate)).dimension
    saved = save_candidate(settings, candidate, dimension=dimension)
    print_saved(settings, saved, [f"embedder: {candidate.model}, vectors of {dimension} numbers"])
    await reembed_all(options)
    return 0


async def connect_transcriber(options: argparse.Namespace, settings: Settings) -> int:
    """Choose the model that transcribes recordings."""
    if options.provider == LOCAL:
        folder = options.name or ask_answer("In which folder is the model")
        candidate = ModelCandidate(use="transcriber", setup=None, folder=folder)
    else:
        candidate = await ask_model_choice(
            options, settings, DEFAULT_TRANSCRIBERS, use="transcriber"
        )
        setup = candidate.required_setup
        if not confirm_data_use(options, settings, setup, DATA_SENT_TO_TRANSCRIBER):
            return 1
    if not options.no_test:
        await try_candidate(settings, candidate)
        print(f"{candidate.model} works.")
    saved = save_candidate(settings, candidate)
    privacy_note = "; nothing leaves this machine" if candidate.setup is None else ""
    print_saved(settings, saved, [f"transcriber: {candidate.model}{privacy_note}"])
    return 0


async def connect_speaker(options: argparse.Namespace, settings: Settings) -> int:
    """Choose the model that speaks, and its voice."""
    candidate = await ask_model_choice(options, settings, DEFAULT_SPEAKERS, use="speaker")
    setup = candidate.required_setup
    voice = options.voice or settings.speech.voice
    if not confirm_data_use(options, settings, setup, DATA_SENT_TO_SPEAKER):
        return 1
    candidate = replace(candidate, voice=voice)
    if not options.no_test:
        trial = await try_candidate(settings, candidate)
        print(f"{setup.model} speaks: {trial.text}{'' if trial.is_opus else NOT_OPUS_NOTE}")
    saved = save_candidate(settings, candidate)
    print_saved(settings, saved, [f"speaker: {setup.model}, with the voice {voice}"])
    return 0


def forget_key(options: argparse.Namespace, settings: Settings) -> int:
    """Delete a stored key."""
    provider = options.provider or ask_answer("Which provider")
    if delete_provider_key(settings, provider):
        print(f"The key of {provider} was deleted from this machine. Revoke it at {provider}, too.")
        return 0
    print(f"No key of {provider} is stored on this machine.")
    return 1


async def ask_model_choice(
    options: argparse.Namespace,
    settings: Settings,
    default_models: Mapping[str, str],
    *,
    use: ModelUse,
) -> ModelCandidate:
    """Build the candidate from the options, asking for the rest. Raises InvalidInput.

    With --yes and no provider it is a server on this machine, if there is one: nothing is sent
    elsewhere without a name.
    """
    offers = await list_offers(settings)
    servers = [offer.server for offer in offers if offer.server is not None]
    local = find_local_provider(servers, use) if options.yes else None
    provider = validate_provider(options.provider or local or ask_provider(offers, default_models))
    found = next((each for each in servers if each.provider == provider), None)
    server = None if options.base_url else found
    base_url = options.base_url
    if server is not None and server.base_url != get_provider_url(settings, provider):
        base_url = server.base_url
    if not base_url and not get_provider_url(settings, provider):
        base_url = ask_answer(
            f"What is the address of {provider} (such as http://localhost:8080/v1)"
        )
    if base_url:  # check it before printing it: it may contain a password
        base_url = parse_url(RawSetting(value=base_url, source="--base-url", is_text=True))
        if refusal := await resolve_refusal(base_url):
            raise InvalidInput(refusal)
    setup = ProviderSetup(
        provider=provider,
        name=options.name or choose_model_name(options, server, default_models.get(provider), use),
        base_url=base_url,
        kind=options.kind,
        key_from_env=options.key_from_env,
    )
    if variable := find_empty_variable(settings, setup):
        raise InvalidInput(f"There is no key in {variable}.")
    if is_key_needed(settings, setup):
        key = await asyncio.to_thread(ask_secret, f"Key of {provider}")
        if not key:
            raise InvalidInput(f"{provider} needs a key, and none was given. Nothing was changed.")
        setup = setup.with_key(key)
    validate_address(settings, setup)
    return ModelCandidate(use=use, setup=setup, server=server or await find_server(settings, setup))


def find_local_provider(servers: Sequence[LocalServer], use: ModelUse) -> str | None:
    """Return the first server that has a model for a use, if local servers serve it."""
    if use not in {"main", "embedder"}:
        return None
    fit = (each for each in servers if choose_likely_model(each, None, use=use))
    return next((each.provider for each in fit), None)


def ask_provider(offers: Sequence[ProviderOffer], default_models: Mapping[str, str]) -> str:
    """List the providers, available ones first, and ask for one."""
    names = list(dict.fromkeys([*(offer.provider for offer in offers), *default_models]))
    for line in format_providers(offers, names):
        print(line)
    print("     or any other name, together with its address")
    chosen = ask_answer("Which provider", names[0] if names else None)
    is_number = chosen.isdecimal() and len(chosen) <= len(str(len(names)))
    is_listed = is_number and 0 < int(chosen) <= len(names)
    return names[int(chosen) - 1] if is_listed else chosen


def choose_model_name(
    options: argparse.Namespace, server: LocalServer | None, default: str | None, use: ModelUse
) -> str:
    """Return the model's name: with --yes the likely one, otherwise by asking."""
    likely = choose_likely_model(server, default, use=use)
    if options.yes and likely:
        return likely
    if server is not None and options.provider:  # else they have just been listed
        print("Available models:", *format_models(server.models), sep="\n")
    return ask_answer("Which model", likely)


def ask_answer(question: str, default: str | None = None) -> str:
    """Ask a question; an empty line takes the default. Raises InvalidInput at end of input."""
    print(f"{question}{f' [{default}]' if default else ''}? ", end="", flush=True)
    line = sys.stdin.readline()
    answer = line.strip() or default
    if not line or not answer:
        raise InvalidInput(
            f"{question}? No answer was given. You can also give it as an option; see --help."
        )
    return answer


def confirm_data_use(
    options: argparse.Namespace, settings: Settings, choice: ProviderSetup, data: str
) -> bool:
    """Show which data leaves the machine, and ask for consent."""
    address = choice.base_url or get_provider_url(settings, choice.provider)
    if is_local(settings, choice):
        print(f"{choice.provider} runs on this machine ({address}): nothing leaves it.")
    else:
        print(f"From now on, {data} is sent to {choice.provider} ({address}).")
        print(
            "Your agreement with that provider says what happens to it there. To go offline "
            "again: oldfriend connect none"
        )
    if options.yes or ask_answer(f"Use {choice.model}", "no").lower() in {"y", "yes"}:
        return True
    print("Nothing was changed.")
    return False


def print_saved(settings: Settings, saved: SavedChoice, lines: Sequence[str]) -> None:
    """Print what was saved, and where."""
    for line in lines:
        print(f"  {line}")
    if saved.key_in:
        print(f"  key: in {saved.key_in}")
    print(f"Saved in {settings.file}. If the server is running, `oldfriend reload` makes it use")
    print("a new model; for a new embedder, stop the server and start it again.")


async def reembed_all(options: argparse.Namespace) -> None:
    """Embed everybody's messages with the current model; --later leaves it to later chats."""
    settings = load_settings_from_options(options)
    if options.later:
        return
    try:
        async with open_app(settings, create=False) as app:
            async with app.db.begin_read() as tx:
                people = await list_people(tx)
            for person in people:
                await embed_messages(app, person.id)
    except StoreNotFound:
        return  # there is nothing to embed yet


async def connect_channel(
    options: argparse.Namespace, settings: Settings, spec: ChannelSpec
) -> int:
    """Store what opens a bot, and print a linking code for a person; with --remove, disconnect."""
    if options.remove:
        return await disconnect(options, settings, spec)
    stored = find_channel_credentials(settings, spec)
    credentials = (
        await asyncio.to_thread(ask_credentials, settings, spec) if stored is None else stored
    )
    bot = "" if options.no_test else await register_bot(spec, credentials, settings)
    token_source = (
        stored.source if stored else store_channel_credentials(settings, spec, credentials)
    )
    if not spec.pairs_by_code:
        print(f"{bot or spec.title} is connected; its credentials are in {token_source}.")
        await allow_own_address(options, settings, spec)
        await ask_needed_setting(settings, spec, credentials, is_tested=bool(bot))
        print("Start the server: oldfriend serve   (if it is already running: oldfriend reload)")
        return 0
    async with open_app(settings) as app:
        person, code = await create_code(
            app.db, app.clock, app.settings, await resolve_chat_person(app.db, options)
        )
    bot_address = spec.bot_link.format(bot=bot) if bot else "your bot"
    sign = "" if "@" in bot else "+" if bot.isdecimal() else "@"
    called = f" {sign}{bot}" * bool(bot)
    print(f"The bot{called} is connected; its token is in {token_source}.")
    print(f"Code for {person.name}: {code[:3]} {code[3:]}  (valid once, for ten minutes)")
    print("A code that you were shown before, if any, no longer works.")
    print(
        "1. Start the server: oldfriend serve   (if it is already running: oldfriend reload)\n"
        f"2. Open {bot_address} as {person.name}, and send the code as a message.\n"
        f"What {spec.title} wants besides stands in its guide: docs/how-to/{spec.name}.md"
    )
    return 0


async def ask_needed_setting(
    settings: Settings, spec: ChannelSpec, credentials: ChannelCredentials, *, is_tested: bool
) -> None:
    """Ask for the setting without which nobody is answered; empty: later. Raises InvalidInput."""
    needed = spec.needed_setting
    if needed is None or getattr(settings.channels[spec.name], needed.name):
        return
    diagnosis = await diagnose_bot(spec, credentials, settings) if is_tested else ""
    if not isinstance(diagnosis, str):
        print(*(each.text for each in diagnosis.findings), sep="\n")
    print(f"{needed.label} [later]: ", end="", flush=True)
    if given := (await asyncio.to_thread(sys.stdin.readline)).strip():
        write_settings(settings, {f"{spec.name}.{needed.name}": given})


async def allow_own_address(
    options: argparse.Namespace, settings: Settings, spec: ChannelSpec
) -> None:
    """Ask for a person's own address on a channel without codes, and link it to them."""
    async with open_app(settings) as app:
        name = await resolve_chat_person(app.db, options)
        given = await asyncio.to_thread(ask_answer, f"Address of {name or 'your own'} to answer to")
        address = allow_address(settings, spec.name, given)
        sender = Sender(address=address, name="")
        person = await link_own_address(
            app.db, app.clock, settings, sender, name, channel=spec.name
        )
    print(f"{address} is known as {person.name}; nobody else is answered ({spec.name}.allowed).")


def ask_credentials(settings: Settings, spec: ChannelSpec) -> ChannelCredentials:
    """Ask for all that opens a bot. Raises InvalidInput."""
    print(spec.setup_help.replace("{port}", str(settings.channels[spec.name].listen_port)))
    values = {}
    for each in spec.credentials:
        if each.is_secret:
            values[each.name] = ask_secret(each.label)
        else:
            print(
                f"{each.label}{f' [{each.default}]' if each.default else ''}: ", end="", flush=True
            )
            values[each.name] = sys.stdin.readline().strip()
    credentials = build_credentials(spec, values)
    if credentials is None:
        raise InvalidInput("No token was given. Nothing was changed.")
    return credentials


async def disconnect(options: argparse.Namespace, settings: Settings, spec: ChannelSpec) -> int:
    """Delete the bot's token; with --person, unlink only that person."""
    if get_person_option(options) is not None:
        async with open_app(settings, create=False) as app:
            async with app.db.begin_read() as tx:
                person = await get_selected_person(tx, options)
            count = await unlink_channel(app.db, person, spec.name)
        print(
            f"{person.name} is no longer known on {spec.title}. What was said is kept."
            if count
            else f"{person.name} was not known on {spec.title}."
        )
        if not spec.pairs_by_code:
            print(f"Take their address out of {spec.name}.allowed, too: it would be a new person.")
        return 0 if count else 1
    stored = find_channel_credentials(settings, spec)
    if not delete_key(spec.name, data=settings.data):
        print(
            f"The token is set in {stored.source}: remove it there."
            if stored
            else "No bot is connected."
        )
        return 1
    print(
        "The token was deleted from this machine; the people known there stay known.\n"
        f"To make a running server let go of the bot: oldfriend reload. {spec.farewell_help}"
    )
    return 0


CONNECTIONS: Final[Mapping[str, Callable[[argparse.Namespace, Settings], Awaitable[int]]]] = (
    MappingProxyType(
        {
            "model": connect_model,
            "embedder": connect_embedder,
            "transcriber": connect_transcriber,
            "speaker": connect_speaker,
            "mcp": connect_tool_server,
            "oura": connect_oura,
            "none": go_offline,
        }
    )
)
