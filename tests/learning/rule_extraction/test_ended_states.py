"""What is so no more, what is to be kept, and what has been kept, in five languages."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import MemoryKind, MemoryState
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.validate import validate_extraction
from tests.learning.rule_extraction.message_fixtures import (
    WEDNESDAY,
    material_of,
    message,
    read,
    said,
)
from tests.learning.segment_fixtures import believed


@pytest.mark.parametrize(
    ("language", "text", "key", "value", "told"),
    [
        (
            "en",
            "I am not vegetarian any more.",
            "dietary",
            "vegetarian",
            "Is no longer vegetarian.",
        ),
        ("en", "I don't live in Porto anymore.", "location", "Porto", "No longer lives in Porto."),
        (
            "en",
            "I no longer work at Siemens.",
            "workplace",
            "Siemens",
            "No longer works at Siemens.",
        ),
        ("en", "We don't have a dog any more.", "pets", "a dog", "No longer has a dog."),
        ("es", "Ya no soy vegetariana.", "dietary", "vegetariana", "Ya no es vegetariana."),
        ("es", "Ya no vivo en Madrid.", "location", "Madrid", "Ya no vive en Madrid."),
        ("es", "Ya no toco el piano.", "instrument", "el piano", "Ya no toca el piano."),
        ("fr", "Je n'habite plus à Lyon.", "location", "Lyon", "Ne vit plus à Lyon."),
        (
            "fr",
            "Je ne suis plus végétarienne.",
            "dietary",
            "végétarienne",
            "N’est plus végétarienne.",
        ),
        (
            "de",
            "Ich wohne nicht mehr in Leipzig.",
            "location",
            "Leipzig",
            "Wohnt nicht mehr in Leipzig.",
        ),
        (
            "de",
            "Ich bin nicht mehr verheiratet.",
            "relationship_status",
            "verheiratet",
            "Ist nicht mehr verheiratet.",
        ),
        ("zh", "我已经不是素食者了。", "dietary", "素食者", "不再是素食者。"),
        ("zh", "我不住在北京了。", "location", "北京", "不再住在北京。"),
    ],
)
def test_ended_state_yields_a_past_claim_and_an_ending_claim(
    language: str, text: str, key: str, value: str, told: str
) -> None:
    """By the rule for the statement itself: what was so until now, and that it is over."""
    was, over = said(text, language=language).claims

    assert (was.key, was.value, was.holds_until) == (key, value, WEDNESDAY)
    assert (over.key, over.text, over.holds_from) == (key, told, WEDNESDAY)
    assert over.ended_claim is not None
    assert (over.ended_claim.value, value in over.value) == (value, over.value != value)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I no longer eat meat."),
        ("en", "I don't like jazz any more."),
        ("es", "Ya no como carne."),
        ("es", "Ya no me gusta el fútbol."),
        ("es", "Ya no odio el fútbol, ahora me gusta."),
        ("fr", "Je ne mange plus de viande."),
        ("de", "Ich esse kein Fleisch mehr."),
        ("de", "Ich mag Jazz nicht mehr."),
        ("zh", "我不吃肉了。"),
        ("zh", "我不喜欢足球了。"),
    ],
)
def test_no_longer_rule_for_diet_or_taste_takes_precedence_over_generic_ending(
    language: str, text: str
) -> None:
    """Who eats meat no more eats no meat."""
    (claim,) = said(text, language=language).claims

    assert claim.ended_claim is None


@pytest.mark.parametrize(
    ("language", "text", "ended", "now"),
    [
        ("en", "I no longer work at Siemens, I study medicine now.", "Siemens", "medicine"),
        ("en", "I don't have a dog any more, I have a cat now.", "a dog", "a cat"),
        (
            "es",
            "Ya no trabajo de maestra, ahora trabajo en una librería.",
            "maestra",
            "una librería",
        ),
        ("de", "Ich wohne nicht mehr in Kassel, ich arbeite jetzt bei Bosch.", "Kassel", "Bosch"),
        ("zh", "我不当护士了，现在在书店上班。", "护士", "书店"),
    ],
)
def test_ended_state_and_its_replacement_are_both_extracted(
    language: str, text: str, ended: str, now: str
) -> None:
    """Where both can be told at once."""
    claims = said(text, language=language).claims

    assert [claim.ended_claim.value for claim in claims if claim.ended_claim is not None] == [ended]
    assert now in [claim.value for claim in claims]


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "I've started running and I really like it now.", "running"),
        ("de", "Joggen mag ich inzwischen doch.", "Joggen"),
        ("de", "Ich mag Joggen inzwischen doch.", "Joggen"),
    ],
)
def test_new_liking_is_extracted_with_the_thing_named(language: str, text: str, value: str) -> None:
    """So that it overtakes that they did not; "it" and "now" are no part of it."""
    (claim,) = said(text, language=language).claims

    assert (claim.key, claim.value) == ("interests", value)


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        (
            "en",
            "I'm not allergic to walnuts any more, the doctor says it was a mistake.",
            "walnuts",
        ),
        ("es", "Ya no soy alérgica a las nueces, el médico dice que fue un error.", "nueces"),
        (
            "fr",
            "Je ne suis plus allergique aux noix, le médecin dit que c'était une erreur.",
            "noix",
        ),
        (
            "de",
            "Ich bin nicht mehr allergisch gegen Nüsse, die Ärztin sagt, es war ein Irrtum.",
            "Nüsse",
        ),
        ("zh", "我对核桃不过敏了，医生说是误诊。", "核桃"),
    ],
)
def test_text_after_an_ended_allergy_is_ignored(language: str, text: str, value: str) -> None:
    """Nor is it taken for one more thing on the list."""
    was, over = said(text, language=language).claims

    assert over.ended_claim == was
    assert (was.key, was.value) == ("allergies", value)


@pytest.mark.parametrize(
    ("language", "text", "values"),
    [
        ("en", "I'm allergic to penicillin and strawberries.", ["penicillin", "strawberries"]),
        ("en", "I'm allergic to walnuts, pears and latex.", ["walnuts", "pears", "latex"]),
        ("en", "I'm allergic to bee and wasp stings.", ["bee and wasp stings"]),
        ("en", "I'm allergic to nuts, it runs in the family.", ["nuts"]),
        (
            "es",
            "Soy alérgica a la penicilina y a los frutos secos.",
            ["penicilina", "frutos secos"],
        ),
        (
            "fr",
            "Je suis allergique aux noix, aux fraises et au latex.",
            ["noix", "fraises", "latex"],
        ),
        ("de", "Ich bin allergisch gegen Nüsse und Erdbeeren.", ["Nüsse", "Erdbeeren"]),
        ("de", "Ich bin allergisch gegen Bienen- und Wespenstiche.", ["Bienen- und Wespenstiche"]),
        ("zh", "我对芒果和青霉素过敏。", ["芒果", "青霉素"]),
    ],
)
def test_listed_allergies_become_separate_claims(
    language: str, text: str, values: list[str]
) -> None:
    """So that one of them may end, and the others stay."""
    assert [claim.value for claim in said(text, language=language).claims] == values


@pytest.mark.parametrize("text", ["我对花生不过敏。", "我对花生没有过敏。", "我对海鲜不会过敏。"])
def test_negated_allergy_in_chinese_yields_no_claim(text: str) -> None:
    """The "not" stands before the word in Chinese."""
    assert said(text, language="zh").claims == ()


def test_ended_state_matches_a_known_belief_with_a_longer_value() -> None:
    """Who is no teacher any more is no primary school teacher either."""
    known = believed(
        "job",
        "fact",
        "Works as a primary school teacher.",
        key="occupation",
        value="a primary school teacher",
    )
    text = "I'm not a teacher any more."
    _, over = read(message(text), known=(known,)).claims
    _, other = said(text).claims

    assert over.ended_claim is not None
    assert other.ended_claim is not None
    assert over.ended_claim.value == "a primary school teacher"
    assert other.ended_claim.value == "a teacher"


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "Hannah and I broke up.", "Ex: Hannah."),
        ("es", "Rompimos.", "Ex: Hannah."),
        ("fr", "On a rompu.", "Ex : Hannah."),
        ("de", "Wir haben uns getrennt.", "Ex: Hannah."),
        ("zh", "我们分手了。", "前任：Hannah。"),
    ],
)
def test_breakup_turns_the_known_partner_into_ex(language: str, text: str, told: str) -> None:
    """Whom the words name, or the only one there is."""
    known = earlier("girlfriend", "Girlfriend: Hannah.", key="Hannah:relation", value="girlfriend")
    claims = read(message(text, language=language), known=(known,)).claims
    (over,) = [each for each in claims if each.key == "Hannah:relation"]

    assert (over.text, over.value) == (told, "ex")


def test_divorce_ends_a_known_marriage_fact() -> None:
    """Also where it is told whom one is married to, and not who somebody is."""
    known = earlier("wed", "Is married to Hannah.", key="partner", value="Hannah")
    (over,) = [
        each
        for each in read(message("We got divorced."), known=(known,)).claims
        if each.key == "partner"
    ]

    assert over.text == "Is no longer married to Hannah."
    assert over.ended_claim is not None
    assert over.ended_claim.value == "Hannah"


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "We got divorced.", "Ex: Hannah."),
        ("es", "Me he divorciado.", "Ex: Hannah."),
        ("fr", "On a divorcé.", "Ex : Hannah."),
        ("de", "Wir haben uns scheiden lassen.", "Ex: Hannah."),
        ("zh", "我们离婚了。", "前任：Hannah。"),
    ],
)
def test_divorce_ends_a_wife_relation_but_not_a_girlfriend_relation(
    language: str, text: str, told: str
) -> None:
    """Whoever has a girlfriend was divorced from somebody else."""
    wife, girlfriend = (
        earlier("loved", f"{part.capitalize()}: Hannah.", key="Hannah:relation", value=part)
        for part in ("wife", "girlfriend")
    )
    divorced = read(message(text, language=language), known=(wife,)).claims
    unmarried = read(message(text, language=language), known=(girlfriend,)).claims

    assert [each.text for each in divorced if each.value == "ex"] == [told]
    assert [each.text for each in unmarried if each.value == "ex"] == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I'm divorced."),
        ("en", "I got divorced in 2019."),
        ("es", "Estoy divorciada."),
        ("fr", "Je suis divorcée."),
        ("de", "Ich bin geschieden."),
        ("de", "Ich bin seit 5 Jahren getrennt."),
        ("de", "Ich bin seit 5 Jahren geschieden."),
    ],
)
def test_undated_or_old_divorce_does_not_end_the_known_partner_relation(
    language: str, text: str
) -> None:
    """Whom they told of since then is theirs."""
    known = earlier("wed", "Wife: Ana.", key="Ana:relation", value="wife")
    claims = read(message(text, language=language), known=(known,)).claims

    assert "relationship_status" in {each.key for each in claims}
    assert "Ana:relation" not in {each.key for each in claims}


def test_divorce_ends_every_belief_about_the_same_partner() -> None:
    """Whom somebody is married to, and who that is, are two beliefs about one person."""
    known = (
        earlier("wed", "Is married to Hannah.", key="partner", value="Hannah"),
        earlier("wife", "Wife: Hannah.", key="Hannah:relation", value="wife"),
    )
    claims = read(message("We got divorced."), known=known).claims

    assert {"Is no longer married to Hannah.", "Ex: Hannah."} <= {each.text for each in claims}


def test_breakup_with_two_partners_ends_only_the_named_one() -> None:
    """In doubt nobody is."""
    known = tuple(
        earlier(name, f"Girlfriend: {name}.", key=f"{name}:relation", value="girlfriend")
        for name in ("Hannah", "Zoe")
    )
    named = read(message("Hannah and I broke up."), known=known).claims
    unnamed = read(message("We broke up."), known=known).claims

    assert [each.key for each in named if each.value == "ex"] == ["Hannah:relation"]
    assert [each.key for each in unnamed if each.value == "ex"] == []


def test_breakup_with_a_friend_keeps_the_partner_relation() -> None:
    """A band breaks up, too."""
    known = (
        earlier("wife", "Wife: Hannah.", key="Hannah:relation", value="wife"),
        earlier("friend", "Friend: Tom.", key="Tom:relation", value="friend"),
    )
    claims = read(message("Tom and I broke up."), known=known).claims

    assert [each.key for each in claims if each.value == "ex"] == []


@pytest.mark.parametrize(
    ("text", "is_put_off"),
    [
        ("The interview has been moved to Friday.", True),
        ("Actually the interview is on Friday.", True),
        ("My interview is on Friday.", False),  # there may be two
        ("The dentist appointment has been moved to Friday.", False),
    ],
)
def test_rescheduled_event_targets_the_known_expectation(text: str, *, is_put_off: bool) -> None:
    """Said of what the words call the same, with a word that says that it was to be otherwise."""
    known = earlier(
        "interview",
        "Has a job interview: 8 May 2025.",
        kind="expectation",
        due_at=WEDNESDAY + DAY,
    )
    claims = read(message(text), known=(known,)).claims

    assert [each.target == "interview" for each in claims] == [is_put_off]


def earlier(name: str, text: str, *, kind: MemoryKind = "fact", **fields: object) -> MemoryState:
    """Something that was told before."""
    subject = "other" if ":" in str(fields.get("key", "")) else "person"
    known = believed(name, kind, text, subject=subject, **fields)
    before = WEDNESDAY - 30 * DAY
    return replace(known, stats=replace(known.stats, first_seen=before, last_seen=before))


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "I don't eat fish by the way.", "no fish"),
        ("en", "By the way, I'm vegetarian.", "vegetarian"),
        ("es", "Vivo en Madrid, por cierto.", "Madrid"),
        ("fr", "J'habite à Lyon au fait.", "Lyon"),
        ("de", "Ich bin übrigens Vegetarierin.", "Vegetarierin"),
        ("zh", "顺便说一下，我住在北京。", "北京"),
    ],
)
def test_aside_phrase_is_stripped_from_the_value_but_kept_in_the_quote(
    language: str, text: str, value: str
) -> None:
    """The words rest on the whole sentence all the same."""
    (claim,) = said(text, language=language).claims

    assert (claim.value, claim.quotes[0].text) == (value, text)


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "I promised Ana that I'd call the vet.", "Promised Ana to call the vet."),
        ("en", "I promised Ana to water her plants.", "Promised Ana to water her plants."),
        (
            "es",
            "Prometí a Ana regar las plantas en junio del año que viene.",
            "Prometió a Ana: regar las plantas (junio de 2026).",
        ),
        (
            "fr",
            "J'ai promis à Ana d'appeler le vétérinaire.",
            "A promis à Ana : appeler le vétérinaire.",
        ),
        (
            "de",
            "Ich habe Ana versprochen, die Blumen zu gießen.",
            "Hat Ana versprochen: die Blumen zu gießen.",
        ),
        ("zh", "我答应妈妈会去看医生。", "答应妈妈去看医生。"),
        ("zh", "我答应过妈妈给她打电话。", "答应妈妈给她打电话。"),
    ],
)
def test_promise_to_somebody_is_kept_without_a_due_date(
    language: str, text: str, told: str
) -> None:
    """Nor is it dropped for want of a date."""
    (claim,) = said(text, language=language).claims

    assert (claim.kind, claim.text) == ("commitment", told)
    assert (claim.due_at is not None) == ("2026" in told)


@pytest.mark.parametrize(
    "text",
    [
        "Remind me to call the dentist tomorrow.",
        "Remind me what I said to Ana.",
        "Remind me about the party.",
        "I'll call Ana.",
        "I promise to be better.",
    ],
)
def test_question_or_undated_resolve_yields_no_commitment(text: str) -> None:
    """Who asks to be told again asks; what names nobody and no day binds nobody.

    What one asks to be reminded of is a task, and no belief.
    """
    assert not said(text).claims


def keeps(language: str, promise: str, text: str) -> list[Claim]:
    """The promises that a text keeps."""
    known = believed("promise", "commitment", promise)
    known = replace(
        known,
        memory=replace(known.memory, language=language),
        stats=replace(known.stats, last_seen=0),
    )
    told = read(message(text, language=language), known=(known,)).claims
    return [claim for claim in told if claim.effect == "fulfils"]


@pytest.mark.parametrize(
    ("language", "promise", "text"),
    [
        ("en", "Promised Ana to call the dentist (9 May 2025).", "I called the dentist."),
        ("en", "Promised Ana to call the dentist.", "Done: I've called the dentist."),
        ("en", "Promised Ana to call the dentist.", "Done, the dentist knows."),
        ("en", "Promised Ana to pay the rent.", "Ok, I paid the rent this morning."),
        ("en", "Promised Ana to call the vet.", "I finally called the vet for Ana."),
        ("en", "Nora will send Leo the photos.", "I sent Leo the photos."),
        ("en", "Promised Tom to send him the photos (9 May 2025).", "I sent Tom the photos."),
        ("en", "Promised Priya to visit her (April 2025).", "I visited Priya last weekend."),
        ("en", "Will call mum (8 May 2025).", "I called mum."),
        ("es", "Prometió a Ana: llamar al dentista.", "Ya he llamado al dentista."),
        ("es", "Prometió a Ana: pagar el alquiler.", "Hecho: pagué el alquiler."),
        ("fr", "A promis à Ana : payer le loyer.", "C'est fait : j'ai payé le loyer."),
        ("fr", "A promis à Ana : écrire la lettre.", "J'ai écrit la lettre."),
        (
            "de",
            "Hat Ana versprochen: den Zahnarzt anzurufen.",
            "Ich habe den Zahnarzt angerufen.",
        ),
        (
            "de",
            "Hat Ana versprochen: die Blumen zu gießen.",
            "Erledigt: ich habe die Blumen gegossen.",
        ),
        ("de", "Hat Uwe versprochen: ihn anzurufen.", "Ich habe Uwe angerufen."),
        (
            "de",
            "Hat Tom versprochen: das Buch zurückzubringen.",
            "Ich habe das Buch zurückgebracht.",
        ),
        ("zh", "答应妈妈给牙医打电话。", "搞定了，给牙医打过电话了。"),
        ("zh", "答应妈妈买牛奶。", "牛奶买好了。"),
    ],
)
def test_statement_that_it_is_done_fulfils_the_commitment(
    language: str, promise: str, text: str
) -> None:
    """The promise is closed by the words that say so."""
    (claim,) = keeps(language, promise, text)

    assert (claim.target, claim.quotes[0].text in text) == ("promise", True)


@pytest.mark.parametrize(
    ("language", "promise", "text"),
    [
        ("en", "Promised Ana to call the dentist.", "I hated the dentist."),
        ("en", "Promised Ana to call the dentist.", "I didn't call the dentist."),
        ("en", "Promised Ana to call the dentist.", "Should I have called the dentist?"),
        ("en", "Promised Ana to call the vet.", "I called Ana."),
        ("en", "Promised Priya to visit her (April 2025).", "I visited Leeds last weekend."),
        ("es", "Prometió a Ana: llamar al dentista.", "No he llamado al dentista."),
        ("de", "Hat Ana versprochen: Milch zu kaufen.", "Ich habe Milch getrunken."),
        (
            "de",
            "Hat Ana versprochen: den Zahnarzt anzurufen.",
            "Ich habe den Zahnarzt noch nicht angerufen.",
        ),
        ("de", "Hat Ana versprochen: sie zu besuchen.", "Ich habe Ana nicht besucht."),
        ("de", "Hat Ana versprochen: die Blumen zu gießen.", "Ich habe fast die Blumen gegossen."),
        ("zh", "答应小红给她打电话。", "小红给我打电话了。"),
        ("zh", "答应妈妈买牛奶。", "我今天喝了牛奶。"),
    ],
)
def test_unrelated_or_negated_statement_does_not_fulfil_the_commitment(
    language: str, promise: str, text: str
) -> None:
    """In doubt it stays open."""
    assert keeps(language, promise, text) == []


def test_overdue_commitment_can_still_be_fulfilled() -> None:
    """It was overdue, and is not impossible."""
    promise = believed("promise", "commitment", "Promised Priya to visit her (April 2025).")
    due_at = WEDNESDAY - 8 * DAY
    known = replace(promise, memory=replace(promise.memory, due_at=due_at))
    material = material_of(message("I visited Priya last weekend."), known=(known,))
    kept = validate_extraction(extract_with_rules(material), material).extraction.claims

    assert [claim.target for claim in kept if claim.effect == "fulfils"] == ["promise"]


@pytest.mark.parametrize(
    ("language", "awaited", "text", "is_over"),
    [
        ("en", "Is going to Manchester (May 2025).", "We live in Manchester now.", True),
        ("en", "Is going to Manchester (May 2025).", "I moved to Manchester.", True),
        ("en", "Is going to Manchester (May 2025).", "We live in Leeds now.", False),
        ("en", "Is going to Manchester (May 2025).", "My brother lives in Manchester.", False),
        ("de", "Reist nach Fulda (Mai 2025).", "Wir sind nach Fulda gezogen.", True),
    ],
)
def test_living_at_the_destination_fulfils_the_travel_expectation(
    language: str, awaited: str, text: str, is_over: bool
) -> None:
    """It is to come no longer."""
    known = believed("move", "expectation", awaited, due_at=WEDNESDAY + 9 * DAY)
    known = replace(known, memory=replace(known.memory, language=language))
    told = read(message(text, language=language), known=(known,)).claims

    assert [claim.target for claim in told if claim.effect == "fulfils"] == ["move"] * is_over


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("我不住在北京了，现在住上海。", "上海"),
        ("我不住北京了，现在住在上海。", "上海"),
        ("我已经不在谷歌上班了，现在在腾讯上班。", "腾讯"),
        ("我早就不当老师了，现在当司机。", "司机"),
    ],
)
def test_replacement_value_is_extracted_from_chinese_ending_phrases(text: str, value: str) -> None:
    """In Chinese nobody says "I" twice."""
    (fact,) = [each for each in said(text, language="zh").claims if each.kind == "fact"]

    assert fact.value == value


@pytest.mark.parametrize("text", ["我现在住郊区。", "我现在住六楼。", "我现在住得很远。"])
def test_suburb_or_floor_is_not_extracted_as_location(text: str) -> None:
    """A suburb or a floor is none."""
    assert not said(text, language="zh").claims


def test_fulfilling_claim_quotes_only_the_sentence_that_says_so() -> None:
    """Not on whatever else the message says."""
    plan = "Is going to Manchester (May 2025)."
    known = believed("move", "expectation", plan, due_at=WEDNESDAY + 9 * DAY)
    text = "We live in Manchester now. The weather is great."
    told = read(message(text), known=(known,)).claims

    assert [claim.quotes[0].text for claim in told if claim.effect == "fulfils"] == [
        "We live in Manchester now."
    ]


def test_dated_plan_is_an_expectation_and_not_also_a_goal() -> None:
    """As something to come, not as a goal for good besides."""
    dated = said("Vamos a mudarnos a Madrid en junio.", language="es").claims
    undated = said("Voy a aprender italiano.", language="es").claims

    assert [claim.kind for claim in dated] == ["expectation"]
    assert [claim.pattern for claim in undated] == ["goal"]


def test_reminder_done_in_the_same_segment_yields_no_claim() -> None:
    """It was never more than a minute's promise."""
    claims = said("Remind me to call the dentist.", "I called the dentist.").claims

    assert claims == ()


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        (
            "Meine Schwester wohnt nicht mehr in Köln, sie wohnt in Bonn.",
            "die Schwester:location",
            "Bonn",
        ),
        ("Mein Bruder wohnt nicht mehr in Köln, er wohnt in Bonn.", "der Bruder:location", "Bonn"),
        (
            "Meine Schwester Ana wohnt nicht mehr in Köln, sie wohnt in Bonn.",
            "Ana:location",
            "Bonn",
        ),
    ],
)
def test_unnamed_german_relative_gets_the_new_location(text: str, key: str, value: str) -> None:
    """A German noun is no name."""
    facts = [each for each in said(text, language="de").claims if ":relation" not in each.key]

    assert [(each.key, each.value) for each in facts] == [(key, value)]


def test_ambiguous_pronoun_after_two_people_yields_no_location() -> None:
    """It may be either."""
    told = "Meine Freundin heißt Ana."
    text = "Ana wohnt nicht mehr mit Ben in Köln, er wohnt in Bonn."

    assert "Bonn" not in [each.value for each in said(told, text, language="de").claims]
