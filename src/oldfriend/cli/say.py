"""oldfriend say: one thing said, one reply printed."""

import argparse
import json
import sys

from oldfriend.app.accepting import Said, open_line
from oldfriend.app.answering import Answer, answer
from oldfriend.app.catching_up import read_ripe
from oldfriend.app.embedding import LEFT_OVER, make_up
from oldfriend.app.house import House
from oldfriend.app.showing import explained, receipt_as_json
from oldfriend.app.waiting import Delay, Tell, in_words
from oldfriend.cli.opening import opened
from oldfriend.cli.remarks import remark
from oldfriend.cli.whom import person_to_talk
from oldfriend.domain.clock import parse_moment


async def run(options: argparse.Namespace) -> int:
    """Say it, print the reply; then make up for missing vectors, and read what is ripe."""
    text = sys.stdin.read() if options.text == "-" else options.text
    async with opened(options, create=True) as house:
        person = await person_to_talk(house, options)
        line = await open_line(house, person=person, channel=options.channel)
        at, zone = parse_moment(options.at, line.person.zone) if options.at else (None, None)
        tell = remark_on(text, line.person.language or house.settings.language)
        given = await answer(house, line, Said(text=text, at=at, zone=zone), tell=tell)
        print(await as_json(house, given) if options.json else given.reply.text, flush=True)
        trouble = await make_up(house, line.person.id, most=LEFT_OVER)
        trouble = await read_ripe(house, line.person.id) or trouble
    if trouble is not None:
        print(f"oldfriend: {trouble}", file=sys.stderr)
    return 0


def remark_on(text: str, language: str | None) -> Tell:
    """A way to tell why somebody waits for the answer to a text."""

    async def tell(delay: Delay) -> None:
        remark(in_words(delay, text, language))

    return tell


async def as_json(house: House, given: Answer) -> str:
    """The reply for a program."""
    async with house.db.reading() as tx:
        receipt = receipt_as_json(await explained(tx, given.receipt))
    return json.dumps(
        {"reply": given.reply.text, "turn": given.receipt.turn, "receipt": receipt},
        ensure_ascii=False,
    )
