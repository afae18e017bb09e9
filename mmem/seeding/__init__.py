"""Seeding: graphs written for people, in YAML, compared with categories and put into them."""
