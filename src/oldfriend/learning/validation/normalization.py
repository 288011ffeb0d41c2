"""Normalization: repairs the form of a claim, so that a true claim is not lost to its format."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from oldfriend.domain.attribute_keys import KEY_LABELS, SINGLE_VALUED_KEYS, fold_key
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.cue_words import fold_characters, get_cue_words
from oldfriend.learning.validation.entity_names import filter_names_in_text
from oldfriend.learning.validation.rejection_reasons import NormalizationKind
from oldfriend.learning.validation.safety import has_prompt_injection, has_secret
from oldfriend.learning.validation.schema_checks import CATEGORIES
from oldfriend.learning.validation.segment_view import SegmentView, ValidationCase
from oldfriend.learning.validation.sentiment import correct_impact_sign
from oldfriend.learning.validation.tone import check_tone
from oldfriend.search.synonyms import find_key_by_word

MAX_TAGS: Final = 4
MAX_TAG_LENGTH: Final = 30
WORD: Final = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
TAG: Final = re.compile(rf"{WORD}(?: (?:{WORD}|\d{{1,3}})){{0,2}}")
"""Up to three words; passwords mix letters and digits, and links contain punctuation."""


def normalize_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the valid tags, in lower case and without duplicates."""
    plain = dict.fromkeys(" ".join(tag.lower().split()) for tag in tags)
    return tuple(tag for tag in plain if is_valid_tag(tag))[:MAX_TAGS]


def is_valid_tag(text: str) -> bool:
    """Return whether a text is a short category name, and harmless."""
    if len(text) > MAX_TAG_LENGTH or not TAG.fullmatch(text):
        return False
    return not (has_secret(text) or has_prompt_injection(text) or is_out_of_tone(text))


def is_out_of_tone(tag: str) -> bool:
    """Return whether a tag is a clinical label or a technical term, in any language."""
    return check_tone(tag, language="") in {"clinical", "metadata"}


CATEGORY_LABELS: Final[Mapping[str, frozenset[str]]] = {
    "dislikes": frozenset({"dislike", "aversion", "hate", "avoid"}),
    "allergies": frozenset({"allergy", "allergie", "allergic", "intolerance"}),
    "dietary": frozenset({"diet", "food", "drink", "beverage", "meal", "eating", "cuisine"}),
    "travel_style": frozenset({"travel", "trip", "vacation", "holiday", "transport", "seat"}),
    "accommodation": frozenset({"hotel", "lodging", "stay"}),
    "interests": frozenset(
        {"like", "love", "favorite", "favourite", "hobby", "hobbie", "interest"}
    ),
}
"""Categories, by words in labels that models use for them."""
OPEN_KEY: Final = "other"
"""The key of what has no label."""
MAX_RELATIONAL_TAGS: Final = 3
MAX_CUES: Final = 3
MAX_CUE_LENGTH: Final = 40
"""Maximum lengths and counts of a claim's optional fields."""


def normalize_claim(claim: Claim, view: SegmentView) -> Claim:
    """Return a claim in the form that the checks expect; its meaning is unchanged."""
    text = strip_person_subject(" ".join(claim.text.split()), view)
    claim = replace(claim, text=text)
    names = filter_names_in_text(claim)
    key = claim.key
    if claim.kind == "preference":
        key = map_category(claim)
        if claim.subject == "other":  # what others like is a fact about them
            claim = replace(claim, kind="fact", key=key)
    if claim.kind == "fact":
        key = qualify_key(claim, names, view)
    return replace(
        claim,
        target=None if claim.effect == "new" else claim.target,
        key=key,
        value=" ".join(claim.value.split()),
        tags=normalize_tags(claim.tags),
        relational=tuple(dict.fromkeys(claim.relational))[:MAX_RELATIONAL_TAGS],
        names=names,
    )


