"""A knowledge graph memory: entities, observations and relations in categories, each one SQLite file."""

__version__ = "0.1.0"
__date__ = "2026-11-30"  # of this version, as the manual's pages show it
