-- A link that opens the page once, as somebody. Only its print.
CREATE TABLE web_link (
    print TEXT PRIMARY KEY,
    person TEXT NOT NULL, -- no reference: checking it would lock the person's row
    expires_at BIGINT NOT NULL
);
CREATE INDEX web_link_person ON web_link (person);

-- A browser that is signed in as somebody. Only the print of what it shows.
CREATE TABLE web_session (
    print TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX web_session_person ON web_session (person);

-- When a link was tried that was none. Gone after ten minutes.
CREATE TABLE web_attempt (
    id TEXT PRIMARY KEY,
    tried_at BIGINT NOT NULL
);
CREATE INDEX web_attempt_tried ON web_attempt (tried_at);

-- What was said on all channels, by its own time: for reading back from any moment.
CREATE INDEX message_said ON message (person, said_at, seq);
