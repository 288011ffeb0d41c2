-- What is believed, of every kind; how it stands by its evidence; where it was read.

-- Of a change, learned_at and ended_at are now the span in which it was the newest of its object.
ALTER TABLE change ADD COLUMN segment TEXT; -- whose consolidation decided it
CREATE INDEX change_learned ON change (person, learned_at);
CREATE INDEX change_segment ON change (person, segment) WHERE segment IS NOT NULL;

ALTER TABLE memory ADD COLUMN subject TEXT NOT NULL DEFAULT 'person';
ALTER TABLE memory ADD COLUMN trust TEXT NOT NULL DEFAULT 'person';
ALTER TABLE memory ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN value TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN pattern TEXT;
ALTER TABLE memory ADD COLUMN impact BIGINT NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memory ADD COLUMN relational TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memory ADD COLUMN importance DOUBLE PRECISION NOT NULL DEFAULT 0.5;
ALTER TABLE memory ADD COLUMN status TEXT NOT NULL DEFAULT 'active';
ALTER TABLE memory ADD COLUMN happened_at BIGINT;
ALTER TABLE memory ADD COLUMN happened_until BIGINT;
ALTER TABLE memory ADD COLUMN holds_from BIGINT;
ALTER TABLE memory ADD COLUMN holds_until BIGINT;
ALTER TABLE memory ADD COLUMN due_at BIGINT;
ALTER TABLE memory ADD COLUMN entities TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memory ADD COLUMN relations TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memory ADD COLUMN is_pinned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN is_by_person BIGINT NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN vouched_at BIGINT; -- when they wrote or confirmed it
-- How it stands: computed from its live evidence, and kept here for whoever reads.
ALTER TABLE memory ADD COLUMN strength DOUBLE PRECISION NOT NULL DEFAULT 1.0;
ALTER TABLE memory ADD COLUMN confidence DOUBLE PRECISION NOT NULL DEFAULT 1.0;
ALTER TABLE memory ADD COLUMN times_seen BIGINT NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN first_seen BIGINT;
ALTER TABLE memory ADD COLUMN last_seen BIGINT;
CREATE INDEX memory_key ON memory (person, kind, key) WHERE ended_at IS NULL;
CREATE INDEX memory_due ON memory (person, due_at) WHERE ended_at IS NULL AND due_at IS NOT NULL;

CREATE TABLE entity (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    aliases TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    same_as TEXT,
    is_by_person BIGINT NOT NULL,
    is_pinned BIGINT NOT NULL,
    learned_at BIGINT NOT NULL,
    ended_at BIGINT,
    change_seq BIGINT NOT NULL
);
CREATE INDEX entity_person ON entity (person, learned_at);

CREATE TABLE summary (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    level BIGINT NOT NULL,
    text TEXT NOT NULL,
    language TEXT NOT NULL,
    topics TEXT NOT NULL,
    segments TEXT NOT NULL, -- all that it covers
    sources TEXT NOT NULL,  -- the summaries that it was folded from
    from_at BIGINT NOT NULL,
    until_at BIGINT NOT NULL,
    is_active BIGINT NOT NULL,
    learned_at BIGINT NOT NULL,
    ended_at BIGINT,
    change_seq BIGINT NOT NULL
);
CREATE INDEX summary_person ON summary (person, level, from_at);

ALTER TABLE evidence RENAME COLUMN memory TO object;
ALTER TABLE evidence ADD COLUMN stance TEXT NOT NULL DEFAULT 'supports';
ALTER TABLE evidence ADD COLUMN confidence DOUBLE PRECISION NOT NULL DEFAULT 1.0;
ALTER TABLE evidence ADD COLUMN extractor TEXT NOT NULL DEFAULT '';
ALTER TABLE evidence ADD COLUMN segment TEXT;
CREATE INDEX evidence_segment ON evidence (person, segment) WHERE segment IS NOT NULL;

-- Spans of the log, each read once in each generation.
CREATE TABLE segment (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    chat TEXT NOT NULL REFERENCES chat (id),
    session TEXT NOT NULL REFERENCES session (id),
    first_seq BIGINT NOT NULL,  -- of the first versions of its messages
    last_seq BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    from_at BIGINT NOT NULL,
    until_at BIGINT NOT NULL,
    generation BIGINT NOT NULL DEFAULT 1, -- raised when something in it is edited or deleted
    status TEXT NOT NULL CHECK (status IN
        ('waiting', 'reading', 'done', 'trivial', 'failed', 'taken back')),
    cut_by TEXT NOT NULL,
    cut_at BIGINT NOT NULL,
    author TEXT,                -- what has read it
    outcome TEXT,               -- counts of what came of it, and of what was refused and why
    error TEXT,
    ended_at BIGINT,
    UNIQUE (session, first_seq)
);
CREATE INDEX segment_person ON segment (person, last_seq);
CREATE INDEX segment_waiting ON segment (person, from_at) WHERE status IN ('waiting', 'reading');
