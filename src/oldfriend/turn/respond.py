"""What is said back? The model's words; without a model, the offline companion's; or the truth.

A model that could not answer is admitted in the person's language, and what memory alone can say
is said instead. Never a made-up word.
"""

from dataclasses import replace

from oldfriend.domain.clock import from_micros
from oldfriend.domain.messages import Message
from oldfriend.prompts.phrasebook import SPOKEN, phrasebook
from oldfriend.prompts.prompt import reply_prompt
from oldfriend.turn.act import Actions
from oldfriend.turn.mind import Mind
from oldfriend.turn.mouth import Mouth
from oldfriend.turn.offline import offline_reply
from oldfriend.turn.outcome import Reply, Utterance
from oldfriend.turn.perceive import Perception
from oldfriend.turn.recall import id_of
from oldfriend.turn.receipting import item_of, listed_item
from oldfriend.turn.sight import Sight, look_offline
from oldfriend.turn.tracing import details_of
from oldfriend.turn.trouble import Trouble, sentence_for

ANSWERED_FROM_MEMORY = frozenset(
    {"question", "remember", "about_me", "promises", "why_so", "believed_then"}
)
"""What still gets an answer when the model gives none."""


async def respond(
    said: Utterance,
    perception: Perception,
    sight: Sight,
    actions: Actions,
    mind: Mind,
    mouth: Mouth,
) -> Reply:
    """The reply to one utterance; all of it has been said when this returns."""
    if mind.model is None:
        return await reply_offline(said, perception, sight, mouth)
    if actions.trouble is None:
        reply = reply_of_model(perception, sight, actions)
    else:
        reply = await reply_in_trouble(said, perception, sight, actions.trouble, mind, mouth)
    details = {**reply.details, **details_of(actions, sight)}
    return replace(reply, text=mouth.text, details=details)


async def reply_offline(
    said: Utterance, perception: Perception, sight: Sight, mouth: Mouth
) -> Reply:
    """The offline companion's reply; what it is comes first, once."""
    introduces = said.companion.introduced_at is None
    if introduces:
        await mouth.add(phrasebook(perception.language).say["offline"])
    reply = offline_reply(said, perception, sight)
    await mouth.add(reply.text)
    if perception.intent == "about_me":
        await mouth.add(what_they_wrote(sight, perception.language))
    return replace(reply, text=mouth.text, introduces=introduces)


def what_they_wrote(sight: Sight, language: str) -> str:
    """What the person has written about themselves, said back; empty where they have not."""
    own = [block.text for block in sight.acquaintance.blocks if block.name == "user"]
    return phrasebook(language).say["you_wrote"].format(text=own[0]) if own else ""


def reply_of_model(perception: Perception, sight: Sight, actions: Actions) -> Reply:
    """What the model said, and what it was shown: everything shown counts as used."""
    shown = frozenset[str]() if actions.briefing is None else actions.briefing.shown
    recollection = sight.recollection
    items = [item_of(each, used=id_of(each) in shown) for each in recollection.ranking]
    known = {item.object for item in items} | {each.id for each in sight.acquaintance.summaries}
    always = [each for each in sight.always_known if each in shown and each not in known]
    return Reply(
        text="",
        language=perception.detected or perception.language,
        items=(*items, *(listed_item("memory", each, 1) for each in always)),
        details={
            "intent": perception.intent,
            "language": perception.detected or perception.language,
            "author": reply_prompt().id,
            "signal": perception.signal,
            "risk": perception.suspicion.risk,
            "answerable": round(recollection.answerable, 3) if recollection.found else None,
            "degraded": recollection.degraded or sight.failure is not None,
        },
    )


async def reply_in_trouble(
    said: Utterance,
    perception: Perception,
    sight: Sight,
    trouble: Trouble,
    mind: Mind,
    mouth: Mouth,
) -> Reply:
    """The truth about the model, and what memory alone can answer.

    A model that rests for long is explained once a day; beside that the offline companion talks.
    """
    book = phrasebook(perception.language)
    if mouth.text:
        await mouth.add(book.say["broken_off"])
    is_known = trouble == "resting" and was_explained(said.message, sight.before, trouble)
    if not is_known:
        await mouth.add(sentence_for(trouble, book))
    from_memory = await look_offline(said, perception, mind.looking)
    reply = offline_reply(said, perception, from_memory)
    if not is_known and perception.intent not in ANSWERED_FROM_MEMORY and perception.note is None:
        return replace(reply, items=())
    if perception.intent == "question" and not is_known:
        await mouth.add(book.say["from_memory"])
    await mouth.add(reply.text)
    return reply


def was_explained(now: Message, before: tuple[Message, ...], trouble: Trouble) -> bool:
    """Whether the companion has told of this trouble today, by the clocks where the person is."""
    today = from_micros(now.at, now.zone).date()
    sentences = [sentence_for(trouble, phrasebook(language)) for language in SPOKEN]
    return any(
        sentence in message.text
        for message in before
        if message.role == "companion" and from_micros(message.at, now.zone).date() == today
        for sentence in sentences
    )
