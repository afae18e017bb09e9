-- Turns a copy of checkpointed.db (schema version 3) into what schema version 2 looked like:
-- no properties, neither in the tables nor in the index.
PRAGMA foreign_keys = OFF;
DROP TRIGGER fts_entity_insert;
DROP TRIGGER fts_entity_update;
DROP TRIGGER fts_entity_delete;
DROP TRIGGER fts_observation_insert;
DROP TRIGGER fts_observation_update;
DROP TRIGGER fts_observation_delete;
ALTER TABLE entities DROP COLUMN properties;
ALTER TABLE observations DROP COLUMN properties;
ALTER TABLE relations DROP COLUMN properties;
UPDATE schema_version SET version = 2;

UPDATE fts_content SET observation_content = COALESCE((
  SELECT o.content FROM fts_map m JOIN observations o ON o.id = m.observation_id WHERE m.fts_rowid = fts_content.rowid
), '');

CREATE TRIGGER fts_entity_insert AFTER INSERT ON entities BEGIN
  INSERT INTO fts_content(entity_name, entity_type, observation_content) VALUES (NEW.name, NEW.entity_type, '');
  INSERT INTO fts_map VALUES (last_insert_rowid(), NEW.id, NULL);
END;
CREATE TRIGGER fts_observation_insert AFTER INSERT ON observations BEGIN
  INSERT INTO fts_content(entity_name, entity_type, observation_content)
    SELECT name, entity_type, NEW.content FROM entities WHERE id = NEW.entity_id;
  INSERT INTO fts_map VALUES (last_insert_rowid(), NEW.entity_id, NEW.id);
END;
CREATE TRIGGER fts_observation_delete AFTER DELETE ON observations BEGIN
  DELETE FROM fts_content WHERE rowid IN (SELECT fts_rowid FROM fts_map WHERE observation_id = OLD.id);
  DELETE FROM fts_map WHERE observation_id = OLD.id;
END;
