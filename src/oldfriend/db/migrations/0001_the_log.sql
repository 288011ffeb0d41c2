-- Who is talking.
CREATE TABLE person (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    is_owner BIGINT NOT NULL,
    language TEXT,
    zone TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_seq BIGINT NOT NULL DEFAULT 0,    -- newest message version written
    tokens BIGINT NOT NULL DEFAULT 0,      -- of all message versions ever written
    last_change BIGINT NOT NULL DEFAULT 0, -- newest change written
    rewritten BIGINT NOT NULL DEFAULT 0,   -- raised when messages are removed or read anew
    embedded BIGINT NOT NULL DEFAULT 0     -- vectors ever saved
);
CREATE UNIQUE INDEX person_owner ON person (is_owner) WHERE is_owner = 1;

CREATE TABLE identity (
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES person (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (channel, address)
);

CREATE TABLE companion (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    introduced_at BIGINT
);

-- Where they talk.
CREATE TABLE chat (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    companion TEXT NOT NULL REFERENCES companion (id),
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (person, companion, channel, address)
);

CREATE TABLE session (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    companion TEXT NOT NULL REFERENCES companion (id),
    chat TEXT NOT NULL REFERENCES chat (id),
    status TEXT NOT NULL CHECK (status IN ('open', 'closed')),
    opened_at BIGINT NOT NULL,
    closed_at BIGINT,
    close_trigger TEXT,
    after_seq BIGINT NOT NULL DEFAULT 0,    -- where the person's log stood when it was opened,
    after_tokens BIGINT NOT NULL DEFAULT 0, -- by which an open one knows how long it has grown
    external_id TEXT,
    batch TEXT
);
CREATE UNIQUE INDEX session_one_open ON session (chat) WHERE status = 'open';
CREATE UNIQUE INDEX session_external ON session (chat, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX session_person ON session (person, opened_at);

-- What was said. One row a version; an edit adds a row and closes the one before it.
CREATE TABLE message (
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    person TEXT NOT NULL REFERENCES person (id),
    seq BIGINT NOT NULL,
    chat TEXT NOT NULL REFERENCES chat (id),
    session TEXT NOT NULL REFERENCES session (id),
    role TEXT NOT NULL,
    author TEXT NOT NULL,
    speaker TEXT NOT NULL,
    trust TEXT NOT NULL,
    text TEXT NOT NULL,
    said_at BIGINT NOT NULL,
    zone TEXT NOT NULL,
    language TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    turn TEXT,
    external_id TEXT,
    batch TEXT,
    details TEXT,
    imprint BLOB NOT NULL, -- what search keeps of the text
    written_at BIGINT NOT NULL,
    replaced_at BIGINT,
    PRIMARY KEY (id, version)
);
CREATE UNIQUE INDEX message_seq ON message (person, seq);
CREATE UNIQUE INDEX message_external ON message (chat, external_id)
    WHERE external_id IS NOT NULL AND version = 1;
CREATE INDEX message_chat ON message (chat, said_at, seq);
CREATE INDEX message_batch ON message (batch) WHERE batch IS NOT NULL;

CREATE TABLE message_vector (
    person TEXT NOT NULL REFERENCES person (id),
    model TEXT NOT NULL,
    seq BIGINT NOT NULL,
    bytes BLOB NOT NULL, -- little-endian float16
    PRIMARY KEY (person, model, seq)
) WITHOUT ROWID;

CREATE TABLE import_batch (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    number BIGINT NOT NULL,
    file TEXT NOT NULL,
    format TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    me TEXT NOT NULL,         -- the speaker that the person is; empty for nobody
    zone TEXT NOT NULL,       -- of times that name none
    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'undone')),
    position BIGINT NOT NULL, -- messages of the file that were dealt with
    added BIGINT NOT NULL,
    known BIGINT NOT NULL,    -- messages that were here already
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    UNIQUE (person, number)
);

-- What is believed: the decisions, the words behind them, and their fold.
CREATE TABLE change (
    person TEXT NOT NULL REFERENCES person (id),
    seq BIGINT NOT NULL,
    object TEXT NOT NULL,
    kind TEXT NOT NULL,
    op TEXT NOT NULL,
    v BIGINT NOT NULL,
    learned_at BIGINT NOT NULL,
    ended_at BIGINT,
    after TEXT NOT NULL,
    cause TEXT NOT NULL,
    author TEXT NOT NULL,
    model_call TEXT,
    base BIGINT NOT NULL,
    PRIMARY KEY (person, seq)
);
CREATE INDEX change_object ON change (person, object, seq);

CREATE TABLE memory (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    language TEXT NOT NULL,
    learned_at BIGINT NOT NULL,
    ended_at BIGINT,
    change_seq BIGINT NOT NULL
);
CREATE INDEX memory_person ON memory (person, kind, learned_at);

CREATE TABLE evidence (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    memory TEXT NOT NULL,
    message TEXT NOT NULL,
    version BIGINT NOT NULL,
    quote TEXT NOT NULL,
    author TEXT NOT NULL,
    trust TEXT NOT NULL,
    signal TEXT NOT NULL,
    said_at BIGINT NOT NULL,
    withdrawn_at BIGINT
);
CREATE INDEX evidence_memory ON evidence (person, memory);
CREATE INDEX evidence_message ON evidence (person, message);

-- Why a reply was given.
CREATE TABLE receipt (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    turn TEXT NOT NULL UNIQUE,
    asked TEXT NOT NULL,        -- message id of what was said to it
    asked_seq BIGINT NOT NULL,  -- the version of it that was answered
    replied TEXT NOT NULL,      -- message id of the reply
    made_at BIGINT NOT NULL,
    details TEXT NOT NULL
);
CREATE INDEX receipt_replied ON receipt (person, replied);
CREATE INDEX receipt_made ON receipt (person, made_at);

CREATE TABLE receipt_item (
    receipt TEXT NOT NULL REFERENCES receipt (id),
    ordinal BIGINT NOT NULL,
    person TEXT NOT NULL REFERENCES person (id),
    kind TEXT NOT NULL CHECK (kind IN ('message', 'memory')),
    object TEXT NOT NULL,
    version BIGINT NOT NULL,
    used BIGINT NOT NULL,
    score DOUBLE PRECISION NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (receipt, ordinal)
);
CREATE INDEX receipt_item_object ON receipt_item (person, object);
