"""A knowledge graph memory: entities, observations and relations in categories, each one SQLite file."""

__version__ = "0.1.0"
