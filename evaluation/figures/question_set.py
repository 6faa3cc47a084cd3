"""A set of questions with written answers in numbers: how many, how long, how many without an answer.

Source: Rosenthal et al., CLAPnq (2024), Tables 2 and 3.
"""

from __future__ import annotations

from typing import Any

from collection.models import Study
from evaluation.charts.panels import PanelPoint, panels_chart
from evaluation.data.visibility import parts_of, visibility_of
from evaluation.figures.figure import StudyFigure, chosen_of
from evaluation.figures.written_sets import read_written_set, size_of_a_set
from stats.measures.written_sets import LENGTHS, SetSize, set_size
from stats.plurals import counted

NAME = "question-set"
TITLE = "Questions and written answers in numbers"
ALL = "all questions"
COUNTS = ("questions", "answerable", "unanswerable", "with_answers", "answers", "changed_in_round_2")


def question_set(study: Study, *, by: str = "") -> StudyFigure:
    """Return the set's numbers, in all and by an attribute of the topics. Raises NoFigure."""
    written = read_written_set(study)
    ways = [(ALL, ALL), *((one, one) for one in written.groupings())]
    way = chosen_of(by, ways, "attribute that groups questions")
    groups = {} if way == ALL else written.groups(way)
    sizes = {name: set_size(of_group) for name, of_group in (groups | {ALL: written.questions}).items()}
    points = [
        PanelPoint(name, group, found.value, found.low, found.high, "other")
        for group, size in sizes.items()
        for name, found in size.means.items()
        if found.value is not None
    ]
    return StudyFigure(
        name=NAME,
        title=TITLE,
        answer=size_of_a_set(sizes[ALL]),
        visibility=visibility_of(parts_of(study), []),
        simulated=written.simulated,
        description=panels_chart(
            points,
            panels=list(LENGTHS),
            medians={},
            title="Questions and answers",  # short: a phone shows it in one line
            subtitle=f"Mean over {counted(len(written.answered), 'questions')} with an answer, 95 % interval",
        ),
        head=["group", *COUNTS, "share_not_consecutive", *(one.replace(" ", "_") for one in LENGTHS)],
        rows=[[group, *_row(size)] for group, size in sizes.items()],
        long_head=["group", "length", "mean", "low", "high", "questions", "reason"],
        long_rows=[
            [group, name, found.value, found.low, found.high, found.sample.n_drawn if found.sample else 0, found.reason]
            for group, size in sizes.items()
            for name, found in size.means.items()
        ],
        notes=[
            *written.notes,
            "Unanswerable: as the collection says of the topic, else as all who were to answer it say.",
            "Words are runs of letters and digits; sentences are found by a rule. A passage’s words include those of "
            "its title. Means are over questions with an answer, words a question over all "
            f"{len(written.questions):,}.",
        ],
        choices={"by": ways},
        chosen={"by": way},
    )


def _row(size: SetSize) -> list[Any]:
    counts = (size.n_questions, size.n_answerable, size.n_unanswerable, size.n_answered, size.n_answers, size.n_revised)
    return [*counts, size.not_consecutive.value, *(size.means[name].value for name in LENGTHS)]
