"""What becomes of a claim: believed, joined, doubted, overtaken, or only history."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY, HOUR, Micros, get_credible_time
from oldfriend.domain.ids import ChatId, MessageId, PersonId, SessionId
from oldfriend.domain.memories import (
    Entity,
    EvidenceSignal,
    MemoryKind,
    MemoryState,
    ObjectLink,
    RelationalTag,
    Status,
    StoredBelief,
)
from oldfriend.domain.messages import Message
from oldfriend.learning.extraction import (
    Claim,
    ClaimEffect,
    EntityMention,
    Extraction,
    Quote,
    SameAsClaim,
)
from oldfriend.learning.resolution import ResolutionContext, ResolutionState, resolve_extraction
from oldfriend.learning.resolution.resolution_state import TerminationBuilder
from oldfriend.learning.rule_extraction.ended_states import build_termination

P = PersonId("p")
DAY_0 = 20_000 * DAY
QUOTES = (Quote(message=MessageId("m1"), text="words"),)


def message(day: int) -> Message:
    """What was said on a day."""
    return Message(
        id=MessageId(f"m{day}"),
        version=1,
        seq=day,
        person=P,
        chat=ChatId("c"),
        session=SessionId("s"),
        session_name="s",
        channel="terminal",
        role="person",
        author="p",
        speaker="Nora",
        trust="person",
        text="words",
        at=DAY_0 + day * DAY,
        zone="UTC",
        language="en",
        tokens=1,
        turn=None,
        external_id=None,
        batch=None,
        details={},
    )


def claim(
    kind: MemoryKind,
    text: str,
    *,
    day: int,
    key: str = "",
    value: str = "",
    confidence: float = 0.85,
    signal: EvidenceSignal = "explicit",
    impact: int = 0,
    due_at: Micros | None = None,
    holds_from: Micros | None = None,
    effect: ClaimEffect = "new",
    target: str | None = None,
    holds_until: Micros | None = None,
    ended_claim: Claim | None = None,
) -> Claim:
    """Something told on a day."""
    return Claim(
        kind=kind,
        text=text,
        quotes=(Quote(message=MessageId(f"m{day}"), text="words"),),
        key=key,
        value=value,
        confidence=confidence,
        signal=signal,
        impact=impact,
        due_at=due_at,
        holds_from=holds_from,
        effect=effect,
        target=target,
        holds_until=holds_until,
        ended_claim=ended_claim,
    )


class Life:
    """What is believed from reading to reading."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.known: dict[str, MemoryState] = {}
        self.entities: dict[str, Entity] = {}
        self.refused: dict[str, int] = {}
        self.causes: dict[str, list[str]] = {}
        self.now = DAY_0
        self.over: TerminationBuilder = lambda _claim, _language: None

    def reads(self, *claims: Claim, ahead: Micros | None = None, **others: object) -> None:
        """A segment is read; what was decided holds from then on.

        Not before it was said, unless ``ahead`` is the time of reading.
        """
        said_at = [message(int(q.message[1:])).at for each in claims for q in each.quotes]
        self.now = max([self.now + DAY, *said_at]) if ahead is None else ahead
        thinking = ResolutionState(
            context=ResolutionContext(
                person=P,
                excluded_names=frozenset({"nora", "oldfriend"}),
                language="en",
                now=self.now,
                messages={m.id: m for m in map(message, range(4000))},
                rejected=self.with_status("rejected"),
                merged=self.with_status("merged"),
            ),
            believed=[
                each
                for each in self.known.values()
                if each.memory.ended_at is None or each.memory.status == "superseded"
            ],
            entities=dict(self.entities),
            bases={},
            is_same=lambda said, memory: said.text.lower() == memory.text.lower(),
            build_termination=self.over,
        )
        resolve_extraction(thinking, Extraction(claims=claims, **{"author": "test/1", **others}))
        for decision in thinking.decisions.values():
            after = decision.after
            if isinstance(after, Entity):
                self.entities[after.id] = after
            elif isinstance(after, StoredBelief):
                said = [get_credible_time(e.source.at, self.now) for e in decision.evidence]
                self.known[after.id] = replace(thinking.known[after.id], memory=after)
                standing = self.known[after.id].stats
                seen = max([standing.last_seen, *said])
                self.known[after.id] = replace(
                    self.known[after.id], stats=replace(standing, last_seen=seen)
                )
        self.refused = dict(thinking.rejected)
        self.causes = {
            each.after.id: [cause.message for cause in each.causes]
            for each in thinking.decisions.values()
        }

    def with_status(self, status: Status) -> tuple[StoredBelief, ...]:
        """What stands so."""
        return tuple(k.memory for k in self.known.values() if k.memory.status == status)

    def believed(self) -> dict[str, str]:
        """Each text with its state, history too."""
        return {k.memory.text: k.memory.status for k in self.known.values()}

    def of(self, text: str) -> StoredBelief:
        """The memory with this text."""
        (found,) = [k.memory for k in self.known.values() if k.memory.text == text]
        return found


