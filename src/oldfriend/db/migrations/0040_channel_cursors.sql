-- How far each platform has been heard, for those that do not keep it themselves.
-- Oldest writer: 30
CREATE TABLE channel_cursor (
    channel TEXT NOT NULL,
    scope TEXT NOT NULL,      -- a chat or an account, as the channel names it
    position TEXT NOT NULL,   -- everything up to it has been handled
    saved_at BIGINT NOT NULL,
    PRIMARY KEY (channel, scope)
);
