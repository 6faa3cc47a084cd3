"""Texts and questions to begin with."""
