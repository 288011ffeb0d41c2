"""Goal progress: what a person says they have done, counted for the goal that it serves.

"I ran 5 km this morning" counts for "run twice a week". It is read like a kept promise: by what is
said to be done and its words. In doubt it counts for nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Database
from oldfriend.domain.clock import DAY, Micros, from_micros
from oldfriend.domain.messages import MAX_SENTENCE_CHARS, Message
from oldfriend.goals.goal import Goal, GoalState
from oldfriend.goals.goal_desk import GoalDesk, add_up, find_first_day
from oldfriend.goals.goal_phrases import GoalPhrases, load_goal_phrases
from oldfriend.goals.goal_totals import GoalTotal, find_countable, find_total
from oldfriend.goals.told_amounts import SIGNS
from oldfriend.lang.detection import is_possible_language
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.learning.rule_extraction.datetimes import due_in, past_in, without_times
from oldfriend.learning.rule_extraction.promises import Deed, deeds_in, matter_of, verb_stem
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence, statements_in
from oldfriend.measurements.lexicon import (
    BREAK_CLASS,
    NUMBER_CLASS,
    Token,
    get_lexicon,
)
from oldfriend.measurements.measurement_corrections import is_bare_number
from oldfriend.measurements.measurement_reader import Moment, read_message
from oldfriend.measurements.measures import MEASURES, is_plausible
from oldfriend.measurements.quantities import find_quantities
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.replies.amount_progress import (
    TELLING,
    GoalWords,
    collect_light,
    collect_wanted,
    count_told,
    decide_fix,
    normalize,
    undo_count,
)
from oldfriend.search.tokenizer import is_stop_word, stem_word
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues
from oldfriend.turn.attribution.quoted_spans import find_borrowed_spans
from oldfriend.turn.request_handlers.goal_requests import COMMAND as GOAL_COMMAND
from oldfriend.turn.request_handlers.goal_requests import (
    build_handled,
    open_desk,
    tells_of_others,
)
from oldfriend.turn.request_handlers.handler import (
    QUESTION_MARKS,
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.request_kinds import (
    choose_kind,
    classify_request,
    find_named,
    find_request,
    is_negated,
)

NAME: Final = "goal progress"
SENTENCE_END: Final = " .!\u3002\uff01"
MAYBE_DONE: Final = 0.35
"""How likely a sentence that names a goal must be to tell of something done for it."""
BARE: Final = " \u00b7"
"""What stands for the words that a bare deed lacks, as in "I ran"."""
JOINED: Final = "\u00b7, "
"""What stands before a sentence that goes on from the one before it, as in "Then I ran 3 km"."""


async def handle_progress(context: HandlerContext) -> HandledRequest | None:
    """Count what a message tells for one goal; all of the text is left for others."""
    message = context.utterance.message
    languages = list_languages("goals")
    if message.trust != "person" or message.language not in languages or not context.text.strip():
        return None
    if GOAL_COMMAND.fullmatch(context.text):
        return None  # what is wanted, not what was done
    desk = await open_desk(context, message.language)
    undone = await undo_count(context, desk)
    if undone is not None:
        decision, has_tasks = undone
        handled = build_handled(desk, decision)
        rest = context.text if has_tasks else ""
        return replace(handled, name=NAME, is_whole_message=False, rest=rest)
    fixed = decide_fix(desk, message)
    if fixed is not None:
        handled = build_handled(desk, fixed)
        return replace(handled, name=NAME, is_whole_message=False, rest=context.text)
    counted = [
        (each, amount)
        for each in desk.states
        if (amount := count_new(each, message, now=desk.scope.now))
    ]
    if not counted:
        desk = await open_desk(context, context.perception.language)
        counted = [(each, 1) for each in find_likely(desk, context.text)]
        counted = [each for each in counted if find_total(each[0].goal) is None]
    if len(counted) != 1 or is_counted(counted[0][0], message):
        return None
    if is_bare_number(message.text, get_lexicon(message.language)) and await is_asked(
        context.db, message
    ):
        return None
    handled = build_handled(desk, desk.count(*counted[0]))
    is_all = find_countable(counted[0][0].goal) is not None and tells_nothing_else(message)
    return replace(handled, name=NAME, is_whole_message=False, rest="" if is_all else context.text)


async def is_asked(db: Database, message: Message) -> bool:
    """Whether what was said last before a message asks something, which a number may answer."""
    async with db.begin_read() as tx:
        earlier = await list_recent_messages(
            tx, message.person, message.chat, limit=1, before=message.seq
        )
    return any(mark in each.text for each in earlier for mark in QUESTION_MARKS)


def tells_nothing_else(message: Message) -> bool:
    """Whether a message whose amount was counted asks for nothing, and tells no measured number.

    A bare number is none: it was told for the goal.
    """
    if len(split_sentences(message.text)) != 1:
        return False
    if choose_kind(message.text, message.language) not in TELLING:
        return False
    moment = Moment(at=message.at, zone=message.zone, takes_impossible=True)
    lexicon = get_lexicon(message.language)
    is_bare = is_bare_number(message.text, lexicon)
    return is_bare or read_message(message.text, moment, lexicon) is None


def find_likely(desk: GoalDesk, text: str) -> list[GoalState]:
    """Return the goals whose words a text shares that most likely tells of something done.

    Goals of whole things, such as books, and of giving something up are left to the rules.
    """
    language = desk.scope.language
    found = find_request(text, language, "goal_progress")
    if found is None and not may_be_progress(text, language):
        return []
    said = text if found is None else found.said
    phrases = load_goal_phrases(language)
    known = {
        each.goal.id: phrases.without_rhythm(each.goal.text)
        for each in desk.states
        if is_negated(said, language) == is_negated(each.goal.text, language)
        and phrases.quits.search(each.goal.text) is None
        and is_enough(each.goal, said, language)
    }
    named = find_named(said, known, language)
    return [
        each
        for each in desk.states
        if each.goal.id in named and phrases.find_pieces(each.goal.text) is None
    ]


def may_be_progress(text: str, language: str) -> bool:
    """Whether a sentence is likelier to tell of something done than of anything else.

    It is little, but for a sentence that also has the words of a goal.
    """
    if len(text) > MAX_SENTENCE_CHARS or len(split_sentences(text)) != 1:
        return False
    likely = classify_request(text, language)
    is_likeliest = max(likely, key=lambda each: likely[each]) == "goal_progress"
    is_likely = is_likeliest and likely["goal_progress"] >= MAYBE_DONE
    return is_likely and not find_borrowed_spans(text, language)


def is_counted(goal_state: GoalState, message: Message) -> bool:
    """Whether a message was counted for a goal already, or has set it."""
    return message.id in {goal_state.goal.message, *(each.message for each in goal_state.progress)}


def is_served(goal: Goal, message: Message, *, now: Micros) -> bool:
    """Whether a message tells of something done that serves a goal."""
    return count_served(goal, message, now=now) > 0


def count_new(goal_state: GoalState, message: Message, *, now: Micros) -> int:
    """Return how much more a message tells than was counted, where it tells all of it so far."""
    amount, text = count_served(goal_state.goal, message, now=now), fold_punctuation(message.text)
    is_all = find_total(goal_state.goal) and load_goal_phrases(
        goal_state.goal.language
    ).so_far.search(text)
    earlier = add_up(each for each in goal_state.progress if each.message != message.id)
    return max(amount - earlier, 0) if is_all else max(amount, -earlier)


def count_served(goal: Goal, message: Message, *, now: Micros) -> int:
    """Return how many things that serve a goal a message says were done; 0: it tells of none.

    It is read in the language of the goal: of few words nobody knows in which they are.
    """
    if not is_possible_language(message.text, goal.language):
        return 0
    message = replace(message, language=goal.language)
    book, phrases = load_rule_book(message.language), load_goal_phrases(message.language)
    total = find_total(goal)
    wanted = collect_wanted(
        goal if total is None else replace(goal, text=total.words), phrases, book
    )
    sentences = list(statements_in(message, book))
    is_han = get_traits(book.language).is_han
    is_alone = len(sentences) == 1
    told_deeds = [
        (told.plain, deed, "" if is_alone else sentence.plain)
        for sentence in sentences
        if not is_long_ago(sentence, goal, book, now=now)
        for told in (list_told(sentence, phrases, book) if is_alone else [sentence])
        if not (is_han and tells_of_others(told.plain, book.language))  # whose deed it is
        for deed in list_deeds(told, phrases, book)
    ]
    deeds = [deed for _, deed, _ in told_deeds]
    if goal.rhythm is None and is_measured(goal) and tells_level(message):
        return 0
    countable = find_countable(goal)
    if countable is not None and not countable.noun and tells_impossible(message):
        return 0
    passing = count_by_sentence(goal, countable, wanted, sentences, book, now=now)
    if total is not None:
        return max(count_deeds(total, wanted, told_deeds, phrases, book), passing) or passing
    pieces = phrases.find_pieces(goal.text)
    if pieces is not None:
        noun = frozenset(normalize(each, book) for each in matter_of(pieces.noun, book.language))
        counted = (each for each in deeds if is_piece_done(wanted, noun, each, phrases, book))
        return max((passing, *(count_pieces(each, phrases, book) for each in counted)))
    done = [each for each in deeds if wanted and is_done(wanted, each, phrases, book)]
    return int(any(is_enough(goal, each.told, book.language) for each in done))


def count_deeds(
    total: GoalTotal,
    wanted: frozenset[str],
    told_deeds: Sequence[tuple[str, Deed, str]],
    phrases: GoalPhrases,
    book: RuleBook,
) -> int:
    """Return how much of a total is told by deeds, each with its sentence and that one's place."""
    most: dict[str, int] = {}  # in each sentence, which may be read in several ways
    for plain, deed, place in told_deeds:
        whole = with_whole_object(deed, plain, book)
        if is_done(wanted, whole, phrases, book):
            amount = total.find_amount(whole.told, book.language)
            most[place] = max(most.get(place, 0), amount)
    return sum(most.values())


