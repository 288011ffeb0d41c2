"""What is forgotten while somebody reads is not learned from what they have read."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extraction import Extraction, ExtractionInput
from oldfriend.learning.extractor_factory import build_consolidation_deps
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.replies.reply_worker import answer_message
from tests.clock import FrozenClock
from tests.memory.deletion.life import rows_of

SECRET = "My dentist Ludovica Quarantotti found three enormous cavities."


pytestmark = pytest.mark.usefixtures("settings_folder")


async def test_context_message_forgotten_during_extraction_is_kept_out_of_the_summary(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A reader was shown it; what they made of it is thrown away, and they read again."""
    said = (await answer_message(app, chat_context, MessageSubmission(text=SECRET))).message
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)
    clock.tick(minutes=1)
    for text in ("I live in Porto.", "My cat is called Miso.", "I love jazz."):
        await answer_message(app, chat_context, MessageSubmission(text=text))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    means = await build_consolidation_deps(app, segment)
    shown: list[bool] = []

    async def read_and_tell(material: ExtractionInput) -> Extraction:
        shown.append(any(SECRET in each.text for each in material.context_messages))
        if len(shown) == 1:
            assert (
                await forget(app, chat_context.person.id, DeletionRequest(ids=(said.id,)))
            ).is_proved
        summary = SECRET if shown[-1] else "They talked."
        return replace(await means.extract(material), summary=summary)

    await consolidate(replace(means, extract=read_and_tell), segment)

    assert shown == [True, False]
    assert "Quarantotti" not in str(await rows_of(app.db, chat_context.person.id))
