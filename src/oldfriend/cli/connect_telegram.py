"""oldfriend connect telegram: have people talk on Telegram, each of whom shows a code once."""

import argparse
import asyncio

from oldfriend.app.choices.keys import forget_key, keep_key
from oldfriend.app.choices.reaching import token_of
from oldfriend.app.choices.settings import Settings
from oldfriend.app.pairing import let_go, show_code
from oldfriend.app.wiring import name_of_bot, open_house
from oldfriend.cli.opening import ask_secretly, person_named
from oldfriend.cli.whom import person_looked_into, person_to_talk
from oldfriend.domain.errors import InvalidInput

CHANNEL = "telegram"
HOW = """Make a bot: write /newbot to @BotFather on Telegram. It gives you a token.
What is said to a bot passes through Telegram's servers, and they can read it."""


async def connect_telegram(options: argparse.Namespace, settings: Settings) -> int:
    """Keep a bot's token, and show a code for somebody; or let either go."""
    if options.remove:
        return await disconnect(options, settings)
    kept = token_of(settings, CHANNEL)
    if kept is None:
        print(HOW)
        token = await asyncio.to_thread(ask_secretly, "Token of the bot")
        if not token:
            raise InvalidInput("No token was given. Nothing was changed.")
    else:
        token = kept.value
    bot = "" if options.no_test else await name_of_bot(settings, token)
    where = keep_key(CHANNEL, token, data=settings.data) if kept is None else kept.where
    async with open_house(settings) as house:
        person, code = await show_code(house, await person_to_talk(house, options))
    at = f"https://t.me/{bot}" if bot else "your bot"
    print(f"The bot{f' @{bot}' if bot else ''} is connected; its token is in {where}.")
    print(f"Code for {person.name}: {code[:3]} {code[3:]}  (for ten minutes, once)")
    print(f"1. Have it running: oldfriend serve   (it runs already? oldfriend reload)\n"
          f"2. Open {at} as {person.name}, and send the code as a message.")  # fmt: skip
    return 0


async def disconnect(options: argparse.Namespace, settings: Settings) -> int:
    """Let the bot go; with --person, let only that person talk there no more."""
    if person_named(options) is not None:
        async with open_house(settings, create=False) as house:
            async with house.db.reading() as tx:
                person = await person_looked_into(tx, options)
            count = await let_go(house, person, CHANNEL)
        print(f"{person.name} is known on Telegram no more. What was said stays."
              if count else f"{person.name} was not known on Telegram.")  # fmt: skip
        return 0 if count else 1
    kept = token_of(settings, CHANNEL)
    if not forget_key(CHANNEL, data=settings.data):
        print(
            f"The token is in {kept.where}: take it out there." if kept else "No bot is connected."
        )
        return 1
    print("The token is gone from this machine; who was known there stays known.\n"
          "A running `oldfriend serve` lets go of the bot with `oldfriend reload`. To end the bot "
          "for good, write /deletebot to @BotFather.")  # fmt: skip
    return 0