@pytest.fixture
def life() -> Life:
    """An empty one."""
    return Life()


def home(place: str, *, day: int, **more: object) -> Claim:
    """Where somebody lives."""
    return claim("fact", f"Lives in {place}.", day=day, key="location", value=place, **more)


def test_newer_location_supersedes_the_older_with_validity_times(life: Life) -> None:
    """The old one until then, the new one from then on."""
    life.reads(home("Porto", day=1))
    life.reads(home("Lisbon", day=30))

    assert life.believed() == {"Lives in Porto.": "superseded", "Lives in Lisbon.": "active"}
    assert life.of("Lives in Porto.").holds_until == DAY_0 + 30 * DAY
    assert life.of("Lives in Lisbon.").holds_from == DAY_0 + 30 * DAY
    (relation,) = life.of("Lives in Lisbon.").relations
    assert (relation.kind, relation.target) == ("supersedes", life.of("Lives in Porto.").id)


def test_superseded_belief_has_the_ending_message_as_cause(life: Life) -> None:
    """Also where the same reading has heard it once more before."""
    life.reads(home("Porto", day=1))
    porto = life.of("Lives in Porto.").id
    assert life.causes[porto] == ["m1"]
    life.reads(home("Porto", day=2), home("Lisbon", day=30))
    assert life.causes[porto] == ["m30"]


def test_multi_valued_key_keeps_values_and_single_valued_key_supersedes(life: Life) -> None:
    """Only a key that holds one value lets the newer end the older."""
    for key, value, day in (
        ("keeps", "bees", 1),
        ("keeps", "hens", 2),
        ("favorite_color", "green", 3),
        ("favorite_color", "blue", 4),
    ):
        life.reads(claim("fact", f"{key}: {value}.", day=day, key=key, value=value))

    assert life.believed() == {
        "keeps: bees.": "active",
        "keeps: hens.": "active",
        "favorite_color: green.": "superseded",
        "favorite_color: blue.": "active",
    }


def test_claim_with_the_same_text_under_another_key_joins_the_belief(life: Life) -> None:
    """A model may call a key by any name; whichever of a reading's claims comes first."""
    strange = claim("fact", "Lives in Porto.", day=1, key="kkk", value="Porto")
    life.reads(strange, home("Porto", day=1))
    life.reads(replace(strange, key="abode"))
    life.reads(home("Lisbon", day=30))

    assert life.believed() == {"Lives in Porto.": "superseded", "Lives in Lisbon.": "active"}


@pytest.mark.parametrize(
    ("known", "told", "kept"),
    [
        ("Goes to pottery.", "Goes to pottery in Porto on Mondays.", False),
        ("Says: “Pottery again, my one joy”", "Loves pottery.", False),
        ("Goes to pottery in Porto.", "Goes to pottery, and likes it a lot.", True),
        ("Goes to pottery on Mondays.", "Goes to pottery.", True),
        ("Does not go to pottery.", "Goes to pottery with Ana.", True),
    ],
)
def test_fuller_model_wording_replaces_the_belief_text(
    life: Life, known: str, told: str, *, kept: bool
) -> None:
    """Where a model says all that is known and more; a rule's bare quote never stays."""
    life.reads(claim("pattern", known, day=1))
    again = claim("pattern", told, day=9, effect="reinforces", target=life.of(known).id)
    life.reads(again, author="rules/5")
    assert life.of(known)
    life.reads(again)

    assert life.believed() == {known if kept else told: "active"}
    assert life.of(known if kept else told).id == again.target


