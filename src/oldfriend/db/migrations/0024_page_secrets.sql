-- What only the page holds of a session, and which kind of secret was tried in vain.
-- Oldest writer: 18

-- The print of a second secret, which no cookie carries. NULL: a session of before, which is over.
ALTER TABLE web_session ADD COLUMN page_print TEXT;

-- link, passkey or token; '' before this was noted.
ALTER TABLE web_attempt ADD COLUMN kind TEXT NOT NULL DEFAULT '';
