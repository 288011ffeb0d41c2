-- At which place somebody has seen what a code would bring together: only there can they confirm it.
-- Oldest writer: 30
ALTER TABLE link_code ADD COLUMN shown_to TEXT;
