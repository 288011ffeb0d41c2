"""What does the house say, so that a page can say it in another language?

A sentence in English, for whoever reads it as it is, with a code and its values: a page that has
a phrase of its own for the code takes that. It does not know the pages, nor their languages.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

Code: TypeAlias = Literal[
    "address_needed", "address_unfit", "allowance_behind_used_up", "allowance_used_up",
    "answer_cut_short", "answer_empty", "answer_no_sound", "answer_no_transcript",
    "answer_no_vectors", "answer_unreadable", "answer_unusable", "answered_already",
    "apart_present", "at_least", "belief_over", "block_newer", "block_too_long",
    "bot_calls_otherwise", "bot_heard_elsewhere", "bot_hears_little", "bot_holds", "bot_known",
    "bot_not_delivered", "bot_token_not_kept", "bot_token_unfit", "bot_token_unknown",
    "broken_inside", "brought_already", "calendar_ends", "changed_meanwhile",
    "changed_since_looked", "companion_name_unfit", "companion_renamed", "database_damaged",
    "database_sound", "day_unknown", "disk_free", "disk_low", "disk_nearly_full", "draft_empty",
    "draft_too_long", "embedder_unknown", "embedder_works", "embedding_waits", "empty_file",
    "empty_message", "entity_unknown", "expected_address", "expected_embedder", "expected_host",
    "expected_loopback", "expected_model", "expected_number", "expected_one_of", "expected_proxy",
    "expected_speaker", "expected_transcriber", "expected_user", "expected_variable",
    "expected_voice", "expected_whole", "expected_yes_or_no", "export_of_ours", "extra_missing",
    "file_gone", "file_grows", "file_has", "file_not_kept", "file_too_large", "fold_differs",
    "folder_needed", "folder_without_model", "foreign_page", "forget_about_nobody",
    "forget_about_unknown", "forget_changed", "forget_gone", "forget_several",
    "forgotten_by_another_key", "form_unfit", "forms_off", "from_to", "group_is_nobody",
    "guest_is_here", "guest_is_you", "import_begun_otherwise", "import_broke", "import_file_empty",
    "import_html_hint", "import_id_twice", "import_interrupted", "import_json_broken",
    "import_line", "import_line_long", "import_line_unlike", "import_message_endless",
    "import_message_long", "import_name_unfit", "import_no_json", "import_no_message_here",
    "import_no_such_day", "import_no_text", "import_nobody_called", "import_nobody_says",
    "import_role_unfit", "import_table_broken", "import_text_unfit", "import_time_unreadable",
    "import_too_many_files", "import_undone", "import_unfolds", "import_unknown",
    "import_unknown_kind", "import_unreadable", "import_without_message", "invitation_over",
    "key_needed", "key_not_kept", "key_refused", "key_unfit", "keys_damaged", "keys_open",
    "keys_unreadable", "letter_at_work", "letter_ended_each_time", "letter_forms_off",
    "letter_gone", "letter_interrupted", "letter_unanswered", "letter_went_wrong", "link_spent",
    "listens_here", "made_of_words", "me_changed", "memory_gone", "memory_no_name",
    "merge_one_kind", "merge_present", "merge_same", "merge_two", "message_gone",
    "message_too_long", "model_connected", "model_files_damaged", "model_files_unreadable",
    "model_not_asked", "model_not_loaded", "model_refuses", "model_silent", "model_slow",
    "model_unfit", "model_unknown", "model_unknown_meant", "model_unnamed", "model_unusable",
    "models_rest", "name_has_no_date", "name_no_memory", "name_taken", "name_unfit", "name_unknown",
    "no_due_date", "no_model", "no_model_connected", "no_model_connected_yet", "no_receipt",
    "nobody_heard", "nobody_named", "nobody_speaks", "not_believed", "not_called_wrong",
    "not_signed_in", "not_yours_to_change", "nothing_changed", "nothing_heard", "nothing_named",
    "nothing_to_pause", "notice_date_unknown", "notice_dates_ambiguous", "notice_line_kept",
    "notice_more", "notice_no_utf8", "notice_unknown_field", "of_person", "one_and_another",
    "other_holds", "other_not_on_telegram", "owner_only", "page_is_old", "part_crashed",
    "part_starts", "part_starts_again", "passkey_gone", "passkey_known", "passkey_late",
    "passkey_unknown", "passkey_unverified", "passkeys_full", "person_by_former", "person_by_words",
    "person_memory", "person_unfound", "person_unknown", "place_closed", "platform_refused",
    "platform_unreached", "process_stops", "provider_busy", "provider_failed",
    "provider_has_no_voice", "provider_lost", "provider_overloaded", "provider_rests",
    "provider_slow", "provider_unknown", "provider_unnamed", "provider_unpaid",
    "provider_unreached", "provider_unreached_here", "provider_without_address",
    "provider_without_key", "reading_again", "recording_too_large", "recording_too_long",
    "recording_unreadable", "reply_lost", "request_not_taken", "request_too_long", "runtime_broken",
    "said_and_forgotten", "sent_too_slowly", "session_over", "setting_address", "setting_by_hand",
    "setting_fixed", "setting_in_file", "setting_in_line", "setting_not_known", "setting_unfit",
    "setting_unknown", "settings_no_toml", "settings_no_toml_in", "settings_secret",
    "settings_unreadable", "settings_unwritable", "since_unfit", "somebody_heard", "span_backwards",
    "span_days", "span_hours", "span_minutes", "still_to_come", "store_busy", "store_damaged",
    "store_full", "store_missing", "store_too_new", "store_unusable", "suggestion_decided",
    "suggestion_gone", "suggestion_stale", "suggestion_unfit", "summaries_not_folded",
    "system_keyring", "talk_unread", "telegram_slow", "telegram_trouble", "text_unfit",
    "thinking_takes_model", "thinks_not_yet", "thinks_off", "thinks_off_with_forms", "thinks_today",
    "thought_gone", "thought_in_vain", "time_outside", "time_unreadable", "token_days_unfit",
    "token_gone", "token_name_unfit", "tokens_full", "too_many_files", "too_many_tries", "too_much",
    "too_much_lying", "trial_in_program", "trial_listens", "trial_vectors", "turn_failed",
    "turn_failed_by", "value_as_before", "value_empty", "value_needed", "variable_empty",
    "vectors_of_other_length", "was_merged", "words_alone", "words_for_now", "you_not_on_telegram",
    "zone_unknown",
]  # fmt: skip
"""By what a page knows what is said; what has none is read in English everywhere."""
Value: TypeAlias = str | int | float
"""What stands in a sentence; also another saying."""


class Saying(str):
    """A sentence that tells by which code and with which values it can be said elsewhere.

    It is a text like any other to whoever passes it on: a reason, a notice, the words of an error.
    """

    __slots__ = ("code", "values")

    code: Code
    values: Mapping[str, Value]


def saying(code: Code, text: str, /, **values: Value) -> Saying:
    """A sentence in English, and what it takes to say it in another language."""
    said = Saying(text)
    said.code, said.values = code, values
    return said


def extra_missing(what: str, extra: str) -> Saying:
    """That something is not installed which only some need."""
    return saying(
        "extra_missing",
        f'{what} needs an extra that is not installed. Run: pip install "{extra}"', extra=extra,
    )  # fmt: skip
