"""Texts to begin with in the languages of assessors' pages: a folder a language, which is whole or not there."""

from __future__ import annotations

from pathlib import Path

from collection.languages.languages import ENGLISH, NAMES

FOLDER = Path(__file__).parent / "texts"


def language_with_texts(language: str) -> str:
    """Return the language if there are texts in it, else English."""
    return language if language in NAMES and (FOLDER / language).is_dir() else ENGLISH


def text_of(file: str, language: str) -> str:
    """Return what stands in the file in this language, or in English where the language has no texts."""
    return (FOLDER / language_with_texts(language) / file).read_text(encoding="utf-8")


def texts_in_words(language: str) -> str:
    """Say to the researcher in which language the texts are and who translated them; nothing of English for English."""
    if language == ENGLISH:
        return ""
    name = NAMES.get(language, language)
    if language_with_texts(language) == ENGLISH:
        return f"In English: {name}, the language of the pages, has no texts yet."
    return (
        f"In {name}, the language of the pages, translated by a language model. "
        "No lawyer and no native speaker has read it: have somebody do so."
    )
