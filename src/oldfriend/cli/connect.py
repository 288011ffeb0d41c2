"""oldfriend connect: choose a model, try it, and keep the choice; or have people reach it.

Whatever is not given as an option is asked. Before anything is used it is said what will leave
this machine, and asked whether it may.
"""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence

from oldfriend.app.choices.choosing import Given
from oldfriend.app.choices.reaching import address_of
from oldfriend.app.choices.sections import ADDRESS, LOCAL
from oldfriend.app.choices.settings import Settings
from oldfriend.app.connecting import (
    EMBEDDING_MODELS,
    Offer,
    Wish,
    checked_provider,
    forget_provider,
    go_offline,
    list_offers,
    missing_variable,
    stays_here,
    wants_key,
)
from oldfriend.app.connecting_for import Candidate, Keeping, keep_candidate, try_out
from oldfriend.app.connecting_speech import SPEAKERS, TRANSCRIBERS
from oldfriend.app.wiring import open_house
from oldfriend.cli.bringing import embed_all
from oldfriend.cli.opening import ask_secretly, settings_from
from oldfriend.domain.errors import InvalidInput, StoreNotFound
from oldfriend.llm.catalogue import PROVIDERS
from oldfriend.memory.people import list_people

MAIN_MODELS = {name: known.main for name, known in PROVIDERS.items() if known.main}
SAID = "what you say, and whatever of your memories bears on it"
HEARD = "each recording that somebody sends you"
SPOKEN = "each reply that is spoken, its words"
NOT_OPUS = ", no Opus: it goes out as a file of sound, not as a voice message"
EMBEDDED = "all that was ever said, once, to be embedded, and from then on each message"


async def run(options: argparse.Namespace) -> int:
    """Connect what was named, or let it go."""
    settings = settings_from(options)
    match options.what:
        case "model":
            return await connect_model(options, settings)
        case "embedder":
            return await connect_embedder(options, settings)
        case "transcriber":
            return await connect_transcriber(options, settings)
        case "speaker":
            return await connect_speaker(options, settings)
        case "telegram":
            from oldfriend.cli.connect_telegram import connect_telegram

            return await connect_telegram(options, settings)
        case "none":
            go_offline(settings)
            print("Offline again: answers come from the memory alone, and nothing is sent.")
            await embed_anew(options)
            return 0
        case _:
            return forget_key_of(options, settings)


async def connect_model(options: argparse.Namespace, settings: Settings) -> int:
    """Choose a language model."""
    wish = await wished(options, settings, MAIN_MODELS)
    if not may(options, settings, wish, SAID):
        return 1
    candidate = Candidate(use="main", wish=wish)
    if not options.no_test:
        print(f"{wish.model} answers: {(await try_out(settings, candidate)).told}")
    keeping = keep_candidate(settings, candidate)
    tell(settings, keeping, [f"{role}: {model}" for role, model in keeping.models.items()])
    return 0


async def connect_embedder(options: argparse.Namespace, settings: Settings) -> int:
    """Choose a model for embedding, and embed anew what is there."""
    if options.provider == LOCAL:
        keeping = keep_candidate(settings, Candidate(use="embedder", wish=None))
        tell(settings, keeping, ["embedder: the one in this program"])
        await embed_anew(options)
        return 0
    wish = await wished(options, settings, EMBEDDING_MODELS)
    if not may(options, settings, wish, EMBEDDED):
        return 1
    candidate, dimension = Candidate(use="embedder", wish=wish), options.dimension
    if not options.no_test:
        dimension = (await try_out(settings, candidate)).dimension
    keeping = keep_candidate(settings, candidate, dimension=dimension)
    tell(settings, keeping, [f"embedder: {wish.model}, vectors of {dimension} numbers"])
    await embed_anew(options)
    return 0


async def connect_transcriber(options: argparse.Namespace, settings: Settings) -> int:
    """Choose who writes down what is said aloud."""
    if options.provider == LOCAL:
        folder = options.name or answer("In which folder is the model")
        candidate = Candidate(use="transcriber", wish=None, folder=folder)
    else:
        wish = await wished(options, settings, TRANSCRIBERS)
        if not may(options, settings, wish, HEARD):
            return 1
        candidate = Candidate(use="transcriber", wish=wish)
    if not options.no_test:
        await try_out(settings, candidate)
        print(f"{candidate.model} listens.")
    keeping = keep_candidate(settings, candidate)
    stays = "; nothing leaves this machine" if candidate.wish is None else ""
    tell(settings, keeping, [f"transcriber: {candidate.model}{stays}"])
    return 0