def count_by_sentence(
    goal: Goal,
    total: GoalTotal | None,
    wanted: frozenset[str],
    sentences: Sequence[Sentence],
    book: RuleBook,
    *,
    now: Micros,
) -> int:
    """Return how much of a total, if it is one, the sentences tell in passing."""
    if total is None or is_over(goal, sentences):
        return 0
    phrases, amount = load_goal_phrases(book.language), 0
    words = GoalWords(wanted=wanted, light=collect_light(phrases, book), phrases=phrases)
    for sentence in sentences:
        coming = due_in(sentence.plain, sentence.message, book)
        is_coming = coming is not None and coming.begins > sentence.message.at
        if is_coming or sentence.is_question or is_long_ago(sentence, goal, book, now=now):
            continue
        deeds = [
            deed
            for told in list_told(sentence, phrases, book)
            for deed in list_deeds(told, phrases, book)
        ]
        verbs = frozenset(each.verb for each in deeds if each.verb)
        amount += count_told(total, sentence.plain, words, verbs, book)
    return amount


def is_over(goal: Goal, sentences: Sequence[Sentence]) -> bool:
    """Whether sentences were said more than a day after the day by which a goal was wanted."""
    ends = goal.deadline
    return ends is not None and any(each.message.at > ends + DAY for each in sentences)


