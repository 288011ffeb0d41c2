"""oldfriend connect: chooses, tests and saves models, or connects a chat platform.

Asks for whatever is not given as an option. Before a model is used, shows which data will leave
this machine and asks for consent.
"""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from oldfriend.channels.channel import ChannelSpec
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.cli.consolidate import print_rereading_offer
from oldfriend.cli.import_cmd import embed_messages
from oldfriend.cli.model_offers import choose_likely_model, format_models, format_providers
from oldfriend.cli.open_context import (
    ask_secret,
    get_person_option,
    get_selected_person,
    load_settings_from_options,
    resolve_chat_person,
)
from oldfriend.config.keys import delete_key, store_key
from oldfriend.config.provider_resolution import find_channel_token, get_provider_url
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import LOCAL
from oldfriend.domain.errors import InvalidInput, StoreNotFound
from oldfriend.domain.setting_parsers import RawSetting, parse_url
from oldfriend.inbound.account_linking import create_code, unlink_channel
from oldfriend.llm.addresses import resolve_refusal
from oldfriend.llm.local_models import LocalServer
from oldfriend.llm.providers import PROVIDERS
from oldfriend.memory.people import find_owner, list_people
from oldfriend.runtime.bot_connections import register_bot
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

MAIN_MODELS = {name: known.main for name, known in PROVIDERS.items() if known.main}
DATA_SENT_TO_MODEL = "what you say, with the memories that bear on it,"
DATA_SENT_TO_TRANSCRIBER = "each recording that the companion receives"
DATA_SENT_TO_SPEAKER = "the text of each reply that is spoken"
NOT_OPUS_NOTE = ", not as Opus: replies are sent as audio files, not as voice messages"
DATA_SENT_TO_EMBEDDER = "the text of every stored message, and of each new one,"


async def run(options: argparse.Namespace) -> int:
    """Connect what was named, or disconnect it."""
    settings = load_settings_from_options(options)
    match options.what:
        case "model":
            return await connect_model(options, settings)
        case "embedder":
            return await connect_embedder(options, settings)
        case "transcriber":
            return await connect_transcriber(options, settings)
        case "speaker":
            return await connect_speaker(options, settings)
        case name if name in CHANNELS:
            return await connect_channel(options, settings, CHANNELS[name])
        case "none":
            disconnect_models(settings)
            print(
                "Oldfriend is offline again: answers come from the memory alone, and nothing is "
                "sent to a model."
            )
            await reembed_all(options)
            return 0
        case _:
            return forget_key(options, settings)


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
    """Store a bot's token and print a linking code for a person; with --remove, disconnect."""
    if options.remove:
        return await disconnect(options, settings, spec)
    stored = find_channel_token(settings, spec.name)
    if stored is None:
        print(spec.setup_help)
        token = await asyncio.to_thread(ask_secret, "Token of the bot")
        if not token:
            raise InvalidInput("No token was given. Nothing was changed.")
    else:
        token = stored.value
    bot = "" if options.no_test else await register_bot(spec, token, settings)
    token_source = (
        stored.source
        if stored
        else store_key(
            spec.name, token, data=settings.data, address=settings.channels[spec.name].base_url
        )
    )
    async with open_app(settings) as app:
        person, code = await create_code(
            app.db, app.clock, app.settings, await resolve_chat_person(app.db, options)
        )
    bot_address = spec.bot_link.format(bot=bot) if bot else "your bot"
    print(f"The bot{f' @{bot}' if bot else ''} is connected; its token is in {token_source}.")
    print(f"Code for {person.name}: {code[:3]} {code[3:]}  (valid once, for ten minutes)")
    print(
        "1. Start the server: oldfriend serve   (if it is already running: oldfriend reload)\n"
        f"2. Open {bot_address} as {person.name}, and send the code as a message."
    )
    return 0


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
        return 0 if count else 1
    stored = find_channel_token(settings, spec.name)
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
