"""Reply grading: whether a reply gives the answer to a question of a blind life, by its values.

No judge: it looks for values and for where they stand. What holds a wrong value beside the right
one is told apart as mixed, to be read by somebody. `grader_check` says how far it can be trusted.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from oldfriend.domain.clock import from_micros
from oldfriend.lang.number_words import write_digits
from oldfriend.learning.critical_tokens import is_text_negated
from oldfriend_evals.blind_lives import BlindLife, Record
from oldfriend_evals.day_values import DayReader

DECLINING: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"""\b(?:
            (?<!he\ )(?<!she\ )(?<!they\ )
              (?:do|did|does|could|can|have|has|had|is|was|are)n't\ (?:\w+\ )?
              (?:remember|recall|know|have|see|find|told|said|say|tell|mention\w*|sure|got|think)
          | (?:never|not)\ (?:told|said|say|mention\w*|sure|something\ you)
          | no\ (?:record|mention|memory|note|idea)
          | nothing\ (?:about|on|in|from)
        )\b""",
        re.VERBOSE | re.IGNORECASE,
    )
}
"""How a reply says that it does not know, by language; where none is given it is not judged."""
SENTENCE: Final = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？](?=\d)[^.!?。！？\n]*)*[.!?。！？\n]*")
CLAUSE_BREAK: Final = re.compile(r"[,;:—–，；：](?!\d)")
THOUSANDS: Final = re.compile(r"(?<=\d)[,.](?=\d{3}(?!\d))")


def grade_reply(life: BlindLife, question: Record, reply: str) -> dict[str, Any]:
    """Grade a reply: right, mixed, declined or wrong, and the wrong values that it holds.

    Right holds every part of the answer, in words that do not deny it. Mixed holds it, too, but
    names a wrong value first or in the same sentence, or only asks.
    """
    language = life.about["language"]
    days, told = build_day_reader(life), write_numbers(reply, language)
    declining = DECLINING.get(language)
    declines = declining is not None and bool(declining.search(reply.replace("’", "'")))
    wrong = [
        each
        for each in question.get("wrong", ())
        if days.holds_any(told, [*list_forms(each), f"{each}s"])
    ]
    if question["answerable"] and holds_answer(days, question, told):
        is_clear = is_told_clearly(days, question, told, wrong)
        verdict = "right" if is_clear else "mixed"
    elif declines:
        verdict = "declined"
    else:
        verdict = "not judged" if declining is None else "wrong"
    return {"verdict": verdict, "wrong_values": wrong}


def write_numbers(text: str, language: str) -> str:
    """Return a text with its numbers in digits, without marks between thousands."""
    return THOUSANDS.sub("", write_digits(text, language))


def list_forms(value: str) -> list[str]:
    """Return a value as it is given, and as `write_numbers` writes it."""
    return list(dict.fromkeys((value, THOUSANDS.sub("", value))))


def holds_answer(days: DayReader, question: Record, told: str) -> bool:
    """Whether a reply holds every part of the answer where it is not denied.

    A question or answer that denies something itself is answered so.
    """
    forms = [[form for each in part for form in list_forms(each)] for part in question["answers"]]
    texts = [question["text"], *(form for part in forms for form in part)]
    may_deny = any(is_text_negated(text, days.language) for text in texts)
    return bool(forms) and all(holds_part(days, part, told, may_deny=may_deny) for part in forms)


def holds_part(days: DayReader, part: Sequence[str], told: str, *, may_deny: bool) -> bool:
    """Whether a reply holds a part of an answer in a clause that does not deny it."""
    clauses = [each for each in CLAUSE_BREAK.split(told) if days.holds_any(each, part)]
    if may_deny or not clauses:
        return days.holds_any(told, part)
    return any(not is_text_negated(each, days.language) for each in clauses)


def is_told_clearly(days: DayReader, question: Record, told: str, wrong: Sequence[str]) -> bool:
    """Whether a part of the answer comes before each wrong value, in a sentence without one."""
    if not wrong:
        return True
    right = [form for part in question["answers"] for each in part for form in list_forms(each)]
    for sentence in iter_sentences(told):
        has_wrong = days.holds_any(sentence, [*wrong, *(f"{each}s" for each in wrong)])
        if days.holds_any(sentence, right):
            return not has_wrong and not sentence.rstrip().endswith(("?", "？"))
        if has_wrong:
            return False
    return False


def iter_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text."""
    yield from (each[0] for each in SENTENCE.finditer(text) if each[0].strip())


def build_day_reader(life: BlindLife) -> DayReader:
    """Return the reader of days for the replies of a life: as they are written there."""
    language, zone = life.about["language"], life.about["zone"]
    return DayReader(
        language=language,
        today=from_micros(life.end, zone).date(),
        is_month_first=language == "en" and zone.startswith("America/"),
    )