def is_measured(goal: Goal) -> bool:
    """Whether a goal names an amount with its unit."""
    lexicon = get_lexicon(goal.language)
    return any(each.unit for each in find_quantities(lexicon.split_tokens(goal.text), lexicon))


def tells_level(message: Message) -> bool:
    """Whether a message tells a number that does not add up over days, such as a weight."""
    moment = Moment(at=message.at, zone=message.zone)
    read = read_message(message.text, moment, get_lexicon(message.language))
    measures = () if read is None else (each.measure for each in read.measured)
    return any(each.name in MEASURES and not each.is_summed for each in measures)


def tells_impossible(message: Message) -> bool:
    """Whether a message tells a number that cannot be right, and is kept as none."""
    moment = Moment(at=message.at, zone=message.zone, takes_impossible=True)
    read = read_message(message.text, moment, get_lexicon(message.language))
    measured = () if read is None else read.measured
    return not all(is_plausible(each.measure, each.value, each.unit) for each in measured)


def with_whole_object(deed: Deed, plain: str, book: RuleBook) -> Deed:
    """Return a deed with all that its sentence tells behind the verb: "-2.5 km", not "2"."""
    begins = plain.find(deed.told.strip(f"{SENTENCE_END}{BARE}"))
    signed = len(plain[: max(begins, 0)].rstrip(SIGNS))
    told = without_times(plain[signed:], book).strip(SENTENCE_END)
    return deed if begins < 0 else replace(deed, told=told)


