-- Oldest writer: 3
-- Which embedding model is the choice of the program that was started last: that one embeds
-- anew what other models embedded, and a program that was started earlier leaves it to it.
CREATE TABLE embedder (
    model TEXT PRIMARY KEY,
    chosen_at BIGINT NOT NULL -- when the program was started that chose it
);