async def connect_speaker(options: argparse.Namespace, settings: Settings) -> int:
    """Choose who speaks, and in which voice."""
    wish = await wished(options, settings, SPEAKERS)
    voice = options.voice or settings.speech.voice
    if not may(options, settings, wish, SPOKEN):
        return 1
    candidate = Candidate(use="speaker", wish=wish, voice=voice)
    if not options.no_test:
        trial = await try_out(settings, candidate)
        print(f"{wish.model} speaks: {trial.told}{'' if trial.is_opus else NOT_OPUS}")
    keeping = keep_candidate(settings, candidate)
    tell(settings, keeping, [f"speaker: {wish.model}, with the voice {voice}"])
    return 0


def forget_key_of(options: argparse.Namespace, settings: Settings) -> int:
    """Remove a key that was kept."""
    provider = options.provider or answer("Of which provider")
    if forget_provider(settings, provider):
        print(f"The key of {provider} is gone from this machine. Revoke it at {provider}, too.")
        return 0
    print(f"No key of {provider} was kept on this machine.")
    return 1


async def wished(options: argparse.Namespace, settings: Settings, usual: Mapping[str, str]) -> Wish:
    """What somebody wants, from the options and from what they answer."""
    offers = await list_offers(settings)
    provider = options.provider or ask_for_provider(offers, usual)
    checked_provider(provider)
    base_url = options.base_url
    if not base_url and not address_of(settings, provider):
        base_url = answer(f"At which address is {provider}, such as http://localhost:8080/v1")
    if base_url:  # before it is shown: it may be one with a password in it
        base_url = ADDRESS(Given(value=base_url, where="--base-url", is_text=True))
    there = next((offer.models for offer in offers if offer.provider == provider), ())
    wish = Wish(
        provider=provider, name=options.name or name_for(options, there, usual.get(provider)),
        base_url=base_url, kind=options.kind, key_from_env=options.key_from_env,
    )  # fmt: skip
    if variable := missing_variable(settings, wish):
        raise InvalidInput(f"There is no key in {variable}.")
    if wants_key(settings, wish):
        key = await asyncio.to_thread(ask_secretly, f"Key of {provider}")
        if not key:
            raise InvalidInput(f"{provider} needs a key, and none was given. Nothing was changed.")
        return wish.with_key(key)
    return wish


def ask_for_provider(offers: Sequence[Offer], usual: Mapping[str, str]) -> str:
    """Show what there is, what is at hand first, and ask."""
    why = {offer.provider: offer.why for offer in offers}
    names = [*why, *(name for name in usual if name not in why)]
    for number, name in enumerate(names, 1):
        print(f"{number:>3}  {name}{f' ({why[name]})' if name in why else ''}")
    print("     or any other name, to be reached by its address")
    chosen = answer("Which provider", names[0] if names else None)
    is_listed = chosen.isdecimal() and 0 < int(chosen) <= len(names)
    return names[int(chosen) - 1] if is_listed else chosen


def name_for(options: argparse.Namespace, there: Sequence[str], usual: str | None) -> str:
    """The name of the model: the usual one where nobody is asked."""
    likely = usual if usual in there or not there else there[0]
    if options.yes and likely:
        return likely
    if there:
        print(f"There are: {', '.join(there)}")
    return answer("Which model", likely)


def answer(question: str, likely: str | None = None) -> str:
    """What somebody answers; the likely answer to an empty line. Raises InvalidInput at the end."""
    print(f"{question}{f' [{likely}]' if likely else ''}? ", end="", flush=True)
    line = sys.stdin.readline()
    words = line.strip() or likely
    if not line or not words:
        raise InvalidInput(f"{question}? Answer, or give it as an option: --help shows them.")
    return words


def may(options: argparse.Namespace, settings: Settings, wish: Wish, what: str) -> bool:
    """Say what leaves the machine, and ask whether it may."""
    where = wish.base_url or address_of(settings, wish.provider)
    if stays_here(settings, wish):
        print(f"{wish.provider} runs on this machine ({where}): nothing leaves it.")
    else:
        print(f"From now on, {what} is sent to {wish.provider} ({where}).")
        print("It is bound by what you agreed with them. `oldfriend connect none` ends it.")
    if options.yes or answer(f"Use {wish.model}", "no").lower() in {"y", "yes"}:
        return True
    print("Nothing was changed.")
    return False


def tell(settings: Settings, keeping: Keeping, lines: Sequence[str]) -> None:
    """Say what was kept, and where."""
    for line in lines:
        print(f"  {line}")
    if keeping.key_in:
        print(f"  key: in {keeping.key_in}")
    print(f"Kept in {settings.file}. A running `oldfriend serve` takes models over with")
    print("`oldfriend reload`, an embedder when it is started again.")


async def embed_anew(options: argparse.Namespace) -> None:
    """Give everybody's messages vectors of the present model; a later chat goes on with it."""
    settings = settings_from(options)
    if options.later:
        return
    try:
        async with open_house(settings, create=False) as house:
            async with house.db.reading() as tx:
                people = await list_people(tx)
            for person in people:
                await embed_all(house, person.id)
    except StoreNotFound:
        return  # nothing was said yet
