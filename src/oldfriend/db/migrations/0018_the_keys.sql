-- Who may look and act, by what, and since when: more than one browser, more than one way in.
-- Oldest writer: 16

-- From where a link, a passkey or a token was tried that was none; '' before this was noted.
ALTER TABLE web_attempt ADD COLUMN address TEXT NOT NULL DEFAULT '';
CREATE INDEX web_attempt_address ON web_attempt (address, tried_at);

-- What a session was opened with (link, invitation, passkey), by which browser; when it was used last.
ALTER TABLE web_session ADD COLUMN opened_with TEXT NOT NULL DEFAULT 'link';
ALTER TABLE web_session ADD COLUMN browser TEXT NOT NULL DEFAULT '';
ALTER TABLE web_session ADD COLUMN used_at BIGINT;

-- A link that the owner has made for somebody else: opens once, within days. Only its print.
CREATE TABLE web_invitation (
    id TEXT PRIMARY KEY,
    print TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL UNIQUE, -- no reference: checking it would lock the person's row
    made_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

-- What a program shows to act as somebody, and how far. Only its print.
CREATE TABLE web_token (
    id TEXT PRIMARY KEY,
    print TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    scope TEXT NOT NULL, -- read, write or admin
    made_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX web_token_person ON web_token (person);

-- The public half of a passkey, whose secret half never leaves its device.
CREATE TABLE web_passkey (
    id TEXT PRIMARY KEY, -- as its device names it
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    public_key BLOB NOT NULL,
    sign_count BIGINT NOT NULL,
    made_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX web_passkey_person ON web_passkey (person);

-- What a device is asked to sign, once, within minutes.
CREATE TABLE web_challenge (
    print TEXT PRIMARY KEY,
    person TEXT NOT NULL, -- who adds a passkey; '' where somebody signs in
    expires_at BIGINT NOT NULL
);
