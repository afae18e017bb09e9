-- Turns a copy made by version-2.sql into what schema version 1 looked like: no full-text index at all.
DROP TRIGGER fts_entity_insert;
DROP TRIGGER fts_observation_insert;
DROP TRIGGER fts_observation_delete;
DROP TABLE fts_map;
DROP TABLE fts_content;
UPDATE schema_version SET version = 1;
