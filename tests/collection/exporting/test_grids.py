"""The grid of passages and questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from collection.exporting.labels import exported_labels, labels_file
from collection.models import Study, User
from tests.collection.importing.test_rubric import a_passage, bring, graded_file

pytestmark = pytest.mark.django_db


def test_a_row_for_each_passage_and_a_column_for_each_question(tmp_path: Path, rosa: User) -> None:
    unreadable = {"q2": {"response": "none", "failure_reason": "no digit"}}
    bring(
        graded_file(
            tmp_path,
            [
                a_passage("p1", {"q1": 4, "q2": 0}),
                a_passage("=p2", {"q1": 1}, llm_response_errors=unreadable),
                a_passage("p3", {"q3": 5}),
            ],
        )
    )
    study = Study.objects.get(name="stones")

    assert "".join(exported_labels(study, "grid")).splitlines() == [
        "topic_id,passage_id,highest,yes,ungraded,question 1,question 2,question 3",
        "t1,,,,,q1,q2,q3",
        "t1,p1,4,1,0,4,0,",
        "t1,'=p2,1,0,1,1,,",
        "t1,p3,5,1,0,,,5",
    ]
    assert labels_file(study, "grid") == "stones-grid.csv"
