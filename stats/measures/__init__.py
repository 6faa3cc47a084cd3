"""Measures of what a text, a report or a run is worth. Pure functions: numbers in, a score and its reasons out."""
