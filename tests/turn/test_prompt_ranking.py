"""Beliefs and messages share a prompt fairly, and nobody's whole life fills it."""

from dataclasses import replace
from unittest.mock import Mock

from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId
from oldfriend.domain.memories import (
    Evidence,
    EvidenceStance,
    EvidenceStats,
    MemoryState,
    StoredBelief,
    Summary,
)
from oldfriend.domain.profile_attributes import EMPTY_PROFILE
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.prompts.token_budget import BUDGETS
from oldfriend.search import Reason, ScoredMessage
from oldfriend.search.score import give_score
from oldfriend.turn.full_recall import list_relevant
from oldfriend.turn.profile_sections import (
    MAX_SUMMARIES_AROUND,
    drop_retold_ties,
    list_newest_summaries,
    list_summaries_around,
)
from oldfriend.turn.prompt_ranking import (
    MAX_ABOUT_NAMED,
    MAX_REACHED,
    MIN_MESSAGES,
    drop_irrelevant,
    drop_repeated,
    select_candidates,
    select_fitting_items,
)
from oldfriend.turn.prompt_sections import PromptDraft, PromptSection, is_told_already
from oldfriend.turn.recalled import (
    EMPTY_RECALL,
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    get_item_id,
)
from oldfriend.turn.recent_messages import RecentMessages
from oldfriend.turn.reply_context import ReplyContext
from oldfriend.turn.role_names import SAFETY_MENTION
from oldfriend.turn.user_context import UserContext

DAY = 86_400_000_000


def belief(
    name: str,
    *causes: str,
    rests_on: str = "",
    stance: EvidenceStance = "supports",
    score: float = 0.5,
) -> RecalledBelief:
    """Something believed."""
    memory = StoredBelief(
        id=MemoryId(ObjectId(name)),
        person=PersonId("p"),
        kind="fact",
        text=name,
        language="en",
        learned_at=0,
    )
    stats = EvidenceStats(strength=1, confidence=1, times_seen=1, first_seen=0, last_seen=0)
    evidence = (Mock(Evidence, message=MessageId(rests_on), stance=stance),) if rests_on else ()
    return RecalledBelief(
        state=MemoryState(memory=memory, stats=stats, base_seq=1),
        score=give_score(score, *(Reason(cause=cause) for cause in causes)),
        evidence=evidence,
    )


def message(name: str, *, at: int = 0, text: str = "", score: float = 0.5) -> RecalledMessage:
    """Something said."""
    hit = ScoredMessage(seq=1, score=give_score(score))
    said = Mock(id=MessageId(name), at=at, text=text, language="en")
    return RecalledMessage(message=said, hit=hit)


def fitting(items: list[RecalledItem], budget: int) -> set[str]:
    """What fits, where each costs ten tokens and each title five."""
    kept = select_fitting_items(items, [10] * len(items), budget, (5, 5))
    return {get_item_id(each) for each in kept}


def test_beliefs_and_messages_share_the_prompt_budget_equally() -> None:
    """However well the others rank; what one leaves the other takes."""
    beliefs: list[RecalledItem] = [belief(f"b{number}") for number in range(9)]
    messages: list[RecalledItem] = [message(f"m{number}") for number in range(9)]

    assert fitting([*beliefs, *messages], 50) == {"b0", "b1", "m0", "m1"}
    assert fitting([*beliefs, *messages[:1]], 50) == {"b0", "b1", "b2", "m0"}
    assert fitting(messages, 50) == {"m0", "m1", "m2", "m3"}


def test_belief_and_its_evidence_message_are_shown_once() -> None:
    """Also where the better one finds no room in its half at first."""
    items: list[RecalledItem] = [belief("b0", rests_on="m0"), message("m0"), message("m1")]

    assert fitting(items, 100) == {"b0", "m1"}
    assert fitting([items[1], items[0], items[2]], 100) == {"m0", "m1"}


def test_message_contradicting_a_belief_is_shown_beside_it() -> None:
    """It says what the belief does not."""
    items: list[RecalledItem] = [belief("b0", rests_on="m0", stance="contradicts"), message("m0")]

    assert fitting(items, 100) == {"b0", "m0"}


