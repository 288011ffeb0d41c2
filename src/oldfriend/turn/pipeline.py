"""The main path of one reply: perceive, recall, act, respond, remember.

It reads and decides. What it decides is written elsewhere, in one transaction.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oldfriend.domain.working import WorkingMemory
from oldfriend.llm.missing import NoEmbedder
from oldfriend.llm.model import Say
from oldfriend.prompts.phrasebook import phrasebook, spoken_language
from oldfriend.turn.act import Actions, act
from oldfriend.turn.inner_life import in_mind_after
from oldfriend.turn.mind import Mind
from oldfriend.turn.mouth import Mouth
from oldfriend.turn.outcome import Outcome, Reply, Utterance
from oldfriend.turn.perceive import Intent, Perception, perceive
from oldfriend.turn.recall import Looking, no_other
from oldfriend.turn.remember import remember
from oldfriend.turn.respond import respond
from oldfriend.turn.sight import Sight, look, look_offline
from oldfriend.turn.trouble import Trouble, sentence_for

AMONG_OTHERS: Final[Mapping[Intent, Intent]] = {"remember": "statement", "about_me": "question"}


async def run_turn(said: Utterance, mind: Mind, *, say: Say | None = None) -> Outcome:
    """Everything that one utterance leads to; with ``say``, the reply as it is being written."""
    mouth = Mouth(say, name=said.companion.name)
    perception = perceived(said)
    sight = await look(said, perception, mind)
    actions = await act(said, perception, sight, mind, mouth)
    reply = await respond(said, perception, sight, actions, mind, mouth)
    return decided(said, perception, sight, actions, reply)


async def give_up(
    said: Utterance, mind: Mind, *, trouble: Trouble, spoken: str = "", say: Say | None = None
) -> Outcome:
    """What a turn leads to that was stopped from outside, because its model took too long.

    ``spoken`` is what had been said of the reply by then; the honest words go on from there.
    Memory is searched by words alone: nothing outside is asked any more.
    """
    mouth = Mouth(say, name=said.companion.name, text=spoken)
    perception = perceived(said)
    mind = replace(mind, looking=by_words_alone(mind.looking))
    sight = await look_offline(said, perception, mind.looking)
    actions = Actions(trouble=trouble)
    reply = await respond(said, perception, sight, actions, mind, mouth)
    return decided(said, perception, sight, actions, reply)


def perceived(said: Utterance) -> Perception:
    """What is wanted. In a group nothing is noted for anybody, and "me" is one of several."""
    perception = perceive(said.own_words, said.hearer)
    if not said.is_in_group:
        return perception
    intent = AMONG_OTHERS.get(perception.intent, perception.intent)
    return replace(perception, intent=intent, note=None)


def by_words_alone(looking: Looking) -> Looking:
    """The same places to look, without asking any model what words mean."""
    embedder = looking.embedder
    if embedder is not None:
        embedder = NoEmbedder(model=embedder.model, dimension=embedder.dimension)
    return replace(looking, embedder=embedder, former=no_other)


def apologise(said: Utterance) -> Outcome:
    """What a turn leads to that failed for a reason of our own, as often as it was tried."""
    language = spoken_language(said.person.language, said.message.language)
    return say_instead(said, sentence_for("broken", phrasebook(language)), trouble="broken")


def say_instead(said: Utterance, words: str, *, trouble: str) -> Outcome:
    """What a turn leads to in which nothing is answered but that it cannot be."""
    language = spoken_language(said.person.language, said.message.language)
    reply = Reply(text=words, language=language, details={})
    return Outcome(reply=reply, notes=(), language=None, tells=False, trouble=trouble)


def decided(
    said: Utterance, perception: Perception, sight: Sight, actions: Actions, reply: Reply
) -> Outcome:
    """Everything that a turn has decided."""
    return Outcome(
        reply=reply,
        notes=remember(said, perception, actions.uses),
        language=perception.detected,
        tells=not perception.only_asks,
        working=working_after(said, sight, actions, reply),
        trouble=actions.trouble,
        seen=seen_for(said, sight, actions, reply),
        read=(*sight.before, *sight.replied_to),
    )


def seen_for(
    said: Utterance, sight: Sight, actions: Actions, reply: Reply
) -> frozenset[str]:  # fmt: skip
    """The ids of all that a turn was decided from: what models were shown, and what was quoted."""
    understanding, briefing = sight.inner.understanding, actions.briefing
    return frozenset([
        *(each.id for each in said.messages),
        *(item.object for item in reply.items if item.used),
        *(() if understanding is None else understanding.saw),
        *(() if briefing is None else briefing.request.shown),
        *sight.inner.working.seen,
    ])  # fmt: skip


def working_after(
    said: Utterance, sight: Sight, actions: Actions, reply: Reply
) -> WorkingMemory | None:
    """What is in mind after a turn; None, as before, where no model has answered."""
    if actions.trouble is not None:
        return None
    result = actions.uses[-1].result if actions.uses else ""
    seen = () if actions.briefing is None else actions.briefing.request.shown
    return in_mind_after(
        said, sight.inner, reply.text, result=result, seen=seen, now=said.message.at
    )