def test_belief_worded_by_the_person_is_not_reworded(life: Life) -> None:
    """However much more a model says."""
    life.reads(claim("pattern", "Goes to pottery.", day=1))
    mine = replace(life.of("Goes to pottery."), is_by_person=True)
    life.known[mine.id] = replace(life.known[mine.id], memory=mine)
    told = "Goes to pottery in Porto on Mondays."
    life.reads(claim("pattern", told, day=9, effect="reinforces", target=mine.id))

    assert life.believed() == {"Goes to pottery.": "active"}


def test_older_message_read_later_does_not_supersede_a_newer_belief(life: Life) -> None:
    """Read later, said before: it is history."""
    life.reads(home("Lisbon", day=2000))
    life.reads(home("Porto", day=3))

    assert life.believed() == {"Lives in Lisbon.": "active", "Lives in Porto.": "superseded"}
    assert life.of("Lives in Porto.").ended_at is not None


@pytest.mark.parametrize("is_first", [True, False])
def test_a_message_dated_ahead_does_not_win_over_today(life: Life, *, is_first: bool) -> None:
    """Whether it is read before or after what is said today."""
    readings = [
        (home("Faro", day=3650), DAY_0 + 10 * DAY + HOUR),
        (home("Porto", day=10), DAY_0 + 10 * DAY + 2 * HOUR),
    ]
    for one, now in readings if is_first else readings[::-1]:
        life.reads(one, ahead=now)
    life.reads(home("Porto", day=11))

    assert life.of("Lives in Porto.").status == "active"
    assert life.of("Lives in Faro.").status == "superseded"
    assert (life.of("Lives in Porto.").holds_from or 0) < DAY_0 + 11 * DAY


def test_values_read_out_of_order_get_consecutive_validity_periods(life: Life) -> None:
    """Whichever is read first: each value ends where the next one begins."""
    life.reads(home("Lisbon", day=2000))
    life.reads(home("Porto", day=300))
    life.reads(home("Faro", day=900))
    life.reads(home("Porto", day=400))
    spans = {
        each.value: (each.status, each.holds_until)
        for each in (known.memory for known in life.known.values())
    }
    assert spans == {
        "Lisbon": ("active", None),
        "Porto": ("superseded", DAY_0 + 900 * DAY),
        "Faro": ("superseded", DAY_0 + 2000 * DAY),
    }


def test_recent_holds_from_supersedes_and_old_holds_from_becomes_history(life: Life) -> None:
    """Although they said this morning where they lived; what began long ago is a story."""
    life.reads(home("Braga", day=50))
    life.reads(home("Madrid", day=50, holds_from=DAY_0 - 3000 * DAY))
    life.reads(home("Porto", day=50, holds_from=DAY_0 + 49 * DAY))
    assert life.believed() == {
        "Lives in Braga.": "superseded",
        "Lives in Madrid.": "superseded",
        "Lives in Porto.": "active",
    }


def test_value_said_between_two_sightings_of_another_becomes_history(life: Life) -> None:
    """Somewhere else for a while, and back."""
    life.reads(home("Lisbon", day=1))
    life.reads(home("Lisbon", day=100))
    life.reads(home("Porto", day=50))
    assert life.believed() == {"Lives in Lisbon.": "active", "Lives in Porto.": "superseded"}


def test_implicit_claim_disputes_a_belief_but_not_one_set_by_the_person(life: Life) -> None:
    """An implicit sign speaks against; the person's own correction it does not touch."""
    life.reads(home("Porto", day=1, confidence=0.7))
    life.reads(home("Lisbon", day=30, signal="implicit"))
    assert life.believed() == {"Lives in Porto.": "disputed"}

    known = next(iter(life.known.values()))
    by_person = replace(known.memory, is_by_person=True, status="active")
    life.known[known.memory.id] = replace(known, memory=by_person)
    life.reads(home("Lisbon", day=40, signal="implicit"))
    assert life.believed() == {"Lives in Porto.": "active"}
    assert life.refused == {"overruled by the person": 1}


def test_claim_older_than_the_persons_confirmation_does_not_override_it(
    life: Life,
) -> None:
    """Read later or not; what is said afterwards does."""
    life.reads(home("Porto", day=1))
    (known,) = life.known.values()
    vouched = replace(known.memory, is_by_person=True, vouched_at=DAY_0 + 20 * DAY)
    life.known[vouched.id] = replace(known, memory=vouched)
    life.reads(home("Lisbon", day=10))
    assert life.believed() == {"Lives in Porto.": "active", "Lives in Lisbon.": "superseded"}
    against = {"effect": "contradicts", "target": vouched.id}
    life.reads(home("Faro", day=10, **against))
    assert life.refused == {"overruled by the person": 1}
    life.reads(home("Braga", day=30))
    assert life.believed()["Lives in Braga."] == "active"


