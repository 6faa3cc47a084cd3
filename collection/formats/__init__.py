"""Readers and writers. Each knows one format and nothing else: no database, no models."""
