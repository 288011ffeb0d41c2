"""Message editor: edits messages on Telegram so that none is applied after a later one."""

import asyncio
from collections import OrderedDict
from functools import partial
from typing import Final

from telegram import Bot, InlineKeyboardMarkup
from telegram.error import BadRequest

from oldfriend.channels.marked_text import MarkedText
from oldfriend.channels.telegram.api_errors import MARKUP_ERROR, map_send_errors, to_undeliverable
from oldfriend.channels.telegram.http_client import TelegramHttpClient
from oldfriend.domain.errors import DeliveryFailed

NOT_MODIFIED: Final = "message is not modified"
LATE_EDIT_S: Final = 2.0
"""How long an edit whose answer is no longer awaited may still take to arrive."""
MAX_KNOWN: Final = 1_024


class MessageEditor:
    """Edits messages; the caller holds a lock on the message.

    Hanging up does not withdraw an edit that was sent: it may be applied after a later one. So each
    edit waits until the one before was answered or has timed out.
    """

    def __init__(self, bot: Bot, client: TelegramHttpClient) -> None:
        """Start without known edits."""
        self._bot = bot
        self._client = client
        # Messages we have edited, the latest last.
        self._known: OrderedDict[str, None] = OrderedDict()
        self._unanswered: set[str] = set()  # those whose earlier edit may still be applied

    async def edit(
        self,
        chat_id: int,
        message_id: int,
        rendered: MarkedText,
        *,
        key: str,
        is_last: bool,
        keyboard: InlineKeyboardMarkup | None = None,
    ) -> None:
        """Replace the text and keyboard of a message; does nothing if it is so already.

        The last edit is made twice if an earlier one may still be applied after it: one that was
        never answered, or that another process made. Raises DeliveryFailed, Undeliverable,
        GroupMigrated.
        """
        await self._client.wait_until_idle(key)
        is_known = self.mark_known(key)
        await self._edit_once(chat_id, message_id, rendered, key, keyboard)
        if is_last and (not is_known or key in self._unanswered):
            await asyncio.sleep(LATE_EDIT_S)
            await self._edit_once(chat_id, message_id, rendered, key, keyboard)
            self._unanswered.discard(key)

    def mark_known(self, key: str) -> bool:
        """Tell whether all earlier edits of a message were ours; from now on they are known."""
        is_known = key in self._known
        self._known[key] = None
        self._known.move_to_end(key)
        while len(self._known) > MAX_KNOWN:
            self._unanswered.discard(self._known.popitem(last=False)[0])
        return is_known

    async def _edit_once(
        self,
        chat_id: int,
        message_id: int,
        rendered: MarkedText,
        key: str,
        keyboard: InlineKeyboardMarkup | None,
    ) -> None:
        """Edit once, as plain text if Telegram cannot parse the markup."""
        for text, mode in ((rendered.text, "HTML"), (rendered.visible, None)):
            try:
                with map_send_errors(passthrough=BadRequest):
                    await self._bot.edit_message_text(
                        text,
                        chat_id=chat_id,
                        message_id=message_id,
                        parse_mode=mode,
                        reply_markup=keyboard,
                        api_kwargs=self._client.build_order_field(key),
                    )
            except BadRequest as error:
                if NOT_MODIFIED in str(error).lower():
                    return
                if MARKUP_ERROR not in str(error).lower() or mode is None:
                    raise to_undeliverable(error) from error
            except DeliveryFailed:
                self._unanswered.add(key)
                raise
            except asyncio.CancelledError:
                self._client.on_failure(key, partial(self._unanswered.add, key))
                raise
            else:
                return
