-- A code that joins an address on a channel to a person, shown to them elsewhere. Only its print.
CREATE TABLE link_code (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    salt TEXT NOT NULL,
    print TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);

-- Who has tried a code that was none, and when. Gone after ten minutes.
CREATE TABLE link_attempt (
    id TEXT PRIMARY KEY,
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    tried_at BIGINT NOT NULL
);
CREATE INDEX link_attempt_tried ON link_attempt (tried_at);

-- Who was told that nobody knows them here, and how often they have written. Nothing of it is kept.
CREATE TABLE stranger (
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    told_at BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    PRIMARY KEY (channel, address)
);
CREATE INDEX stranger_told ON stranger (told_at);

-- What of a reply stands on a platform already, piece by piece, and by which key it is known there.
CREATE TABLE delivered (
    person TEXT NOT NULL, -- no reference: checking it would lock the person's row
    reply TEXT NOT NULL,
    ordinal BIGINT NOT NULL,
    number BIGINT NOT NULL,
    chat TEXT NOT NULL,
    external_id TEXT NOT NULL,
    sent_at BIGINT NOT NULL,
    PRIMARY KEY (reply, ordinal, number)
);
CREATE INDEX delivered_external ON delivered (chat, external_id);
CREATE INDEX delivered_person ON delivered (person, sent_at);
CREATE INDEX delivered_sent ON delivered (sent_at);

-- Where nobody wants to hear from us any more, or nobody is left.
CREATE TABLE closed_place (
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    closed_at BIGINT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (channel, address)
);