def test_low_confidence_fact_is_tentative_until_repeated(life: Life) -> None:
    """Then they count."""
    life.reads(home("Porto", day=1, confidence=0.5))
    assert life.believed() == {"Lives in Porto.": "tentative"}
    life.reads(home("porto ", day=2, confidence=0.5))
    assert life.believed() == {"Lives in Porto.": "active"}


def test_multiple_values_of_children_are_all_active(life: Life) -> None:
    """Some keys have many values."""
    life.reads(
        claim("fact", "Has a daughter, Mia.", day=1, key="children", value="Mia"),
        claim("fact", "Has a son, Leo.", day=1, key="children", value="Leo"),
    )
    assert set(life.believed().values()) == {"active"}


def test_new_dislike_supersedes_the_like_of_the_same_value(life: Life) -> None:
    """And only that."""
    life.reads(
        claim("preference", "Likes coffee.", day=1, key="interests", value="coffee"),
        claim("preference", "Likes chess.", day=1, key="interests", value="chess"),
    )
    life.reads(claim("preference", "Cannot stand coffee.", day=9, key="dislikes", value="Coffee"))
    assert life.believed() == {
        "Likes coffee.": "superseded",
        "Likes chess.": "active",
        "Cannot stand coffee.": "active",
    }


def test_event_repeated_within_a_month_is_stored_once_with_the_peak_impact(life: Life) -> None:
    """Felt more strongly, it is kept so; its sign never turns."""
    life.reads(claim("event", "Lost her job.", day=1, impact=-7))
    life.reads(claim("event", "lost her job.", day=20, impact=-9))
    life.reads(claim("event", "Lost her job.", day=25, impact=10))
    assert [(k.memory.impact, k.memory.status) for k in life.known.values()] == [(-9, "active")]
    life.reads(claim("event", "Lost her job.", day=300, impact=-5))
    assert len(life.known) == 2


def test_undated_death_told_again_after_a_year_is_the_same_death(life: Life) -> None:
    """It tells of no day, so no day tells it apart."""
    life.reads(claim("event", "Grandma died.", day=1, impact=-7))
    life.reads(claim("event", "Grandma died.", day=300, impact=-7))

    assert len(life.known) == 1


def test_repeated_commitment_takes_the_new_due_date_and_is_fulfilled(life: Life) -> None:
    """One promise, with its last time; then it is fulfilled, and ended."""
    life.reads(claim("commitment", "Will call Ana.", day=1, due_at=DAY_0 + 3 * DAY))
    life.reads(claim("commitment", "Will call Ana.", day=2, due_at=DAY_0 + 9 * DAY))
    promise = life.of("Will call Ana.")
    assert promise.due_at == DAY_0 + 9 * DAY
    life.reads(claim("commitment", "Called Ana.", day=9, effect="fulfils", target=promise.id))
    assert life.believed() == {"Will call Ana.": "fulfilled"}
    assert life.of("Will call Ana.").ended_at is not None


def test_claim_targeting_a_pattern_supersedes_it(life: Life) -> None:
    """Superseded by name: the new one is written, and that it took the place of the old."""
    life.reads(claim("pattern", "Runs every morning.", day=1))
    old = life.of("Runs every morning.")
    life.reads(claim("pattern", "Swims every morning.", day=9, effect="supersedes", target=old.id))
    assert life.believed() == {
        "Runs every morning.": "superseded",
        "Swims every morning.": "active",
    }


def test_superseding_claim_joins_an_already_known_belief(life: Life) -> None:
    """Then it gets more words, and only the old one ends."""
    tea = {"key": "interests", "value": "tea"}
    life.reads(claim("preference", "Loves coffee.", day=1, key="interests", value="coffee"))
    life.reads(claim("preference", "Drinks tea.", day=2, **tea))
    old = life.of("Loves coffee.")
    life.reads(
        claim("preference", "Likes tea now.", day=9, effect="supersedes", target=old.id, **tea)
    )

    assert life.believed() == {"Loves coffee.": "superseded", "Drinks tea.": "active"}
    (link,) = life.of("Drinks tea.").relations
    assert (link.kind, link.target) == ("supersedes", old.id)