def test_different_beliefs_from_one_message_are_both_shown() -> None:
    """Only other words for the same thing are left out."""
    job, place = belief("works as nurse", rests_on="m0"), belief("sings in Braga", rests_on="m0")
    again, elsewhere = belief("a nurse works", rests_on="m0"), belief("a nurse works late")
    items: list[RecalledItem] = [job, place, again, elsewhere]

    assert fitting(items, 200) == {*map(get_item_id, [job, place, elsewhere])}


def test_evidence_of_a_shown_belief_is_repeated_only_if_best_and_richer() -> None:
    """The profile has the fact; the message may tell what is around it."""
    known = belief("sings in Braga", rests_on="m0")
    told = known.state.memory.id
    context = ReplyContext(
        recall_result=EMPTY_RECALL,
        user_context=UserContext(profile=replace(EMPTY_PROFILE, attributes=(known.state,))),
        supported_beliefs={MessageId("m0"): frozenset({told})},
    )
    draft = PromptDraft(
        utterance=Mock(),
        context=context,
        prompt=get_reply_prompt(),
        budget=BUDGETS["normal"],
        sections=[PromptSection(name="profile", shown_ids=(told,))],
    )
    more = message("m0", text="I sing in Braga and the bus broke down on the way")
    same, other = message("m0", text="I sing in Braga."), message("m1", text="I sing in Braga.")

    assert is_told_already(more, draft, is_among_best=False)
    assert not is_told_already(more, draft, is_among_best=True)
    assert is_told_already(same, draft, is_among_best=True)
    assert not is_told_already(other, draft, is_among_best=False)
    reworded, new = belief("in Braga sings", rests_on="m0"), belief("likes buses", rests_on="m0")
    assert is_told_already(reworded, draft, is_among_best=True)
    assert not is_told_already(new, draft, is_among_best=False)


def test_candidates_about_named_entities_are_limited() -> None:
    """The best, whether it is about them or about somebody near them; all others stay."""
    named = [belief(f"n{number}", "words", "mentions") for number in range(MAX_ABOUT_NAMED + 3)]
    near = [belief(f"r{number}", "reached") for number in range(MAX_REACHED + 2)]
    others: list[RecalledItem] = [belief("o"), message("m")]

    kept = [get_item_id(each) for each in select_candidates([*near, *named, *others])]

    assert kept == [f"r{n}" for n in range(5)] + [f"n{n}" for n in range(3)] + ["o", "m"]


def test_repeated_belief_is_dropped_in_favor_of_the_newer_or_longer() -> None:
    """The newer or longer one, whatever they rest on; what says more or something else stays."""
    longer, same = belief("sings alto in Braga", rests_on="m1"), belief("Braga sings")
    other = belief("sings in Porto", rests_on="m2")

    assert fitting([longer, same, other], 100) == {"sings alto in Braga", "sings in Porto"}
    newer = replace(same.state, stats=replace(same.state.stats, last_seen=9))
    assert drop_repeated([longer.state, same.state, other.state]) == [longer.state, other.state]
    assert drop_repeated([longer.state, newer]) == [longer.state, newer]


def test_top_ranked_message_is_kept_beside_a_belief_found_by_name_only() -> None:
    """A name in the question lifts all that is known of them, and the answer may be beside it."""
    known = belief("Jody is an undertaker.", "words", "mentions", rests_on="m0")
    more = message("m0", text="The green jumper is for Jody, an undertaker in Goole.")
    same = message("m0", text="Jody is an undertaker.")
    many: list[RecalledItem] = [message(f"n{number}") for number in range(9)]

    assert fitting([known, more], 100) == {"Jody is an undertaker.", "m0"}
    assert fitting([known, same], 100) == {"Jody is an undertaker."}
    assert "m0" not in fitting([known, *many, more], 200)
    found = belief("Jody is an undertaker.", "words", rests_on="m0")
    assert fitting([found, more], 100) == {"Jody is an undertaker."}


