-- Browsers that are told what the companion says unasked, while no page is open in front.
-- Oldest writer: 30
CREATE TABLE push_subscription (
    session TEXT PRIMARY KEY REFERENCES web_session (print) ON DELETE CASCADE, -- signing out ends it
    person TEXT NOT NULL REFERENCES person (id),
    print TEXT NOT NULL,      -- of the address at the push service
    sealed BLOB NOT NULL,     -- address and keys, encrypted by a key that is kept where keys are
    shows TEXT NOT NULL,      -- words, or hint: only that there is something
    made_at BIGINT NOT NULL
);
CREATE INDEX push_subscription_person ON push_subscription (person);