def test_rejected_belief_is_relearned_only_from_later_messages(life: Life) -> None:
    """What they say later is another matter."""
    life.reads(home("Porto", day=1))
    (known,) = life.known.values()
    rejected = replace(known.memory, status="rejected", ended_at=DAY_0 + 5 * DAY)
    life.known[known.memory.id] = replace(known, memory=rejected)
    life.reads(home("Porto", day=1))
    assert (life.believed(), life.refused) == (
        {"Lives in Porto.": "rejected"},
        {"rejected by the person": 1},
    )
    life.reads(home("Porto", day=7))
    assert sorted(k.memory.status for k in life.known.values()) == ["active", "rejected"]


def named(name: str, *aliases: str, day: int = 1) -> EntityMention:
    """Somebody who was named."""
    quotes = (Quote(message=MessageId(f"m{day}"), text="words"),)
    return EntityMention(name=name, kind="person", quotes=quotes, aliases=aliases)


def test_mention_matches_known_entity_by_alias_or_is_uncertain(life: Life) -> None:
    """By any of their names; who may be known is uncertain until somebody says so."""
    life.reads(mentions=(named("Ana García", "Anita"), named("Nora")))
    life.reads(mentions=(named("anita"), named("Ana")))
    by_name = {each.name: each for each in life.entities.values()}
    assert {name: each.status for name, each in by_name.items()} == {
        "Ana García": "confirmed",
        "Ana": "uncertain",
    }
    assert by_name["Ana"].same_as == by_name["Ana García"].id

    told = SameAsClaim(one="Ana", other="Ana García", is_same=False, quotes=named("x").quotes)
    life.reads(same_as_claims=(told,))
    assert {each.name: each.status for each in life.entities.values()} == {
        "Ana García": "confirmed",
        "Ana": "separate",
    }


def test_two_names_that_are_told_apart_are_not_asked_about_again(life: Life) -> None:
    """Whichever of them was the one in doubt, also if both were named at once."""
    life.reads(mentions=(named("Ana"), named("Ana García")))
    doubted = [each.name for each in life.entities.values() if each.status == "uncertain"]
    told = SameAsClaim(one="Ana", other="Ana García", is_same=False, quotes=named("x").quotes)
    life.reads(same_as_claims=(told,))

    assert doubted == ["Ana García"]
    assert {each.name: each.status for each in life.entities.values()} == {
        "Ana": "confirmed",
        "Ana García": "separate",
    }


@pytest.mark.parametrize(
    ("known", "told"),
    [("Bali, Indonesia", "bali"), ("Bali", "Bali, Indonesia"), ("Ana (Porto)", "Ana")],
)
def test_longer_or_shorter_form_of_a_name_is_an_uncertain_match(
    life: Life, known: str, told: str
) -> None:
    """However its parts are set off from each other."""
    life.reads(mentions=(named(known),))
    life.reads(mentions=(named(told),))

    first, second = life.entities.values()
    assert (second.status, second.same_as) == ("uncertain", first.id)


def test_same_as_claim_merges_two_entities(life: Life) -> None:
    """All names lead to the one that stays."""
    life.reads(mentions=(named("Roberto"), named("Pepe")))
    told = SameAsClaim(one="Pepe", other="Roberto", is_same=True, quotes=named("x").quotes)
    life.reads(same_as_claims=(told,))
    (kept,) = [each for each in life.entities.values() if each.ended_at is None]
    (gone,) = [each for each in life.entities.values() if each.ended_at is not None]
    assert (kept.name, kept.aliases, gone.status, gone.same_as) == (
        "Roberto",
        ("Pepe",),
        "merged",
        kept.id,
    )


def test_claim_links_only_entities_named_in_its_text(life: Life) -> None:
    """And nobody else."""
    life.reads(claim("event", "Met Ana at the lake.", day=1), mentions=(named("Ana"), named("Ben")))
    (ana,) = [each.id for each in life.entities.values() if each.name == "Ana"]
    assert life.of("Met Ana at the lake.").entities == (ana,)


