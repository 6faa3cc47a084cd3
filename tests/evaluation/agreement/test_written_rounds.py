"""Agreement between the two rounds of written answers, as CLAPNQ's authors compute it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.studies import closed_study_in
from collection.models import Study, User
from evaluation.agreement.written_answers import measure_written
from tests.collection.files import jsonl
from tests.collection.importing.test_clapnq import a_line, an_output

pytestmark = pytest.mark.django_db

REAL = Path(settings.BASE_DIR).parent / "shared" / "data" / "clapnq" / "clapnq_dev_answerable.jsonl"


def a_study_of(path: Path, owner: User) -> Study:
    study = closed_study_in("clap", name="clap", owner=owner, source="CLAPNQ files")
    import_clapnq(file=InputFile(path), study=study, at=now())
    return study


def test_compares_a_changed_answer_with_the_first_and_leaves_kept_ones_out(rosa: User, tmp_path: Path) -> None:
    changed = [an_output("at dusk", [0, 2], [11], 1), an_output("the lamp is lit at dusk", [0], [12], 2)]
    kept = an_output("at dusk", [0, 2], [11, 12], 2)
    skipped = [an_output("at dusk", [0, 2], [11], 1), an_output("", [], [12], 2)]
    lines = [a_line("1", *changed), a_line("2", kept), a_line("3", *skipped)]
    study = a_study_of(jsonl(tmp_path / "small.jsonl", *lines), rosa)

    written = measure_written(study.criteria.get(name="revision"))

    assert written is not None
    (item,) = written.items
    assert [(answer.name, answer.text) for answer in item.answers] == [
        ("11", "at dusk"),
        ("12", "the lamp is lit at dusk"),
    ]
    assert written.rouge_l.value == pytest.approx(2 * 1 * (2 / 6) / (1 + 2 / 6))


def test_the_real_rounds_agree_as_independent_code_says(rosa: User) -> None:
    if not REAL.is_file():
        pytest.skip(f"CLAPNQ's files are not at {REAL.parent}")
    study = a_study_of(REAL, rosa)

    written = measure_written(study.criteria.get(name="revision"))

    assert written is not None
    assert len(written.items) == 126
    # 0.6383 by the package rouge-score, which drops letters beyond ASCII.
    assert written.rouge_l.value == pytest.approx(0.6383, abs=5e-4)
