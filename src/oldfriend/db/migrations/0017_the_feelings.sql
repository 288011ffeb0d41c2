-- How an event felt, beside its impact (for better or worse) and its tags (which feelings).
ALTER TABLE memory ADD COLUMN arousal BIGINT; -- 0 to 10: calm to beside oneself; NULL: not told
ALTER TABLE memory ADD COLUMN cues TEXT NOT NULL DEFAULT '[]'; -- JSON: words of what set it off
