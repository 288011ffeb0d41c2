"""Eager extraction: reads new messages at once, before beliefs are listed or answered from.

So a person who says where they live and then asks for it gets the answer at once, in whichever
conversation. If this fails, the job stays scheduled and the segment is read later.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from oldfriend.app.app_context import LearningContext
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import PersonId, SessionId
from oldfriend.domain.messages import Message
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.message_log import get_last_seq, list_recent_messages
from oldfriend.memory.restatement_detection import has_correction_words
from oldfriend.memory.segments import list_uncut_spans, list_waiting_segments
from oldfriend.turn.intent import perceive
from oldfriend.turn.later_messages import is_putting_right
from oldfriend.turn.turn_outcome import Utterance

TIMEOUT_S: Final = 5.0
"""Seconds that the answer waits; then it uses what was extracted by then."""
MAX_SESSION_MESSAGES: Final = 60
"""Maximum number of recent messages that are searched for unread statements."""
MAX_UNREAD_MESSAGES: Final = 1000
"""The newest messages of a person, among which sessions that are not read yet are looked for."""


async def extract_before_reply(app: LearningContext, utterance: Utterance) -> None:
    """Have rules extract what was said if the person asks for beliefs, or has put something right.

    Also what puts something right itself, so that the reply can tell what it changes.

    Without effect if a model is configured: it extracts on its own schedule, and the model that
    replies sees the session.
    """
    if app.models:
        return
    session = utterance.message.session
    perception = perceive(utterance.own_words, utterance.addressee)
    if await is_putting_right(app.db, utterance, perception):
        await extract_unread(app, utterance.person.id, first=session)
        return
    is_asking = perception.is_asking_for_beliefs
    if not is_asking and perception.intent != "question":
        return
    unread = await list_unread_statements(app.db, utterance)
    if not is_asking and not any(has_correction_words(e.text, e.language) for e in unread):
        return
    is_told = bool(unread)
    await extract_unread(
        app,
        utterance.person.id,
        first=session if is_told else None,
        left_out=() if is_told else (session,),
    )


async def extract_unread(
    app: LearningContext,
    person: PersonId,
    *,
    first: SessionId | None = None,
    left_out: Sequence[SessionId] = (),
) -> None:
    """Have rules read the newest messages that are not read yet, within a few seconds.

    The session ``first`` is read before others. Without effect if a model is configured.
    """
    if app.models or not app.settings.memory.forms:
        return
    try:
        async with asyncio.timeout(TIMEOUT_S):
            async with app.db.begin_read() as tx:
                sessions = await list_unread_sessions(tx, person)
            for session in sorted(sessions, key=lambda each: each != first):
                if session not in left_out:
                    await extract_session(app, person, session)
            async with app.db.begin_read() as tx:
                newest = await get_last_seq(tx, person) - MAX_UNREAD_MESSAGES
                waiting = await list_waiting_segments(tx, person)
            for segment in waiting:
                if segment.last_seq > newest:
                    await consolidate_segment(app, person, segment.id)
    except (TimeoutError, OldfriendError):
        return


async def list_unread_sessions(tx: Transaction, person: PersonId) -> list[SessionId]:
    """List the sessions in which the person said something that is in no segment yet."""
    newest = await get_last_seq(tx, person) - MAX_UNREAD_MESSAGES
    uncut = await list_uncut_spans(tx, person, after=max(newest, 0))
    return [*dict.fromkeys(each.session for each in uncut if each.turns)]


async def extract_session(app: LearningContext, person: PersonId, session_id: SessionId) -> None:
    """Cut what is not read yet of a session, and have rules read it."""
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, person, cut_reason="asked", session_id=session_id
    ):
        await consolidate_segment(app, person, segment.id)


async def list_unread_statements(db: Database, utterance: Utterance) -> list[Message]:
    """List what the person has stated in this session that is not extracted yet."""
    person, message = utterance.person.id, utterance.message
    async with db.begin_read() as tx:
        uncut = await list_uncut_spans(tx, person, session_id=message.session)
        recent = await list_recent_messages(tx, person, message.chat, limit=MAX_SESSION_MESSAGES)
    first = min((each.first_seq for each in uncut), default=message.seq)
    return [
        each
        for each in recent
        if first <= each.seq < message.seq
        and each.role == "person"
        and not perceive(each.text, utterance.addressee).is_only_question
    ]
