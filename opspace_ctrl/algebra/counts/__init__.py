"""Operation counts: the tables of [Featherstone2010] recomputed, on the code that ships."""
