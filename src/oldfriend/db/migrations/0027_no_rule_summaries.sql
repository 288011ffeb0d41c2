-- Summaries that rules wrote go: they were sentences pasted one after another. A program of before
-- would write more of them, so none may write beside this.

-- Then: remove_rule_summaries
