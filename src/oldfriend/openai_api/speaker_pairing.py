"""Speaker pairing: a front end's user is introduced once, with a code that a person is shown."""

from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import API_CHANNEL, Sender
from oldfriend.domain.ids import TurnId, new_id
from oldfriend.domain.messages import estimate_tokens
from oldfriend.inbound.account_linking import find_code, link_address
from oldfriend.inbound.link_commands import CODE_PATTERN
from oldfriend.inbound.system_replies import find_system_phrase
from oldfriend.openai_api.chat_reply import FinishedReply, FixedReply

NEW_CODE_COMMAND: Final = "oldfriend token code"
"""What shows a person the code that they send from a front end."""


async def answer_unknown_user(app: AppContext, sender: Sender, text: str) -> FixedReply:
    """Link a front end's user who sends a code; say to anybody else how they are introduced.

    Nothing of what they write is kept.
    """
    digits = CODE_PATTERN.fullmatch(text)
    phrase = "stranger" if digits is None else await redeem(app, sender, "".join(digits.groups()))
    said = find_system_phrase(sender, None, phrase, command=NEW_CODE_COMMAND)
    finished = FinishedReply(
        text=said, tokens_in=estimate_tokens(text), tokens_out=estimate_tokens(said)
    )
    return FixedReply(id=TurnId(new_id(app.clock())), finished=finished)


async def redeem(app: AppContext, sender: Sender, digits: str) -> str:
    """Link a user by a code, and return the phrase that says what came of it."""
    place = (API_CHANNEL, sender.address)
    code, _ = await find_code(app.db, app.clock, place, digits, is_known=False)
    if code is None:
        return "code_wrong"
    outcome = await link_address(app.db, app.clock, API_CHANNEL, sender, None, code)
    app.notifier.notify()
    return outcome
