"""Bringing graphs in from other programs' files: what is read, made of it, stored, and accounted for."""
