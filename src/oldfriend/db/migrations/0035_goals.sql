-- What a person wants to reach, in their own words.
CREATE TABLE goal (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    chat TEXT,               -- where it was set
    message TEXT,            -- the message that set it; NULL: set by a program
    message_seq BIGINT,      -- the version of that message
    text TEXT NOT NULL,
    language TEXT NOT NULL,
    kind TEXT NOT NULL,      -- trip_plan, food_search, price_watch, recommendation or general
    status TEXT NOT NULL,    -- active, completed or abandoned
    priority BIGINT NOT NULL,
    times BIGINT,            -- how often in each period; NULL: once
    period TEXT,             -- day, week or month
    deadline BIGINT,         -- NULL: none
    next_action TEXT NOT NULL,
    zone TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE INDEX goal_status ON goal (person, status);
CREATE INDEX goal_message ON goal (person, message_seq);

-- That something was done for a goal. The words stand in the message that told of it.
CREATE TABLE goal_progress (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id),
    goal TEXT NOT NULL,
    message TEXT,            -- NULL: told by a program
    message_seq BIGINT,
    at BIGINT NOT NULL
);
CREATE INDEX goal_progress_person ON goal_progress (person, at);
CREATE INDEX goal_progress_message ON goal_progress (person, message_seq);
-- A message counts once for a goal.
CREATE UNIQUE INDEX goal_progress_once ON goal_progress (person, goal, message);
