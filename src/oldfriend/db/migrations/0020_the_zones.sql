-- Who has said by whose clocks they live; a machine that they talk at no longer changes that.
-- Oldest writer: 18

ALTER TABLE person ADD COLUMN has_said_zone BIGINT NOT NULL DEFAULT 0;