def strip_person_subject(text: str, view: SegmentView) -> str:
    """Remove a leading "The person": claims about the person have no subject."""
    cue_words = get_cue_words(detect_language(text, fallback=view.language))
    rest = cue_words.person_prefix.sub("", text, count=1)
    return rest[:1].upper() + rest[1:]


def qualify_key(claim: Claim, names: tuple[str, ...], view: SegmentView) -> str:
    """Return a fact's key in the form of keys; qualified by the name of whom it is about.

    A label that is no known key is a key of its own.
    """
    owner, _, label = claim.key.rpartition(":")
    if claim.subject != "other":
        return fold_known_key(label, claim, view)
    owner = owner.strip() or find_owner(claim, names, view)
    key = fold_known_key(label, claim, view)
    bare = key.removeprefix(f"{fold_key(owner)}_") or key
    return f"{owner}:{bare}" if owner else bare


def fold_known_key(label: str, claim: Claim, view: SegmentView) -> str:
    """Return the known key that a label is a word for; else the label in the form of keys."""
    key = fold_key(label) or OPEN_KEY
    language = detect_language(claim.text, fallback=view.language)
    known = KEY_LABELS.get(key) or find_key_by_word(key, language)
    if known is None or known in CATEGORIES - {"allergies"} or key in SINGLE_VALUED_KEYS:
        return key
    return known


def find_owner(claim: Claim, names: tuple[str, ...], view: SegmentView) -> str:
    """Return the name of whom a claim is about: the first in its text; "" if nobody is named."""
    known = [
        *(each.name for each in view.inputs.entities),
        *(each.name for each in view.mentions),
    ]
    given = names or tuple(name for name in known if name and name in claim.text)
    owners = [name for name in given if name not in claim.value] or given
    return min(owners, key=lambda each: (claim.text.find(each), -len(each)), default="")


def map_category(claim: Claim) -> str:
    """Return the category that a label has words of; else the label in the form of keys."""
    key = fold_key(claim.key)
    parts = {word.removesuffix("s") for word in key.split("_")}
    if key in CATEGORIES:
        return key
    return next((each for each, words in CATEGORY_LABELS.items() if words & parts), key or OPEN_KEY)


def finalize_claim(case: ValidationCase) -> Claim:
    """Return an accepted claim with exact quotes and an impact that fits its words."""
    quotes = dict.fromkeys(span.quote for span in case.spans)
    claim = replace(case.claim, quotes=tuple(quotes))
    is_read = any(span.message.trust == "outside" for span in case.spans)
    if claim.kind != "event" or is_read:  # what was read has not happened to the person
        return replace(claim, impact=0, arousal=None, cues=())
    return replace(claim, impact=correct_impact_sign(case), cues=filter_quoted_cues(case))


def filter_quoted_cues(case: ValidationCase) -> tuple[str, ...]:
    """Return the cues of a feeling that are short and appear in the quotes."""
    sentences = [fold_characters(span.sentence_text) for span in case.spans]
    short = dict.fromkeys(" ".join(cue.split()) for cue in case.claim.cues)
    short_cues = (cue for cue in short if 0 < len(cue) <= MAX_CUE_LENGTH)
    return tuple(
        cue for cue in short_cues if any(fold_characters(cue) in each for each in sentences)
    )[:MAX_CUES]


def list_normalizations(original: Claim, normalized: Claim) -> Iterator[NormalizationKind]:
    """Yield the kinds of changes that normalization made to a claim."""
    original_quotes = {quote.text for quote in original.quotes}
    if any(quote.text not in original_quotes for quote in normalized.quotes):
        yield "quote"
    if normalized.impact * original.impact < 0:
        yield "sign"
    elif normalized.impact != original.impact:
        yield "impact"
    if normalized.names != original.names:
        yield "names"
    if (normalized.tags, normalized.cues, normalized.relational) != (
        original.tags,
        original.cues,
        original.relational,
    ):
        yield "tags"
    if normalized.key != original.key:
        yield "key"
    if normalized.text != original.text:
        yield "text"
