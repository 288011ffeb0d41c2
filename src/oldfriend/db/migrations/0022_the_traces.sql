-- Receipts take one small row for good, and one with the whole trace for a while. What models were
-- shown, and what replies stood on, is packed: ids and numbers only, words stand beside them.

CREATE TABLE new_receipt (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    turn TEXT NOT NULL UNIQUE,
    asked TEXT NOT NULL,        -- message id of what was said to it
    asked_seq BIGINT NOT NULL,  -- the version of it that was answered
    replied TEXT NOT NULL,      -- message id of the reply
    made_at BIGINT NOT NULL,
    details TEXT NOT NULL,
    stood_on BLOB NOT NULL      -- packed: what the reply stood on, and for which causes
);

-- What was considered for a reply, with its scores and reasons; gone after 14 days.
CREATE TABLE receipt_trace (
    receipt TEXT PRIMARY KEY REFERENCES new_receipt (id),
    person TEXT NOT NULL REFERENCES person (id),
    details TEXT NOT NULL, -- how the context was filled
    terms TEXT NOT NULL,   -- JSON: the words and names in the reasons
    items BLOB NOT NULL    -- packed
);

CREATE TABLE new_model_call (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    turn TEXT,                     -- NULL outside a turn
    asked TEXT,                    -- the message versions that the turn answers
    step BIGINT NOT NULL,          -- which request of the turn it was, from 0
    request TEXT NOT NULL,         -- a hash of what was sent; empty once nobody asks for it
    purpose TEXT NOT NULL,
    prompt TEXT NOT NULL,          -- name and version
    model TEXT NOT NULL,           -- provider:name
    outcome TEXT NOT NULL,
    shown BLOB NOT NULL,           -- packed: ids of the messages and memories in it
    answer TEXT,                   -- what it gave, until it is forgotten or needed no more
    error TEXT,
    tokens_in BIGINT NOT NULL,
    tokens_cached BIGINT NOT NULL, -- of those
    tokens_out BIGINT NOT NULL,
    cost BIGINT,                   -- millionths of a dollar; NULL where it is not known
    sound BIGINT,                  -- microseconds that were heard or spoken
    latency BIGINT NOT NULL,       -- microseconds
    is_background BIGINT NOT NULL,
    made_at BIGINT NOT NULL
);

-- Then: pack_receipts
-- Then: pack_model_calls

DROP TABLE receipt_item;
DROP TABLE receipt;
ALTER TABLE new_receipt RENAME TO receipt;
CREATE INDEX receipt_reply ON receipt (replied);
CREATE INDEX receipt_made ON receipt (person, made_at);

DROP TABLE model_call;
ALTER TABLE new_model_call RENAME TO model_call;
CREATE INDEX model_call_turn ON model_call (turn) WHERE turn IS NOT NULL;
CREATE INDEX model_call_made ON model_call (made_at);
CREATE INDEX model_call_heard ON model_call (person) WHERE purpose = 'transcription';