def is_enough(goal: Goal, told: str, language: str) -> bool:
    """Whether what was done is as much as is wanted each time, where both name one such amount.

    3 km are not "20 km a week"; where less is better, any amount is enough.
    """
    lexicon, phrases = get_lexicon(language), load_goal_phrases(language)
    is_limited = any(each.search(goal.text) for each in (phrases.at_most, phrases.quits))
    if is_limited:
        return True
    wanted, done = (
        find_quantities(lexicon.split_tokens(text), lexicon)
        for text in (phrases.without_rhythm(goal.text), told)
    )
    if len(wanted) != 1 or wanted[0].unit is None:
        return True
    alike = [each.value for each in done if each.unit == wanted[0].unit]
    return len(alike) != 1 or alike[0] >= wanted[0].value


def list_deeds(sentence: Sentence, phrases: GoalPhrases, book: RuleBook) -> Iterator[Deed]:
    """Yield what a sentence says somebody has done, also without an object."""
    if sentence.is_question or load_cues(book.language).negation.search(
        fold_punctuation(sentence.plain)
    ):
        return
    yield from deeds_in(sentence, book)
    told = without_times(sentence.plain, book).strip(SENTENCE_END)
    yield from deeds_in(replace(sentence, plain=f"{told}{BARE}"), book)
    yield from deeds_in(replace(sentence, plain=f"{JOINED}{told}{BARE}"), book)
    for pattern in phrases.did:
        found = pattern.search(told)
        if found is not None:
            verb = book.infinitives.get(found["verb"].lower(), found["verb"])
            objects = matter_of(found["what"], book.language)
            yield Deed(verb=verb_stem(verb, book), objects=objects, told=found["what"])


def list_told(sentence: Sentence, phrases: GoalPhrases, book: RuleBook) -> Iterator[Sentence]:
    """Yield a sentence, and with the words that are left out where somebody only notes a deed.

    What is to come is no deed: "read Virgil tomorrow".
    """
    yield sentence
    coming = due_in(sentence.plain, sentence.message, book)
    if sentence.is_question or (coming is not None and coming.begins > sentence.message.at):
        return
    for begins in phrases.elided:
        plain = f"{begins}{sentence.plain[:1].lower()}{sentence.plain[1:]}"
        yield replace(sentence, plain=plain, starts=(0,))


def is_done(wanted: frozenset[str], deed: Deed, phrases: GoalPhrases, book: RuleBook) -> bool:
    """Whether a deed is most of what is wanted: its verb, or a light verb and the rest."""
    if get_traits(book.language).is_han:
        return 2 * len(wanted & deed.objects) > len(wanted)
    light = collect_light(phrases, book)
    if deed.verb not in wanted and deed.verb not in light:
        return False
    said = {deed.verb, *(normalize(each, book) for each in deed.objects)}
    is_most = 2 * len(wanted & said) > len(wanted)
    return is_most and (deed.verb in light or not has_other_sense(wanted, deed, phrases, book))


def is_piece_done(
    wanted: frozenset[str], noun: frozenset[str], deed: Deed, phrases: GoalPhrases, book: RuleBook
) -> bool:
    """Whether a deed ended one of the things that are wanted: "I finished the book".

    "I read a book" did, "I read my book for an hour" did not.
    """
    said = {deed.verb, *(normalize(each, book) for each in deed.objects)}
    if get_traits(book.language).is_han:
        is_whole = phrases.wholly.search(deed.told) is not None
        return is_whole and not noun.isdisjoint(deed.objects)
    if deed.verb in {verb_stem(each, book) for each in phrases.whole}:
        return not said.isdisjoint(noun | wanted)
    is_meant = deed.verb in wanted or phrases.wholly.search(deed.told) is not None
    if not is_meant or said.isdisjoint(noun):
        return False
    return is_counted_thing(noun, deed, phrases, book)


def count_pieces(deed: Deed, phrases: GoalPhrases, book: RuleBook) -> int:
    """Return the number with which what was done begins; 1 if it names none."""
    words = [each.text for each in get_lexicon(book.language).split_tokens(deed.told)]
    if get_traits(book.language).is_han:  # the verb stands before it
        words = [each for each in words if each.isdecimal() or each in phrases.numbers]
    return phrases.read_number(words[0] if words else None)


