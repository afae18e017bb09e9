"""A category's graph written out: what of it, in which format, to which place."""
