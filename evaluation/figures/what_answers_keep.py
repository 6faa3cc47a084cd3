"""What written answers keep of their passages: the chosen sentences, and of these the answer.

Source: Rosenthal et al., CLAPnq (2024), section 3.2.1.
"""

from __future__ import annotations

from dataclasses import replace

from collection.models import Study
from evaluation.charts.panels import PanelPoint, panels_chart
from evaluation.data.visibility import parts_of, visibility_of
from evaluation.figures.figure import NoFigure, StudyFigure
from evaluation.figures.written_sets import kept_of_passages, read_written_set
from stats.measures.written_sets import PAIRS, SHARES, Kept, SetQuestion, how_much_is_kept, kept_of
from stats.plurals import counted

NAME = "what-answers-keep"
TITLE = "What written answers keep of their passages"
PANELS = {"precision": "precision", "recall": "recall", "f1": "F1"}
ROUNDS = {"all answers": (1, 2), "round 1": (1,), "changed in round 2": (2,)}


def what_answers_keep(study: Study) -> StudyFigure:
    """Return the shares of the three pairs, for all answers and for each round. Raises NoFigure."""
    written = read_written_set(study)
    of_rounds = {name: [_in_rounds(one, rounds) for one in written.questions] for name, rounds in ROUNDS.items()}
    found = {
        name: how_much_is_kept(questions)
        for name, questions in of_rounds.items()
        if any(one.answers for one in questions)
    }
    if not found:
        raise NoFigure("Nobody has written an answer yet.")
    if "changed in round 2" not in found:
        found.pop("round 1", None)  # the same answers
    n_left_out = max(one.n_left_out for one in found["all answers"])
    points = [point for which, pairs in found.items() for one in pairs for point in _points(one, which)]
    return StudyFigure(
        name=NAME,
        title=TITLE,
        answer=kept_of_passages(found["all answers"]),
        visibility=visibility_of(parts_of(study), []),
        simulated=written.simulated,
        description=panels_chart(
            points,
            panels=list(PANELS.values()),
            medians={},
            title=TITLE,
            subtitle=f"ROUGE-L, mean over {counted(len(written.answered), 'questions')}, 95 % interval",
        ),
        head=[
            "pair",
            "answers",
            "questions",
            "n_answers",
            *(f"{one}{end}" for one in SHARES for end in ("", "_low", "_high")),
        ],
        rows=[
            [
                PAIRS[one.pair],
                which,
                one.n_questions,
                one.n_answers,
                *(x for of in one.shares().values() for x in (of.value, of.low, of.high)),
            ]
            for which, pairs in found.items()
            for one in pairs
        ],
        long_head=["question", "answer", "round", "pair", *SHARES],
        long_rows=[
            [question.question_id, number, answer.round, pair, one.precision, one.recall, one.f1]
            for question in written.answered
            for number, answer in enumerate(question.answers, start=1)
            for pair in PAIRS
            if (one := kept_of(question, answer, pair))
        ],
        notes=[
            *written.notes,
            "Precision: the share of the first text’s words that stand in the second in the same order; recall: the "
            "share of the second’s words. The passage begins with its title. Words of any script, without a stemmer.",
            *(
                [f"Left out of a pair, for want of chosen sentences or of words: {counted(n_left_out, 'answers')}."]
                if n_left_out
                else []
            ),
        ],
    )


def _in_rounds(question: SetQuestion, rounds: tuple[int, ...]) -> SetQuestion:
    return replace(question, answers=tuple(one for one in question.answers if one.round in rounds))


def _points(kept: Kept, which: str) -> list[PanelPoint]:
    pair = kept.pair.replace(",", " in")
    name = pair if which == "all answers" else f"{pair}, {which.replace('changed in ', '')}"
    return [
        PanelPoint(PANELS[share], name, found.value, found.low, found.high, "other")
        for share, found in kept.shares().items()
        if found.value is not None
    ]
