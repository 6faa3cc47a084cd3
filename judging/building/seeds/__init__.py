"""Seed questions: chosen by grades, looked at, taken."""
