-- What a person works on, by name, instructions for a kind of task that they keep, and hints.
CREATE TABLE project (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    name TEXT NOT NULL,
    role TEXT NOT NULL,      -- how the companion is to be in it; empty: as always
    message TEXT,            -- the message that wrote it last
    message_seq BIGINT,      -- the version of that message
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE INDEX project_person ON project (person, changed_at);
CREATE INDEX project_message ON project (person, message_seq);

-- What was said in a chat while a project was open there: the messages between two commands.
CREATE TABLE project_span (
    chat TEXT NOT NULL,
    since_seq BIGINT NOT NULL,
    until_seq BIGINT,        -- NULL: it is open
    person TEXT NOT NULL REFERENCES person (id),
    project TEXT NOT NULL,
    PRIMARY KEY (chat, since_seq)
);
CREATE INDEX project_span_person ON project_span (person, project);

CREATE TABLE skill (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    is_on BIGINT NOT NULL,
    message TEXT,            -- the message that wrote it last
    message_seq BIGINT,      -- the version of that message
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE INDEX skill_person ON skill (person, changed_at);
CREATE INDEX skill_message ON skill (person, message_seq);

-- How far somebody new has been told, one hint at a time, what there is.
CREATE TABLE hint_progress (
    person TEXT PRIMARY KEY REFERENCES person (id),
    stage BIGINT NOT NULL,   -- the last hint that was given; 0: none yet
    is_off BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
