"""Prompt templates: tells a person's words from the documents that a front end puts around them.

Documents come with their message as text from outside: nothing is done, noted or learned from them.
A document cannot pass for the person by closing its tags, for the last closing tag counts.
"""

from typing import Final

DOCUMENT_TAGS: Final = ("context", "source", "document", "documents", "files")
"""Tags around documents in the prompts of Open WebUI and others."""
QUERY_TAG: Final = "user_query"
"""The tag around the person's words after such documents."""
HEADING: Final = "#"
"""What a line of such a prompt begins with, before the documents: it is a task in sections."""
MAX_DOCUMENT_CHARS: Final = 40_000


def split_documents(text: str) -> tuple[str, str]:
    """Return what the person wrote and, if a template holds documents, all the rest."""
    starts = [place for tag in DOCUMENT_TAGS if (place := find_opening(text, tag)) >= 0]
    ends = [place + len(tag) + 3 for tag in DOCUMENT_TAGS if (place := text.rfind(f"</{tag}>")) > 0]
    if not starts or not ends or max(ends) <= min(starts):
        return text, ""
    start, end = min(starts), max(ends)
    before, after = text[:start], text[end:]
    _, opening, query = after.partition(f"<{QUERY_TAG}>")
    if opening:
        after = query.rpartition(f"</{QUERY_TAG}>")[0] or query
    if has_heading(before):
        before = ""
    own = "\n\n".join(filter(None, [before.strip(), after.strip()]))
    return own, text[len(before) : end].strip()[:MAX_DOCUMENT_CHARS]


def find_opening(text: str, tag: str) -> int:
    """Return where a tag first opens, with or without attributes; -1: nowhere."""
    places = [text.find(f"<{tag}>"), text.find(f"<{tag} ")]
    return min((place for place in places if place >= 0), default=-1)


def has_heading(text: str) -> bool:
    """Tell whether a text has a heading, as a prompt in sections has."""
    return any(each.startswith(HEADING) for each in text.splitlines())
