-- Who has connected their Oura account, and how far it was read. Tokens are not here: they are kept where keys are.
-- Oldest writer: 30
CREATE TABLE oura_connection (
    person TEXT PRIMARY KEY REFERENCES person (id),
    status TEXT NOT NULL,     -- asking, connected or refused
    state TEXT NOT NULL,      -- what Oura must send back once the person has agreed; '' otherwise
    redirect TEXT NOT NULL,   -- where it sends them
    began_at BIGINT NOT NULL, -- when they were last asked to agree
    read_at BIGINT,           -- when it was last read without a fault
    error TEXT                -- why it was not read the last time
);