def is_counted_thing(
    noun: frozenset[str], deed: Deed, phrases: GoalPhrases, book: RuleBook
) -> bool:
    """Whether a number stands before a thing, or it was done wholly: "two new books"."""
    if phrases.wholly.search(deed.told) is not None:
        return True
    tokens = get_lexicon(book.language).split_tokens(deed.told)
    if not tokens or not (tokens[0].text.isdecimal() or tokens[0].text in phrases.numbers):
        return False
    at = next(
        (
            place
            for place, each in enumerate(tokens)
            if normalize(stem_word(each.text, book.language), book) in noun
        ),
        0,
    )
    return at > 0 and all(carries_matter(each, book) for each in tokens[1:at])


def is_long_ago(sentence: Sentence, goal: Goal, book: RuleBook, *, now: Micros) -> bool:
    """Whether a sentence tells of a time before the period in which a goal counts, or before it."""
    told = get_lexicon(book.language).split_tokens(sentence.plain)
    if any(each.is_any("long_ago") for each in told):
        return True
    past = past_in(sentence.plain, sentence.message, book)
    day = from_micros(goal.created_at, goal.zone).date()
    if goal.rhythm is not None:
        day = find_first_day(from_micros(now, goal.zone).date(), goal.rhythm.period)
    return past is not None and from_micros(past.ends, goal.zone).date() < day


def has_other_sense(
    wanted: frozenset[str], deed: Deed, phrases: GoalPhrases, book: RuleBook
) -> bool:
    """Whether what stands with a verb may give it another sense, as in "I ran out of milk".

    A verb that is wanted alone takes only a measure; what else is wanted is neither of another
    thing nor is anything said to be it.
    """
    lexicon = get_lexicon(book.language)
    tokens = [each for each in lexicon.split_tokens(deed.told) if not each.is_any(BREAK_CLASS)]
    measured = {
        each.first: each.end
        for each in find_quantities(tokens, lexicon)
        if each.unit or each.is_thousands  # "5k"
    }
    named = [
        at
        for at, each in enumerate(tokens)
        if normalize(stem_word(each.text, book.language), book) in wanted
    ]
    if named:
        return is_of_another(drop_parts(tokens[: named[0]], phrases), book) or (
            named[-1] + 1 not in measured and is_called(tokens[named[-1] + 1 :], book)
        )
    if 0 in measured:
        return any(each.is_any("of") for each in tokens[measured[0] : measured[0] + 1])
    inside = {at for first, end in measured.items() for at in range(first, end)}
    rest = [each for at, each in enumerate(tokens) if at not in inside]
    return bool(rest) and (not measured or any(carries_matter(each, book) for each in rest))


def drop_parts(before: Sequence[Token], phrases: GoalPhrases) -> list[Token]:
    """Return the words before what is wanted without a part of it: "a chapter of Virgil"."""
    return [each for each in before if each.text not in phrases.parts]


def is_of_another(before: Sequence[Token], book: RuleBook) -> bool:
    """Whether what is wanted is only said of another thing: "the doctor of my mother"."""
    matter = [at for at, each in enumerate(before) if carries_matter(each, book)]
    return bool(matter) and not all(
        carries_matter(each, book) or is_determiner(each, book) for each in before[matter[0] :]
    )


def is_called(after: Sequence[Token], book: RuleBook) -> bool:
    """Whether what is wanted is said to be another thing: "I called my mother a liar"."""
    return bool(after) and (carries_matter(after[0], book) or is_determiner(after[0], book))


def carries_matter(token: Token, book: RuleBook) -> bool:
    """Whether a word carries matter, and is no number."""
    return not token.is_any(NUMBER_CLASS) and not is_stop_word(token.text, book.language)


def is_determiner(token: Token, book: RuleBook) -> bool:
    """Whether a word is an article, a number or says whose something is."""
    is_article = load_cues(book.language).article.fullmatch(token.text) is not None
    return is_article or token.is_any("my", NUMBER_CLASS)


GOAL_PROGRESS: Final = RequestHandler(name=NAME, handle=handle_progress)
