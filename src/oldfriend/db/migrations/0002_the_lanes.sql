-- What is waiting: a lane for each chat, reply or kind of job, and the letters in it.
CREATE TABLE lane (
    queue TEXT NOT NULL CHECK (queue IN ('inbox', 'outbox', 'agenda')),
    key TEXT NOT NULL,
    next_seq BIGINT NOT NULL,
    ready_at BIGINT,    -- by the house's clock; NULL: held, or nothing is waiting
    owner TEXT,
    lease_until BIGINT, -- by the machine's or the database's clock; NULL: not held
    epoch BIGINT NOT NULL DEFAULT 0,
    handed_out BIGINT,  -- the last letter that the holder was given; NULL: not held
    PRIMARY KEY (queue, key)
);
CREATE INDEX lane_ready ON lane (queue, ready_at) WHERE ready_at IS NOT NULL;
CREATE INDEX lane_held ON lane (queue, lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE letter (
    queue TEXT NOT NULL,
    lane TEXT NOT NULL,
    seq BIGINT NOT NULL,
    person TEXT, -- no reference: checking it would lock the person's row after the lane's
    key TEXT,
    "group" TEXT,
    body TEXT NOT NULL,
    put_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    error TEXT,       -- what went wrong the last time
    parked_at BIGINT, -- NULL: open
    PRIMARY KEY (queue, lane, seq)
);
CREATE INDEX letter_due ON letter (queue, lane, due_at) WHERE parked_at IS NULL;
CREATE INDEX letter_group ON letter (queue, lane, "group") WHERE "group" IS NOT NULL;
CREATE INDEX letter_parked ON letter (parked_at) WHERE parked_at IS NOT NULL;

-- Which letters were put before, so that a redelivery is known.
CREATE TABLE letter_key (
    queue TEXT NOT NULL,
    lane TEXT NOT NULL,
    key TEXT NOT NULL,
    finished_at BIGINT, -- NULL: the letter is still there
    PRIMARY KEY (queue, lane, key)
);
CREATE INDEX letter_key_finished ON letter_key (finished_at) WHERE finished_at IS NOT NULL;
