from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import ir_measures
import pytest

from collection.models import Adjudication, Exclusion, Passage, Rater, Study, User
from evaluation.publishing.qrels import compile_each, compile_qrels
from stats.qrels import Combine, QrelsRefused, Rule
from stats.votes import Ties
from tests.evaluation.judged import AT, a_ranking, criterion_of, judge_items, passage_items
from tests.factories import a_judge_rater, a_user, rater_of


@pytest.fixture
def rated(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Ada and Ben have rated four items, two sub-questions on one passage of each topic, and a judge too."""
    items = passage_items(study)
    rating = criterion_of(study, "rating")
    judge_items(rating, ada_as_rater, items, [5, 1, 2, 0])
    judge_items(rating, ben_as_rater, items, [3, 1, 2, 4])
    judge_items(rating, a_judge_rater(study.collection, "small-judge"), items, [4, None, 0, None])
    return study


def test_a_passage_gets_the_highest_grade_of_any_element(rated: Study) -> None:
    qrels = compile_qrels(criterion_of(rated, "rating"), at=AT)

    assert qrels.text == "t0 0 t0-p0 3\nt1 0 t1-p0 2\n"


def test_each_element_may_be_a_topic_of_its_own(rated: Study) -> None:
    qrels = compile_qrels(criterion_of(rated, "rating"), rule=Rule(per_element=True), at=AT)

    assert qrels.lines == (
        "t0/t0-q0 0 t0-p0 3",
        "t0/t0-q1 0 t0-p0 1",
        "t1/t1-q0 0 t1-p0 2",
        "t1/t1-q1 0 t1-p0 0",
    )


@pytest.mark.parametrize(("combine", "grades"), [("majority", "32"), ("median", "32"), ("highest", "54")])
def test_several_people_become_one_by_a_declared_rule(rated: Study, combine: Combine, grades: str) -> None:
    qrels = compile_qrels(criterion_of(rated, "rating"), rule=Rule(combine=combine), at=AT)

    assert "".join(line[-1] for line in qrels.lines) == grades


def test_one_raters_judgments_may_be_taken(rated: Study) -> None:
    qrels = compile_qrels(criterion_of(rated, "rating"), raters=["ada"], at=AT)

    assert qrels.lines == ("t0 0 t0-p0 5", "t1 0 t1-p0 2")
    assert qrels.provenance["rule"]["raters"] == "the one rater's grade"


def test_ungraded_items_are_counted_and_never_become_zero(rated: Study) -> None:
    qrels = compile_qrels(criterion_of(rated, "rating"), raters=["small-judge"], rule=Rule(per_element=True), at=AT)

    assert len(qrels.lines) == 2
    assert qrels.provenance["counts"]["ungraded_items"] == 2


def test_people_and_judges_do_not_mix(rated: Study) -> None:
    with pytest.raises(QrelsRefused, match="cannot combine"):
        compile_qrels(criterion_of(rated, "rating"), raters=["ada", "small-judge"], at=AT)


def test_an_unknown_rater_is_named_with_those_there_are(rated: Study) -> None:
    with pytest.raises(QrelsRefused, match=r"No rater “eve”.*ada, ben, small-judge"):
        compile_qrels(criterion_of(rated, "rating"), raters=["eve"], at=AT)


def test_nothing_judged_is_refused(rated: Study) -> None:
    with pytest.raises(QrelsRefused, match="There are no human judgments"):
        compile_qrels(criterion_of(rated), at=AT)


def test_an_id_with_white_space_is_refused(rated: Study) -> None:
    Passage.objects.filter(passage_id="t0-p0").update(passage_id="t0 p0")

    with pytest.raises(QrelsRefused, match="“t0 p0” has white space in it"):
        compile_qrels(criterion_of(rated, "rating"), at=AT)


def test_reports_are_named_by_their_run(judged: Study) -> None:
    qrels = compile_qrels(criterion_of(judged), rule=Rule(per_element=True), at=AT)

    assert qrels.lines[0] == "t0/t0-q0 0 alpha-1 1"


def test_ir_measures_reads_them_even_with_a_hash_in_the_id(rated: Study, tmp_path: Path) -> None:
    Passage.objects.filter(passage_id="t0-p0").update(passage_id="msmarco_v2.1_doc_39_1#8_35")
    path = tmp_path / "study.qrels"
    path.write_text(compile_qrels(criterion_of(rated, "rating"), at=AT).text)

    qrels = list(ir_measures.read_trec_qrels(str(path)))  # type: ignore[no-untyped-call]

    assert qrels[0] == ir_measures.Qrel("t0", "msmarco_v2.1_doc_39_1#8_35", 3)
    run = [ir_measures.ScoredDoc("t0", "msmarco_v2.1_doc_39_1#8_35", 1.0)]
    assert ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run) == {ir_measures.nDCG @ 10: 0.5}


def test_the_provenance_says_whose_how_and_of_what(rated: Study) -> None:
    qrels = compile_qrels(criterion_of(rated, "rating"), at=AT)

    provenance = qrels.provenance
    raters = [(rater["name"], rater["judgments"]) for rater in provenance["raters"]]
    assert raters == [("assessor 1", 4), ("assessor 2", 4)]
    assert provenance["counts"]["lines_by_grade"] == {"2": 1, "3": 1}
    assert provenance["sha256"]["qrels"] == hashlib.sha256(qrels.text.encode()).hexdigest()
    assert provenance["made_at"] == "2025-05-03T12:00:00+00:00"


def test_a_changed_judgment_changes_the_hash(rated: Study) -> None:
    before = compile_qrels(criterion_of(rated, "rating"), at=AT).provenance["sha256"]
    criterion_of(rated, "rating").judgments.filter(grade=0).update(grade=1)

    after = compile_qrels(criterion_of(rated, "rating"), at=AT).provenance["sha256"]

    assert before["judgments"] != after["judgments"]


def test_what_a_third_person_decided_counts_where_it_is_asked_for(rated: Study, rosa: User) -> None:
    criterion = criterion_of(rated, "rating")
    disputed = criterion.judgments.filter(rater__name="ben", grade=3).get().item
    third = Rater.objects.create(kind="assessor", name="rosa", user=rosa)
    Adjudication.objects.create(item=disputed, criterion=criterion, rater=third, grade=5, decided_at=AT)

    as_judged = compile_qrels(criterion, rule=Rule(per_element=True), at=AT)
    as_decided = compile_qrels(criterion, rule=Rule(per_element=True, adjudicated=True), at=AT)
    of_one = compile_qrels(criterion, raters=["ben"], rule=Rule(per_element=True, adjudicated=True), at=AT)

    changed = set(as_decided.lines) - set(as_judged.lines)
    assert [line.split()[-1] for line in changed] == ["5"]
    assert as_judged.provenance["counts"]["adjudications_not_used"] == 1
    assert as_decided.provenance["counts"]["adjudicated_items"] == 1
    assert "adjudications_not_used" not in as_decided.provenance["counts"]
    assert "adjudicated grades count instead" in as_decided.provenance["rule"]["disagreements"]
    assert "adjudications_sha256" in as_decided.provenance
    assert of_one.provenance["counts"]["adjudicated_items"] == 0


@pytest.mark.parametrize(("ties", "grades"), [("lower", "3 1 2 0"), ("higher", "5 1 2 4"), ("undecided", "1 2")])
def test_ties_follow_the_declared_rule(rated: Study, ties: Ties, grades: str) -> None:
    qrels = compile_qrels(criterion_of(rated, "rating"), rule=Rule(ties=ties, per_element=True), at=AT)

    assert " ".join(line.split()[-1] for line in qrels.lines) == grades
    assert qrels.provenance["counts"]["tied_items"] == 2


def test_items_of_too_few_raters_are_left_out_and_counted(rated: Study) -> None:
    criterion = criterion_of(rated, "rating")
    criterion.judgments.filter(rater__name="ben", grade=3).delete()

    qrels = compile_qrels(criterion, rule=Rule(fewest_raters=2, per_element=True), at=AT)

    assert [line.split()[0] for line in qrels.lines] == ["t0/t0-q1", "t1/t1-q0", "t1/t1-q1"]
    assert qrels.provenance["counts"]["items_with_too_few_raters"] == 1


def test_more_raters_wanted_than_there_are_is_refused(rated: Study) -> None:
    with pytest.raises(QrelsRefused, match="graded by at least 3 of these raters"):
        compile_qrels(criterion_of(rated, "rating"), rule=Rule(fewest_raters=3), at=AT)


def test_a_threshold_makes_labels_of_yes_and_no(rated: Study) -> None:
    qrels = compile_qrels(criterion_of(rated, "rating"), rule=Rule(binary_at=3, per_element=True), at=AT)

    assert [line[-1] for line in qrels.lines] == ["1", "0", "0", "0"]
    assert qrels.provenance["rule"]["grades"] == "1 from 3 up, else 0"


def test_dawid_and_skene_believe_two_who_agree_over_one_who_does_not(study: Study, ada_as_rater: Rater) -> None:
    items = passage_items(study)
    grounded = criterion_of(study, "rating")
    agreeing = [rater_of(a_user(name)) for name in ("cleo", "dan")]
    for rater, grades in zip([*agreeing, ada_as_rater], ([0, 3, 0, 3], [0, 3, 0, 3], [3, 0, 3, 3]), strict=True):
        judge_items(grounded, rater, items, list(grades))

    qrels = compile_qrels(grounded, rule=Rule(combine="dawid_skene", per_element=True), at=AT)

    assert [line[-1] for line in qrels.lines] == ["0", "3", "0", "3"]


def test_simulated_assessors_are_left_out_unless_they_are_asked_for(rated: Study, ben_as_rater: Rater) -> None:
    simulate(ben_as_rater)

    without = compile_qrels(criterion_of(rated, "rating"), at=AT)
    together = compile_qrels(criterion_of(rated, "rating"), with_simulated=True, at=AT)
    by_name = compile_qrels(criterion_of(rated, "rating"), raters=["ben"], at=AT)

    assert (without.text, without.provenance["simulated"]) == ("t0 0 t0-p0 5\nt1 0 t1-p0 2\n", False)
    assert without.provenance["simulated_raters_left_out"] == ["ben"]
    assert (len(together.provenance["raters"]), together.provenance["simulated"]) == (2, True)
    assert by_name.provenance["raters"][0]["simulated"] is True


def test_simulations_alone_are_refused(rated: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> None:
    simulate(ada_as_rater)
    simulate(ben_as_rater)

    with pytest.raises(QrelsRefused, match="Only simulated assessors"):
        compile_qrels(criterion_of(rated, "rating"), at=AT)


def test_excluded_raters_are_left_out_and_named_without_the_reason(rated: Study, ben_as_rater: Rater) -> None:
    Exclusion.objects.create(study=rated, rater=ben_as_rater, reason="Ben slept", excluded_at=AT)

    provenance = compile_qrels(criterion_of(rated, "rating"), at=AT).provenance

    assert [rater["name"] for rater in provenance["raters"]] == ["assessor 1"]
    assert provenance["excluded_raters"] == [{"name": "assessor 2", "excluded_at": AT.isoformat()}]
    assert "Ben" not in json.dumps(provenance)


def test_people_are_called_by_name_where_that_is_asked_for(rated: Study) -> None:
    provenance = compile_qrels(criterion_of(rated, "rating"), names=True, at=AT).provenance

    assert [rater["name"] for rater in provenance["raters"]] == ["ada", "ben"]


@pytest.mark.parametrize("changed", ["question", "threshold"])
def test_the_hashes_cover_what_was_asked(rated: Study, changed: str) -> None:
    criterion = criterion_of(rated, "rating")
    before = compile_qrels(criterion, at=AT).provenance["sha256"]
    setattr(criterion, changed, "Another?" if changed == "question" else 2)
    criterion.save()

    after = compile_qrels(criterion_of(rated, "rating"), at=AT).provenance["sha256"]

    assert before["criterion"] != after["criterion"]
    assert before["study"] != after["study"]
    assert before["judgments"] == after["judgments"]


def test_the_hashes_cover_guidelines_and_texts(rated: Study) -> None:
    before = compile_qrels(criterion_of(rated, "rating"), at=AT).provenance["sha256"]
    rated.guidelines.update(markdown="Read nothing.")
    Passage.objects.filter(passage_id="t0-p0").update(text_sha256="0" * 64)

    after = compile_qrels(criterion_of(rated, "rating"), at=AT).provenance["sha256"]

    assert before["guidelines"] != after["guidelines"]
    assert before["items"] != after["items"]


def test_each_rater_gets_a_file_of_their_own(rated: Study) -> None:
    archive = zipfile.ZipFile(io.BytesIO(compile_each(criterion_of(rated, "rating"), at=AT)))

    assert archive.namelist() == [
        "rating-assessor-1.provenance.json",
        "rating-assessor-1.qrels",
        "rating-assessor-2.provenance.json",
        "rating-assessor-2.qrels",
    ]
    assert archive.read("rating-assessor-1.qrels") == b"t0 0 t0-p0 5\nt1 0 t1-p0 2\n"


def test_holes_are_what_a_run_ranks_and_nobody_judged(rated: Study) -> None:
    run = a_ranking(rated, {"t0": ["t0-p0", "other", "more"], "t1": ["unseen", "t1-p0"]})

    (holes,) = compile_qrels(criterion_of(rated, "rating"), holes_at=2, at=AT).holes

    assert (holes.run, holes.n_topics, holes.n_ranked) == (run.name, 2, 4)
    assert holes.unjudged == (("t0", "other", 2), ("t1", "unseen", 1))
    assert holes.judged_at_k == 0.5


def test_a_topic_nobody_judged_is_counted_apart(rated: Study) -> None:
    a_ranking(rated, {"t0": ["t0-p0"], "t1": ["t1-p0"]})
    criterion_of(rated, "rating").judgments.filter(item__topic__topic_id="t1").delete()

    (holes,) = compile_qrels(criterion_of(rated, "rating"), holes_at=10, at=AT).holes

    assert (holes.n_topics, holes.n_other_topics, holes.judged_at_k) == (1, 1, 1.0)


def test_reports_have_no_holes(judged: Study) -> None:
    a_ranking(judged, {"t0": ["t0-p0"]})

    assert compile_qrels(criterion_of(judged), holes_at=10, at=AT).holes == ()


def simulate(rater: Rater) -> None:
    rater.origin = Rater.Origin.SIMULATED
    rater.save()
