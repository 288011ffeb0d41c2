"""Follow-up questions: who or what is meant is read from the latest turns of the same chat."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import Entity
from oldfriend.domain.messages import SESSION_IDLE_GAP, Message
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.search.name_index import NameSpans
from oldfriend.search.question_pronouns import (
    Mention,
    find_last,
    list_mentions,
    list_named,
    load_pronoun_grammar,
)
from oldfriend.turn.intent import Perception
from oldfriend.turn.question_parts import split_question
from oldfriend.turn.recalled import SearchDeps
from oldfriend.turn.retrieval import READ_ERRORS
from oldfriend.turn.role_names import list_own_names
from oldfriend.turn.turn_outcome import Utterance

MAX_TURNS: Final = 4
"""Turns of a chat in which what a question means is looked for."""
MAX_MESSAGES: Final = 12
"""Messages that are read for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierTurn:
    """What a person said earlier in a chat, and how it was answered."""

    asked: str
    answered: str
    language: str
    message_ids: tuple[MessageId, ...]


async def resolve_follow_up(
    utterance: Utterance, perception: Perception, search_deps: SearchDeps
) -> Perception:
    """Return the perception of a question with names instead of the pronouns in what it asks.

    Nothing changes if the question names somebody itself, or if nobody was named lately.
    """
    if perception.intent != "question":
        return perception
    question = perception.question or utterance.text
    language = perception.detected_language or perception.language
    parts = split_question(question, perception.language)
    grammar = load_pronoun_grammar(language)
    if not any(map(grammar.find_gap, parts)):
        return perception
    try:
        async with search_deps.db.begin_read() as tx:
            resolver = await load_resolver(tx, utterance, search_deps)
    except READ_ERRORS:  # recall reports what cannot be read
        return perception
    before = resolver.list_mentions(utterance.text.partition(question)[0], language)
    named_in: list[MessageId] = []
    for part in parts:
        resolved, turn = resolver.resolve(part, language, before)
        question = question.replace(part, resolved, 1)
        before += resolver.list_mentions(resolved, language)
        named_in += () if turn is None else turn.message_ids
    return replace(perception, question=question, named_in=tuple(named_in))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """Finds who was named in the latest turns of a chat."""

    turns: Sequence[EarlierTurn]  # oldest first
    entities: Sequence[Entity]  # those that any text names; none is the person

    def list_mentions(self, text: str, language: str) -> list[Mention]:
        """List whom and what a text names."""
        return list_mentions(text, language, self.entities) if text else []

    def resolve(
        self, question: str, language: str, before: Sequence[Mention]
    ) -> tuple[str, EarlierTurn | None]:
        """Return a question with the names that it lacks, and the turn that has them, if one does.

        It means who was named before in the same message, else lately, unless it names another.
        """
        grammar = load_pronoun_grammar(language)
        gap = grammar.find_gap(question)
        if gap is None:
            return question, None
        own = self.list_mentions(question, language)
        turn = None
        antecedent = find_last(
            [*before, *(each for each in own if each.start < gap.start)], gap.kinds
        )
        if antecedent is None and not any(each.is_person in gap.kinds for each in own):
            turns = self.turns[-1:] if gap.is_left_out else self.turns
            antecedent, turn = self.find_lately(turns, gap.kinds)
        filled = question if antecedent is None else grammar.fill(question, gap, antecedent)
        return filled, turn

    def find_lately(
        self, turns: Sequence[EarlierTurn], kinds: Sequence[bool]
    ) -> tuple[Mention | None, EarlierTurn | None]:
        """Return who or what was named last in some of the turns, and in which.

        In each, it is whom the person named last, or the only one that the reply names.
        """
        for turn in reversed(turns):
            asked = find_last(self.list_mentions(turn.asked, turn.language), kinds)
            if asked is not None:
                return asked, turn
            told = list_named(turn.answered, NameSpans(self.entities))
            named = {each.name: each for each in told if each.is_person in kinds}
            if len(named) == 1:
                return next(iter(named.values())), turn
        return None, None


async def load_resolver(tx: Transaction, utterance: Utterance, search_deps: SearchDeps) -> Resolver:
    """Load the latest turns of the chat, and the entities that they name."""
    person, last = utterance.person, utterance.message
    answered = {each.id for each in utterance.messages}
    recent = await list_recent_messages(
        tx, last.person, last.chat, limit=MAX_MESSAGES + len(answered)
    )
    first_at = last.at - SESSION_IDLE_GAP
    before = [each for each in recent if each.id not in answered and first_at <= each.at <= last.at]
    turns = [*list_turns(before, last)][-MAX_TURNS:]
    texts = [utterance.text, *(text for each in turns for text in (each.asked, each.answered))]
    own_names = await list_own_names(tx, search_deps.index_cache, person)
    beliefs = await search_deps.index_cache.get_belief_index(tx, person.id)
    return Resolver(turns=turns, entities=beliefs.list_named_entities("\n".join(texts), own_names))


def list_turns(messages: Sequence[Message], last: Message) -> Iterator[EarlierTurn]:
    """Yield the turns of whoever wrote the last message, oldest first."""
    asked, answers = None, list[Message]()
    for each in messages:
        if each.role == "companion":
            answers.append(each)
        elif (each.role, each.speaker) == (last.role, last.speaker) and each.trust != "outside":
            if asked is not None or answers:
                yield build_turn(asked, answers)
            asked, answers = each, []
    if asked is not None or answers:
        yield build_turn(asked, answers)


def build_turn(asked: Message | None, answers: Sequence[Message]) -> EarlierTurn:
    """Build a turn; what the companion says unasked has nothing that was asked."""
    return EarlierTurn(
        asked="" if asked is None else asked.text,
        answered="\n".join(each.text for each in answers),
        language="" if asked is None else asked.language or "",
        message_ids=tuple(each.id for each in (asked, *answers) if each is not None),
    )