def since(life: Life, place: str) -> tuple[int | None, int | None]:
    """From which day until which somebody is known to have lived somewhere."""
    memory = life.of(f"Lives in {place}.")
    days = [memory.holds_from, memory.holds_until]
    first, last = [None if at is None else (at - DAY_0) // DAY for at in days]
    return first, last


def test_every_value_but_the_earliest_has_a_holds_from(life: Life) -> None:
    """Each further one holds since it was first said, in whichever order they are read."""
    life.reads(home("Bath", day=2000))
    assert since(life, "Bath") == (None, None)

    life.reads(home("Porto", day=300))
    assert (since(life, "Porto"), since(life, "Bath")) == ((None, 2000), (2000, None))

    life.reads(home("Faro", day=900))
    assert (since(life, "Porto"), since(life, "Faro")) == ((None, 900), (900, 2000))
    life.reads(home("Rome", day=3000))
    assert (since(life, "Bath"), since(life, "Rome")) == ((2000, 3000), (3000, None))


def test_earlier_sighting_moves_holds_from_back_unless_another_value_was_seen(life: Life) -> None:
    """Unless something else was said to be so meanwhile."""
    life.reads(home("Porto", day=300))
    life.reads(home("Bath", day=2000))
    life.reads(home("Bath", day=1500))
    assert (since(life, "Porto"), since(life, "Bath")) == ((None, 1500), (1500, None))

    life.reads(home("Bath", day=100))
    assert (since(life, "Porto"), since(life, "Bath")) == ((None, 1500), (1500, None))


def gone_from(place: str, *, day: int) -> tuple[Claim, Claim]:
    """That somebody lives somewhere no more, as the rules tell it."""
    now = DAY_0 + day * DAY
    was = home(place, day=day, holds_until=now)
    over = claim(
        "fact",
        f"No longer lives in {place}.",
        day=day,
        key="location",
        value=f"no longer {place}",
        holds_from=now,
        ended_claim=was,
    )
    return was, over


def test_ending_is_active_until_a_new_value_supersedes_it(life: Life) -> None:
    """Nobody lives nowhere; what comes next overtakes it."""
    life.reads(home("Porto", day=300))
    life.reads(*gone_from("Porto", day=400))
    assert life.believed() == {
        "Lives in Porto.": "superseded",
        "No longer lives in Porto.": "active",
    }
    assert since(life, "Porto") == (None, 400)

    life.reads(home("Bath", day=500))
    assert life.of("No longer lives in Porto.").status == "superseded"
    assert since(life, "Bath") == (500, None)


def test_ending_of_another_value_does_not_supersede_the_current_one(life: Life) -> None:
    """Who lives in Bath has said nothing of it by having left Porto; that is history."""
    life.reads(home("Bath", day=300))
    life.reads(*gone_from("Porto", day=400))

    assert life.believed() == {"Lives in Bath.": "active", "Lives in Porto.": "superseded"}
    assert (since(life, "Porto"), since(life, "Bath")) == ((None, 300), (300, None))


def test_renewed_value_supersedes_its_ending(life: Life) -> None:
    """Of what there may be many of, too."""
    vegan = {"key": "dietary", "value": "vegan"}
    life.reads(claim("preference", "Is vegan.", day=1, **vegan))
    now = DAY_0 + 10 * DAY
    was = claim("preference", "Is vegan.", day=10, holds_until=now, **vegan)
    over = claim(
        "preference",
        "Is no longer vegan.",
        day=10,
        key="dietary",
        value="no longer vegan",
        holds_from=now,
        ended_claim=was,
    )
    life.reads(was, over)
    assert life.believed() == {"Is vegan.": "superseded", "Is no longer vegan.": "active"}

    life.reads(claim("preference", "Is vegan again.", day=20, **vegan))
    assert life.of("Is no longer vegan.").status == "superseded"
    assert life.of("Is vegan again.").status == "active"


def test_claim_repeating_a_merged_belief_reinforces_the_merge_target(life: Life) -> None:
    """However often its words are read."""
    life.reads(*(claim("pattern", text, day=1) for text in ("Runs a lot.", "Jogs often.")))
    runs, jogs = life.of("Runs a lot."), life.of("Jogs often.")
    link = ObjectLink(kind="merged_into", target=runs.id)
    merged = replace(jogs, status="merged", relations=(link,), ended_at=life.now)
    life.known[jogs.id] = replace(life.known[jogs.id], memory=merged)
    life.reads(claim("pattern", "Jogs often.", day=2))

    assert life.believed() == {"Runs a lot.": "active", "Jogs often.": "merged"}
    assert life.causes == {runs.id: ["m2"]}


def test_entities_separated_by_the_person_are_not_merged_again(life: Life) -> None:
    """Whatever was said of it before."""
    both = [EntityMention(name=name, kind="person", quotes=QUOTES) for name in ("Pepe", "José")]
    life.reads(mentions=both)
    pepe, jose = life.entities.values()
    life.entities[jose.id] = replace(jose, status="separate", same_as=pepe.id, is_by_person=True)
    life.reads(same_as_claims=[SameAsClaim(one="Pepe", other="José", is_same=True, quotes=QUOTES)])

    assert [each.status for each in life.entities.values()] == ["confirmed", "separate"]
    assert life.refused == {"overruled by the person": 1}


def thinks(text: str, *, day: int, **more: object) -> Claim:
    """What the companion thinks of jazz."""
    return claim("opinion", text, day=day, key="jazz", **more)


def test_opposite_opinion_under_another_key_is_rejected(life: Life) -> None:
    """What denies what it has said is of the same topic; what only shares a word is not."""
    life.reads(thinks("Thinks that jazz concerts belong in small clubs.", day=1))
    contrary = "Thinks that jazz concerts do not belong in small clubs."
    life.reads(replace(thinks(contrary, day=9), key="concerts in clubs"))
    assert life.refused == {"contradicts its opinion": 1}
    life.reads(replace(thinks("Thinks that small clubs are no good for dancing.", day=9), key="d"))

    assert life.refused == {}
    assert len(life.believed()) == 2


def test_conflicting_opinion_is_rejected_unless_it_supersedes_the_old_one(life: Life) -> None:
    """The same again is no other; the opposite is refused; what overtakes it is written with it."""
    life.reads(thinks("Thinks that jazz is best at night.", day=1))
    life.reads(thinks("thinks that jazz is best at night.", day=5))
    life.reads(thinks("Thinks that jazz is dull.", day=9))
    assert life.refused == {"contradicts its opinion": 1}
    assert life.believed() == {"Thinks that jazz is best at night.": "active"}

    old = life.of("Thinks that jazz is best at night.")
    better = thinks("Thinks that jazz is good in the morning.", day=20, effect="supersedes")
    life.reads(replace(better, target=old.id))
    new = life.of("Thinks that jazz is good in the morning.")
    assert life.believed() == {old.text: "superseded", new.text: "active"}
    assert (new.trust, new.relations) == (
        "companion",
        (ObjectLink(kind="supersedes", target=old.id),),
    )


def worked(*, day: int, until: int, **more: object) -> Claim:
    """That somebody was a nurse until midnight before a day."""
    return claim(
        "fact",
        "Works as a nurse.",
        day=day,
        key="occupation",
        value="a nurse",
        holds_until=DAY_0 + until * DAY - 1,
        **more,
    )


@pytest.fixture
def nurse(life: Life) -> Life:
    """Somebody who is a nurse since day 1, and said so on day 100 again."""
    life.over = build_termination
    job = claim("fact", "Works as a nurse.", day=1, key="occupation", value="a nurse")
    life.reads(job)
    life.reads(replace(job, quotes=(Quote(message=MessageId("m100"), text="words"),)))
    return life


@pytest.mark.parametrize(("day", "until"), [(200, 199), (200, 201)])
def test_claim_with_a_recent_end_supersedes_the_belief(nurse: Life, day: int, until: int) -> None:
    """Also on the last day itself, that ends tonight; never later than it was heard."""
    nurse.reads(worked(day=day, until=until, effect="new"))

    assert nurse.believed() == {
        "Works as a nurse.": "superseded",
        "No longer works as a nurse.": "active",
    }
    assert nurse.of("Works as a nurse.").holds_until == DAY_0 + min(day * DAY, until * DAY - 1)


@pytest.mark.parametrize(
    "told",
    [
        worked(day=50, until=49),  # said before the last word for it
        worked(day=200, until=-300),  # an earlier time at which it was so
        worked(day=200, until=202),  # it is still so
        worked(day=200, until=199, signal="implicit"),
        worked(day=200, until=199, confidence=0.5),
    ],
)
def test_old_implausible_or_uncertain_end_keeps_the_belief_active(nurse: Life, told: Claim) -> None:
    """It is only said once more."""
    nurse.reads(told)

    assert nurse.believed() == {"Works as a nurse.": "active"}


def test_last_stated_end_date_wins(life: Life) -> None:
    """One told before it changes nothing, nor do words without one; said after it, it goes on."""
    june, december = DAY_0 + 150 * DAY, DAY_0 + 330 * DAY
    life.reads(home("Porto", day=20, holds_until=june))
    life.reads(home("Porto", day=60, holds_until=december))
    assert life.of("Lives in Porto.").holds_until == december
    life.reads(home("Porto", day=10, holds_until=june), home("Porto", day=70))
    assert life.of("Lives in Porto.").holds_until == december
    life.reads(home("Porto", day=340))
    assert life.of("Lives in Porto.").holds_until is None


def test_earlier_stated_end_does_not_override_later_statements(life: Life) -> None:
    """Though all is read long after: neither another end, nor another home."""
    june, december = DAY_0 + 150 * DAY, DAY_0 + 330 * DAY
    life.now += 300 * DAY
    life.reads(home("Porto", day=20, holds_until=june))
    life.reads(home("Porto", day=60, holds_until=december))
    ends = {each.memory.holds_until for each in life.known.values() if each.memory.is_live}
    life.reads(home("Faro", day=80))

    assert ends == {december}
    assert [each.text for each in life.with_status("active")] == ["Lives in Faro."]
    assert since(life, "Faro") == (80, None)


def test_newer_value_ends_a_belief_before_its_stated_end(life: Life) -> None:
    """As it was told, whenever it is read."""
    life.now += 300 * DAY
    life.reads(home("Porto", day=20, holds_until=DAY_0 + 150 * DAY))
    life.reads(home("Faro", day=80))

    assert life.believed() == {"Lives in Porto.": "superseded", "Lives in Faro.": "active"}
    assert life.of("Lives in Porto.").holds_until == DAY_0 + 80 * DAY


@pytest.mark.parametrize(
    ("known", "denied", "status"),
    [
        ("a lawyer", "a teacher", "superseded"),
        ("a teacher", "a teacher", "rejected"),
        ("a maths teacher", "a teacher", "rejected"),
        ("首都", "成都", "superseded"),
        ("a nurse", "a head nurse", "superseded"),
        ("成都", "成都", "rejected"),
        ("Porto", "in Porto", "rejected"),
        ("New York", "in New Orleans", "superseded"),
        ("猫", "狗", "superseded"),
    ],
)
def test_denied_value_is_rejected_and_any_other_is_superseded(
    life: Life, known: str, denied: str, status: Status
) -> None:
    """Small words in common, and single signs, make it no other."""
    life.reads(home(known, day=1))
    life.reads(replace(home("Faro", day=9), denied_value=denied))

    assert life.believed() == {f"Lives in {known}.": status, "Lives in Faro.": "active"}


def test_what_came_of_an_event_does_not_end_it(life: Life) -> None:
    """The stroke has happened, though the rehab is told as what is so now."""
    life.reads(claim("event", "Bev had a stroke.", day=1, impact=-6))
    stroke = life.of("Bev had a stroke.")
    rehab = claim(
        "event", "Bev is in rehab.", day=9, impact=2, effect="supersedes", target=stroke.id
    )
    life.reads(replace(rehab, happened_at=message(9).at))

    assert life.believed() == {"Bev had a stroke.": "active", "Bev is in rehab.": "active"}


def test_event_put_right_days_later_keeps_its_time(life: Life) -> None:
    """Who flew to Porto, not to Lisbon, did so when the flight was told of first."""
    life.reads(claim("event", "Flew to Lisbon.", day=1))
    wrong = life.of("Flew to Lisbon.")
    life.reads(claim("event", "Flew to Porto.", day=9, effect="supersedes", target=wrong.id))

    assert life.believed() == {"Flew to Lisbon.": "superseded", "Flew to Porto.": "active"}
    assert life.of("Flew to Porto.").happened_at == wrong.happened_at == message(1).at


@pytest.mark.parametrize(("day", "tags"), [(1, ()), (9, ("correction",))])
def test_event_told_wrongly_is_superseded(
    life: Life, day: int, tags: tuple[RelationalTag, ...]
) -> None:
    """Of the same time, or as a correction."""
    life.reads(claim("event", "Bev had a stroke.", day=1, impact=-6))
    target = life.of("Bev had a stroke.").id
    fall = claim("event", "Bev had a fall.", day=day, effect="supersedes", target=target)
    life.reads(replace(fall, relational=tags))

    assert life.believed() == {"Bev had a stroke.": "superseded", "Bev had a fall.": "active"}