def test_low_scoring_candidates_are_dropped_as_irrelevant() -> None:
    """Measured by the best; some messages stay, and what is known of whom the question means."""
    said = [message(f"m{number}", score=0.5 / 10**number) for number in range(MIN_MESSAGES + 2)]
    known = [belief("b", score=0.1), belief("far", score=0.001)]
    named = belief("named", "mentions", score=0.0)
    ill = message("ill", score=0.0)
    ill = replace(ill, hit=replace(ill.hit, score=give_score(0.0, SAFETY_MENTION)))

    kept = [get_item_id(each) for each in drop_irrelevant([*said, *known, named, ill])]

    assert kept == [*(f"m{number}" for number in range(MIN_MESSAGES)), "b", "named", "ill"]
    alike = [message(f"m{number}", score=0.01) for number in range(30)]
    assert len(drop_irrelevant(alike)) == len(alike)


def test_a_tie_that_a_fact_tells_is_not_told_beside_it() -> None:
    """The family would stand in the profile twice."""
    fact, song = (belief(text).state for text in ("Has a daughter, Isla, who is 10.", "Sings."))
    tie, other = (belief(text).state for text in ("Isla is Gav's daughter.", "Dunc is Gav's son."))
    ties = [replace(each, memory=replace(each.memory, kind="triple")) for each in (tie, other)]

    assert drop_retold_ties([ties[0], fact, ties[1], song], "Gav") == [fact, ties[1], song]


def test_a_tie_is_not_told_beside_a_fact_that_names_it_by_its_role() -> None:
    """ "Has a brother, Wade" and "Is a sibling of Wade" are one; a son of that name is another."""
    fact = belief("Has a brother, Wade.").state
    tie, other = (belief(text).state for text in ("Is a sibling of Wade.", "Is a parent of Wade."))
    ties = [
        replace(each, memory=replace(each.memory, kind="triple", key=key, value="Wade"))
        for each, key in ((tie, "sibling_of"), (other, "parent_of"))
    ]

    assert drop_retold_ties([*ties, fact], "Renae") == [ties[1], fact]


def test_each_part_of_a_question_is_measured_by_its_own_best() -> None:
    """What answers one half faintly stays, though the other half is answered for sure."""
    sure = tuple(belief(f"a{number}", score=0.9) for number in range(3))
    faint = (belief("b0", score=0.0009), belief("b1", score=0.0008), belief("b2", score=0.0000001))
    both = replace(EMPTY_RECALL, beliefs=(*sure, *faint), part_rankings=(sure, faint))

    ids = [get_item_id(each) for each in list_relevant(both)]
    assert ids == ["a0", "a1", "a2", "b0", "b1"]
    assert list_relevant(replace(both, part_rankings=())) == sure


def test_summaries_cover_recent_days_and_days_of_recalled_messages() -> None:
    """Of several that cover a day the most detailed one counts."""
    days = [Mock(Summary, level=1, from_at=day * DAY, until_at=day * DAY + 9) for day in range(20)]
    month = Mock(Summary, level=2, from_at=0, until_at=9 * DAY)
    summaries = [month, *days]
    context = recalling([4 * DAY + 1, 2 * DAY + 1, 18 * DAY + 1], summaries)

    assert list_newest_summaries(context) == [days[19], days[18]]
    assert list_summaries_around(context) == [days[4], days[2]]
    many = recalling([day * DAY for day in range(9)], summaries)
    assert len(list_summaries_around(many)) == MAX_SUMMARIES_AROUND


def test_summary_covered_by_the_shown_conversation_is_left_out() -> None:
    """A summary whose first and last message stand there tells nothing new."""
    days = [Mock(Summary, level=1, from_at=day * DAY, until_at=day * DAY + 9) for day in range(5)]
    said = tuple(Mock(at=at) for at in (3 * DAY + 9, 4 * DAY, 4 * DAY + 9))
    context = recalling([], days)
    context = replace(context, window=RecentMessages(shown_messages=said))

    assert list_newest_summaries(context) == [days[3], days[2]]


def recalling(times: list[int], summaries: list[Summary]) -> ReplyContext:
    """What is in view when messages of these times are recalled."""
    messages = tuple(message(str(at), at=at) for at in times)
    return ReplyContext(
        recall_result=replace(EMPTY_RECALL, messages=messages),
        user_context=UserContext(summaries=tuple(summaries)),
    )
