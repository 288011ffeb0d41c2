"""Message order: the order of a talk in SQL, where several messages have one time."""

from typing import Final

MESSAGE_PLACE: Final = "(SELECT min(f.seq) FROM message f WHERE f.id = m.id)"
"""Where a message stands among those of its time: where it was written, however often edited.

Of what is left of it: the first version may be erased alone.

A reply has the time of what it answers, and an edit comes later in the log.
"""
GIVEN_PLACE: Final = """coalesce((SELECT min(f.seq) FROM message v JOIN message f
             ON f.id = v.id WHERE v.person = :person AND v.seq = :seq), :seq)"""
"""The same of the message with the seq that is given, in any of its versions."""
