"""Whose judgments imported files hold: what was said of each, and the question that is asked where nothing was."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from django.core.exceptions import ValidationError

from collection.importing.origins import QrelsRater
from collection.models import Rater
from stats.plurals import counted

MOST_CHARACTERS = 200
# Whose relevance a graded file holds, where nobody says.
PEOPLE = QrelsRater("people")
WORDS_FOR_PEOPLE = {
    *("people", "person", "human", "humans", "assessor", "assessors", "annotator", "annotators", "expert", "experts"),
    *("official", "gold", "nist"),
}
WORD = re.compile(r"[A-Za-z]+")
QUESTION = "Which files are people’s?"


def rater_of_file(written: str) -> tuple[str, str]:
    """Return the name of the file and of the rater in “FILE=NAME”. Raises ValueError."""
    file, _, rater = written.partition("=")
    if not file.strip() or not rater.strip():
        raise ValueError(f"“{written}” is not FILE=NAME.")
    if len(rater) > MOST_CHARACTERS:
        raise ValueError(f"The name of the rater of {file} has more than {MOST_CHARACTERS} characters.")
    return Path(file).name, rater.strip()


def raters_of(
    people: Iterable[tuple[str, str]], judges: Iterable[tuple[str, str]], *, unnamed_people: Iterable[str] = ()
) -> dict[str, QrelsRater]:
    """Return whose judgments these files hold; people of `unnamed_people` are called like their files."""
    found = {Path(file).name: QrelsRater(stem_of(file)) for file in unnamed_people}
    found |= {file: QrelsRater(name) for file, name in people}
    return found | {file: QrelsRater(name, Rater.Kind.JUDGE) for file, name in judges}


def stem_of(name: str) -> str:
    """Return what a file is called, without its folder, ending and .gz."""
    return Path(name.removesuffix(".gz")).stem


def names_people(name: str) -> bool:
    """Whether one of the words of a file's name is one for people."""
    return any(word.lower() in WORDS_FOR_PEOPLE for word in WORD.findall(stem_of(name)))


def supposed_assigner(name: str) -> QrelsRater:
    """Return whose assignments of nuggets these may be, to be confirmed: a judge's, unless called like people's."""
    return QrelsRater(stem_of(name), Rater.Kind.ASSESSOR if names_people(name) else Rater.Kind.JUDGE)


def people_among(names: Sequence[str]) -> list[str]:
    """Return the one file that stands out as people's by a whole word of its name; none where several do, or none."""
    found = [name for name in names if names_people(name)]
    return found if len(found) == 1 else []


def tally(people: int, judges: int) -> str:
    """Return in a sentence how many files are whose."""
    are = "is" if people == 1 else "are"
    return f"{counted(people, 'files')} {are} people’s, {counted(judges, 'files')} LLM judges’."


def refuse_unsaid(names: Sequence[str], raters: Mapping[str, QrelsRater], *, others: str) -> None:
    """Raise ValidationError where several files of grades are imported and nothing says of one whether people judged.

    `others` is the kind of those that are not named; empty: nobody said it. The one that is left beside judges' is
    people's.
    """
    unsaid = [name for name in names if said_of(name, raters) is None]
    kinds = {said.kind for name in names if (said := said_of(name, raters))}
    is_the_rest = len(unsaid) == 1 and kinds <= {Rater.Kind.JUDGE}
    if len(names) > 1 and unsaid and not others and not is_the_rest:
        listed = ", ".join(unsaid[:5]) + (", …" if len(unsaid) > 5 else "")
        raise ValidationError(
            f"{QUESTION} Nothing says it of {listed}. Name them: --people FILE … (“people” in the API), the others are "
            "then LLM judges; or --judges where all of these are."
        )


def is_called(file: str, name: str) -> bool:
    """Whether a file is called so, with its folder in a zip or without."""
    return name in (file, Path(file).name)


def refuse_unknown_files(said: Iterable[str], files: Collection[str]) -> None:
    """Raise ValidationError where something is said of a file that is none of these: the others would mean it too."""
    for name in said:
        if not any(is_called(file, name) for file in files):
            listed = ", ".join(list(files)[:5]) + (", …" if len(files) > 5 else "")
            raise ValidationError(f"No file is called “{name}”. There are: {listed}.")


def said_of(name: str, raters: Mapping[str, QrelsRater]) -> QrelsRater | None:
    """Return what was said of a file, by its name with its folder in a zip or without."""
    return raters.get(name) or raters.get(Path(name).name)


def with_preset(names: Sequence[str], people: Collection[str]) -> dict[str, QrelsRater]:
    """Return raters called like their files, of which these are people."""
    kinds = Rater.Kind
    return {name: QrelsRater(stem_of(name), kinds.ASSESSOR if name in people else kinds.JUDGE) for name in names}
