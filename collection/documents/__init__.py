"""Texts of documents on demand: fetched by id from the source that a collection names, and kept."""
