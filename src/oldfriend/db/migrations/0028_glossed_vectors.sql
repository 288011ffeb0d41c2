-- Vectors of texts that are now put into English word by word before they are embedded go. The next
-- start makes them anew. A program of before would write more of the old ones, so none may write
-- beside this.
DELETE FROM message_vector WHERE model = 'all-MiniLM-L6-v2/int8-1' AND EXISTS (
    SELECT 1 FROM message m WHERE m.person = message_vector.person AND m.seq = message_vector.seq
      AND m.language IN ('de', 'es', 'fr', 'it', 'ja', 'nl', 'pt', 'zh'));
DELETE FROM memory_vector WHERE model = 'all-MiniLM-L6-v2/int8-1' AND EXISTS (
    SELECT 1 FROM memory m WHERE m.person = memory_vector.person AND m.id = memory_vector.memory
      AND m.language IN ('de', 'es', 'fr', 'it', 'ja', 'nl', 'pt', 'zh'));
DELETE FROM embedding_progress WHERE model = 'all-MiniLM-L6-v2/int8-1';
