-- Hosted programs that a person lets in on the page: who they say they are, and what they hold. Only prints of secrets.
-- Oldest writer: 30
CREATE TABLE oauth_client (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,      -- what it calls itself
    redirects TEXT NOT NULL, -- where it may be answered: a list of addresses in JSON
    made_at BIGINT NOT NULL,
    used_at BIGINT           -- when somebody last let it in
);

-- A code that is exchanged once within a minute, or a refresh token that is exchanged once for the next.
CREATE TABLE oauth_grant (
    print TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    kind TEXT NOT NULL,      -- code or refresh
    client TEXT NOT NULL,
    name TEXT NOT NULL,      -- of a code: what its token will be called; '' otherwise
    redirect TEXT NOT NULL,  -- of a code: where it was sent; '' otherwise
    challenge TEXT NOT NULL, -- of a code: the hash of what whoever exchanges it must know; '' otherwise
    scope TEXT NOT NULL,
    token TEXT,              -- the token of this house that came of it
    made_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT           -- when it was exchanged; another exchange ends all that came of it
);
CREATE INDEX oauth_grant_person ON oauth_grant (person);
CREATE INDEX oauth_grant_token ON oauth_grant (token);

-- Until when the secret of a hosted program opens /mcp, and nothing else. NULL: of any other program.
ALTER TABLE web_token ADD COLUMN mcp_until BIGINT;
