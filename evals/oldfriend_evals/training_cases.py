"""Training cases beside the questions of whole conversations.

That there may be few messages; that nothing may be embedded yet; that words which were said
find the message that says them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend_evals.datasets import Conversation, Query
from oldfriend_evals.retrieval_eval import (
    UNASKED,
    Case,
    Embed,
    build_case,
    build_index,
    embed_query,
    list_answerable_cases,
)

# A history of so many messages is still a small one.
_SMALL: Final = (1, 2, 5, 12)
_WORDS_SAID: Final = 2
_WORDS_SAID_EVERY: Final = 10  # messages
# Words must do alone when nothing was embedded yet: for every so many a question.
_WITHOUT_VECTOR: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """Everything that finding is taught, by what it teaches."""

    whole: list[Case]  # questions with an answer, of whole conversations
    bare: list[Case]
    small: list[Case]
    said: list[Case]

    @property
    def all(self) -> list[Case]:
        """All of them."""
        return [*self.whole, *self.bare, *self.small, *self.said]


def build_lessons(conversations: Sequence[Conversation], embed: Embed) -> Lessons:
    """What these conversations teach."""
    return Lessons(
        whole=list_answerable_cases(conversations, embed),
        bare=list_cases_without_vectors(conversations, embed),
        small=list_small_history_cases(conversations, embed),
        said=list_quoted_cases(conversations, embed),
    )


def list_cases_without_vectors(conversations: Sequence[Conversation], embed: Embed) -> list[Case]:
    """Some questions with an answer, asked as if nothing had been embedded."""
    cases: list[Case] = []
    for conversation in conversations:
        index = build_index(conversation, embed)
        for query in conversation.queries[::_WITHOUT_VECTOR]:
            if query.evidence and query.kind != UNASKED:
                cases += build_case(conversation, conversation, index, query, None)
    return cases


def list_quoted_cases(conversations: Sequence[Conversation], embed: Embed) -> list[Case]:
    """Some words of a message, as somebody asks who remembers them: they must find it.

    Asked of a few messages, mostly without vectors: else it would be learned that what stands
    beside the words is as good, since in real questions the answer often does.
    """
    cases: list[Case] = []
    for conversation in conversations:
        for at in range(0, len(conversation.lines), _WORDS_SAID_EVERY):
            line = conversation.lines[at]
            words = sorted(dict.fromkeys(line.text.split()), key=len)[-_WORDS_SAID:]
            if len(words) < _WORDS_SAID:
                continue
            query = Query(
                text=" ".join(words),
                evidence=frozenset({line.id}),
                kind="words",
                language=line.language,
            )
            first = max(at - at % _SMALL[-1], 0)
            few = replace(conversation, lines=conversation.lines[first : first + _SMALL[-1]])
            vector = None if at % _WITHOUT_VECTOR else embed_query(query, embed)
            found = build_case(few, conversation, build_index(few, embed), query, vector)
            cases += [replace(case, is_small=True) for case in found]
    return cases


def list_small_history_cases(conversations: Sequence[Conversation], embed: Embed) -> list[Case]:
    """Each question asked of a few messages that hold its answer, and of a few that do not."""
    cases: list[Case] = []
    for conversation in conversations:
        for number, query in enumerate(conversation.queries):
            if not query.evidence or query.kind == UNASKED:
                continue
            size = _SMALL[number % len(_SMALL)]
            vector = embed_query(query, embed) if number % _WITHOUT_VECTOR else None
            for few in _take_excerpts(conversation, query, size, number):
                asked = replace(query, evidence=query.evidence & {line.id for line in few.lines})
                found = build_case(few, conversation, build_index(few, embed), asked, vector)
                cases += [replace(case, is_small=True) for case in found]
    return cases


def _take_excerpts(
    conversation: Conversation, query: Query, size: int, number: int
) -> Iterator[Conversation]:
    """A stretch of the conversation around an answer, and one far from all answers."""
    lines = conversation.lines
    answers = [at for at, line in enumerate(lines) if line.id in query.evidence]
    first = max(answers[0] - number % size, 0)
    yield replace(conversation, lines=lines[first : first + size])
    for shift in range(1, 10):
        away = (answers[0] + shift * len(lines) // 10) % (len(lines) - size)
        if all(not away - size <= at <= away + 2 * size for at in answers):
            yield replace(conversation, lines=lines[away : away + size])
            return
