"""Operation counts and timings: the tables of [Featherstone2010] recomputed, and what the package costs."""
