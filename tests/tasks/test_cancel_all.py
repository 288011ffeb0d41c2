"""A wish to cancel everything is read in five languages."""

import pytest

from oldfriend.turn.request_handlers.cancel_all_requests import EVERYTHING, TASKS, read_cancel_all


@pytest.mark.parametrize(
    ("language", "text", "extent"),
    [
        ("en", "Cancel everything!", "everything"),
        ("en", "please clear my list", "everything"),
        ("en", "delete all my reminders", "reminder"),
        ("en", "Cancel everything about the party", None),
        ("en", "they cancelled everything", None),
        ("de", "Lösche alles", "everything"),
        ("de", "bitte alle Erinnerungen löschen", "reminder"),
        ("es", "cancela todo", "everything"),
        ("es", "borra todos mis recordatorios", "reminder"),
        ("fr", "annule tout", "everything"),
        ("fr", "supprime tous mes rappels", "reminder"),
        ("zh", "全部取消", "everything"),
        ("zh", "取消所有提醒", "reminder"),
        ("zh", "把清单清空", "everything"),
        ("en", "cancel all", "everything"),
        ("en", "forget my list", "everything"),
        ("en", "forget everything on my list", "everything"),
        ("en", "forget all my tasks", "everything"),
        ("en", "forget all tasks please", "everything"),
        ("en", "please forget all tasks and reminders", "everything"),
        ("es", "olvida todo lo de mi lista", "everything"),
        ("fr", "oublie ma liste", "everything"),
        ("de", "vergiss meine Liste", "everything"),
        ("de", "Sag alle Erinnerungen ab", "reminder"),
        ("es", "Cancélalo todo", "everything"),
        ("fr", "annule-les tous", "everything"),
        ("zh", "清空提醒", "reminder"),
    ],
)
def test_wish_is_read(language: str, text: str, extent: str | None) -> None:
    """In five languages, as a whole message."""
    found = read_cancel_all(text, language)
    wanted = EVERYTHING if extent == "everything" else extent and frozenset({extent})
    assert (found and found.extent) == wanted
    assert found is None or not found.ref


@pytest.mark.parametrize(
    ("language", "text", "extent", "ref"),
    [
        ("en", "delete all reminders about the dentist", "reminder", "the dentist"),
        ("en", "please cancel every reminder for Eva", "reminder", "Eva"),
        ("en", "cancel my reminders about the dentist", "reminder", "the dentist"),
        ("en", "remove all to-dos about the garden", "todo", "the garden"),
        ("en", "delete all tasks to do with Eva please", "everything", "Eva"),
        ("de", "Lösche alle Erinnerungen an den Zahnarzt", "reminder", "den Zahnarzt"),
        ("de", "alle Aufgaben zum Garten löschen", "everything", "Garten"),
        ("de", "Sag alle Erinnerungen an Eva ab", "reminder", "Eva"),
        ("es", "Borra todos los recordatorios del dentista", "reminder", "dentista"),
        ("es", "elimina mis pendientes sobre el jardín", "todo", "el jardín"),
        ("fr", "Supprime tous les rappels du dentiste", "reminder", "dentiste"),
        ("fr", "efface mes rappels d’Eva", "reminder", "Eva"),
        ("zh", "删除所有关于牙医的提醒", "reminder", "牙医"),
        ("zh", "把跟牙医有关的提醒都删掉", "reminder", "牙医"),
        ("zh", "取消关于花园的所有待办", "todo", "花园"),
    ],
)
def test_what_entries_are_about_is_read(language: str, text: str, extent: str, ref: str) -> None:
    """In five languages; what is about something else stays."""
    found = read_cancel_all(text, language)
    assert found is not None
    wanted = TASKS if extent == "everything" else frozenset({extent})
    assert (found.extent, found.ref) == (wanted, ref)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "forget everything about the dentist"),
        ("en", "forget everything"),
        ("en", "please forget everything, please"),
        ("en", "forget all"),
        ("en", "forget all of it"),
        ("en", "forget it all"),
        ("de", "vergiss bitte alles"),
        ("es", "olvídalo todo"),
        ("fr", "oublie-les tous"),
        ("en", "delete the reminder about the dentist"),
        ("en", "they deleted all reminders about the dentist"),
        ("de", "Lösche die Erinnerung an den Zahnarzt"),
        ("es", "olvida todo sobre el dentista"),
        ("fr", "supprime le rappel du dentiste"),
        ("zh", "删除关于牙医的提醒"),
    ],
)
def test_one_entry_or_what_is_remembered_is_not_taken_for_many(language: str, text: str) -> None:
    """One that is named alone is cancelled without asking; forgetting is another thing."""
    assert read_cancel_all(text, language) is None
