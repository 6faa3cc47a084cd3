"""Runs that are made here: a collection's passages ranked for its topics."""
