"""Round 2 of written answers: which go there, who reads them, and what they may become."""

from __future__ import annotations

import pytest

from annotate.assignments.assignments import claim_next, submit_assignment, take_back_assignment
from annotate.assignments.errors import NotAsked
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment, Task
from annotate.studies.lifecycle import close_study, open_study, reopen_study
from annotate.studies.task_counts import forecast_of
from annotate.task_types import NothingToJudge
from annotate.task_types.answer_revision import RULES
from annotate.work.queue import queues_of
from collection.models import AnswerToRevise, Draw, Item, Judgment, Rater, User, WrittenAnswer
from tests.annotate.factories import NOON
from tests.annotate.writers import (
    ALL_CONFIRMED,
    ANSWER,
    CHANGED,
    KEPT,
    PARTIAL,
    SKIPPED,
    TOO_DIFFICULT,
    a_study_of_writing,
    answered,
    next_of,
    save,
)
from tests.factories import a_study, a_user, rater_of

pytestmark = pytest.mark.django_db


# --- What goes on -------------------------------------------------------------------------------


def test_hands_an_answer_of_scattered_sentences_on_when_it_is_submitted(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    assignment = next_of(ada, study)
    save(assignment, PARTIAL, sentences=[0, 2], text=ANSWER, confirmed=ALL_CONFIRMED)
    assert not AnswerToRevise.objects.exists()

    submit_assignment(assignment=assignment, at=NOON)

    handed_on = AnswerToRevise.objects.get()
    assert handed_on.text == ANSWER
    assert handed_on.writer == rater_of(ada)
    assert [span["quote"][:7] for span in handed_on.spans] == ["The old", "The tow"]
    assert handed_on.item.item_id == "answer_revision/q0/p0/1"
    assert handed_on.item.task_item.task.places.count() == 1
    draw = Draw.objects.get(item=handed_on.item)
    assert (draw.inclusion_probability, draw.design) == (1.0, "answers of sentences that are not consecutive")


def test_does_not_hand_on_consecutive_sentences(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])

    answered(ada, study, sentences=[1, 2, 3])

    assert not AnswerToRevise.objects.exists()


def test_hands_every_answer_on_where_the_researcher_wants_it(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], revise="all", revision_places=2)

    answered(ada, study, sentences=[1])

    assert AnswerToRevise.objects.get().item.task_item.task.places.count() == 2
    assert Draw.objects.get(item__task_type="answer_revision").design == "all answers"


def test_hands_nothing_on_where_nothing_was_answered(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], revise="all")
    assignment = next_of(ada, study)
    save(assignment, TOO_DIFFICULT)

    submit_assignment(assignment=assignment, at=NOON)

    assert not AnswerToRevise.objects.exists()


def test_has_no_second_round_where_the_study_does_not_ask_for_it(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], task_types=["written_answer"])

    answered(ada, study)

    assert not AnswerToRevise.objects.exists()


def test_makes_each_answer_of_a_passage_an_item_of_its_own(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben], overlap=2)

    answered(ada, study, text="Oak, then stone.")
    answered(ben, study, text="Stone after oak.")

    assert list(AnswerToRevise.objects.order_by("pk").values_list("item__item_id", "text")) == [
        ("answer_revision/q0/p0/1", "Oak, then stone."),
        ("answer_revision/q0/p0/2", "Stone after oak."),
    ]


def test_stores_the_probability_with_which_the_passage_was_drawn(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], n=4, sample_sizes={"written_answer": 1})

    answered(ada, study)

    assert Draw.objects.get(item__task_type="answer_revision").inclusion_probability == 0.25


def test_submitting_twice_hands_on_once(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])
    assignment = answered(ada, study)

    submit_assignment(assignment=assignment, at=NOON)

    assert AnswerToRevise.objects.count() == Task.objects.filter(task_type="answer_revision").count() == 1


def test_a_study_with_round_2_alone_does_not_open(rosa: User) -> None:
    collection = a_study_of_writing(owner=rosa).collection
    study = a_study(collection, task_types=["answer_revision"])

    with pytest.raises(NothingToJudge, match="round 1"):
        RULES.texts_of(study)


def test_a_draft_promises_no_tasks_of_round_2_yet(rosa: User) -> None:
    study = a_study_of_writing(owner=rosa)

    assert [(row.task_type, row.texts, row.problem) for row in forecast_of(study)] == [
        ("written_answer", 1, ""),
        ("answer_revision", 0, ""),
    ]


def test_hands_imported_answers_on_when_the_study_opens_again(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])
    answered(ada, study)
    written = WrittenAnswer.objects.get()
    AnswerToRevise.objects.all().delete()
    Item.objects.filter(task_type="answer_revision").delete()
    Task.objects.filter(task_type="answer_revision").delete()
    imported = Rater.objects.create(collection=study.collection, kind="assessor", name="7", origin="imported")
    Judgment.objects.filter(pk=written.judgment_id).update(rater=imported)
    close_study(study=study, at=NOON)

    made = reopen_study(study=study, at=NOON)

    assert made == 1
    assert AnswerToRevise.objects.get().writer == imported
    assert open_study(study=study, at=NOON) == 0


def test_hands_many_answers_on_in_a_fixed_number_of_queries(
    rosa: User, ada: User, django_assert_max_num_queries: object
) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], n=12)
    for _ in range(12):
        answered(ada, study)
    Item.objects.filter(task_type="answer_revision").delete()
    Task.objects.filter(task_type="answer_revision").delete()

    with django_assert_max_num_queries(60):  # type: ignore[operator]
        open_study(study=study, at=NOON)

    assert AnswerToRevise.objects.count() == 12


# --- Who reads it -------------------------------------------------------------------------------


def test_offers_nobody_their_own_answer(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    answered(ada, study)

    assert claim_next(study=study, rater=rater_of(ada), at=NOON) is None
    assert queues_of(ada, at=NOON)[0].n_left == 0
    assert queues_of(ben, at=NOON)[0].n_left == 1
    assert next_of(ben, study).task.task_type == "answer_revision"


def test_shows_the_first_answer_with_its_sentences(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    answered(ada, study)

    screen = screen_of(next_of(ben, study))

    assert screen.extras["seen"]["text"] == ANSWER
    assert len(screen.extras["seen"]["spans"]) == 2
    assert len(screen.extras["sentences"]) == 6  # the title, and five of the text


# --- What it becomes ----------------------------------------------------------------------------


def test_keeping_an_answer_stores_it_as_it_was_seen(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    answered(ada, study)
    assignment = next_of(ben, study)

    saved = save(assignment, KEPT, sentences=[4], text="What Ben typed first", confirmed=ALL_CONFIRMED)

    judgment = Judgment.objects.get(criterion__name="revision")
    assert saved.state == "judged"
    assert judgment.rater == rater_of(ben)
    assert judgment.answer.text == ANSWER
    assert [h.quote[:7] for h in judgment.highlights.all()] == ["The old", "The tow"]
    (answer,) = screen_of(assignment).questions[0].answers
    assert answer.written.text == "What Ben typed first"


def test_changing_an_answer_leaves_the_first_one(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    answered(ada, study)
    assignment = next_of(ben, study)

    save(assignment, CHANGED, sentences=[0, 2, 3], text="Oak; from 1809 stone.", confirmed=ALL_CONFIRMED)
    submit_assignment(assignment=assignment, at=NOON)

    texts = dict(WrittenAnswer.objects.values_list("judgment__criterion__name", "text"))
    assert texts == {"outcome": ANSWER, "revision": "Oak; from 1809 stone."}


@pytest.mark.parametrize(
    ("grade", "fields", "lack"),
    [
        (KEPT, {}, "Confirm all points"),
        (CHANGED, {"sentences": [0, 2], "text": ANSWER, "confirmed": ALL_CONFIRMED}, "Nothing is changed"),
        (CHANGED, {"sentences": [], "text": "Oak.", "confirmed": ALL_CONFIRMED}, "Choose at least one sentence"),
        (CHANGED, {"sentences": [0], "text": "", "confirmed": ALL_CONFIRMED}, "Write the answer"),
    ],
)
def test_insists_on_what_a_revision_needs(
    rosa: User, ada: User, ben: User, grade: float, fields: dict[str, object], lack: str
) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    answered(ada, study)

    saved = save(next_of(ben, study), grade, **fields)  # type: ignore[arg-type]

    assert saved.state == "draft"
    assert saved.lack.startswith(lack)


def test_a_second_reader_may_skip(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    answered(ada, study)
    assignment = next_of(ben, study)

    save(assignment, SKIPPED)
    submit_assignment(assignment=assignment, at=NOON)

    assert Judgment.objects.get(criterion__name="revision").grade == SKIPPED
    assert WrittenAnswer.objects.count() == 1


# --- The writer comes back ----------------------------------------------------------------------


def test_round_2_follows_what_the_writer_changes_before_it_is_read(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    assignment = answered(ada, study)

    save(assignment, PARTIAL, sentences=[0, 3], text="Better words.", confirmed=ALL_CONFIRMED)

    handed_on = AnswerToRevise.objects.get()
    assert handed_on.text == "Better words."
    assert [span["quote"][:7] for span in handed_on.spans] == ["The old", "He fini"]


def test_round_2_waits_for_a_change_that_is_not_complete(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])
    assignment = answered(ada, study)

    save(assignment, PARTIAL, text="Better words.", confirmed=ALL_CONFIRMED)  # without a sentence

    assert AnswerToRevise.objects.exists()


def test_round_2_goes_when_the_answer_is_none_for_it_any_more(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    assignment = answered(ada, study)

    save(assignment, PARTIAL, sentences=[0, 1], text="Better words.", confirmed=ALL_CONFIRMED)

    assert not AnswerToRevise.objects.exists()
    assert claim_next(study=study, rater=rater_of(ben), at=NOON) is None
    assert not Item.objects.filter(task_type="answer_revision").exists()


def test_an_answer_that_comes_again_gets_a_number_that_no_other_has(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben], overlap=2)
    of_ada = answered(ada, study)
    answered(ben, study, text="Stone after oak.")

    save(of_ada, PARTIAL, sentences=[0, 1], text="Better words.", confirmed=ALL_CONFIRMED)
    save(of_ada, PARTIAL, sentences=[0, 3], text="Better words still.", confirmed=ALL_CONFIRMED)

    assert list(AnswerToRevise.objects.order_by("pk").values_list("item__item_id", "text")) == [
        ("answer_revision/q0/p0/2", "Stone after oak."),
        ("answer_revision/q0/p0/3", "Better words still."),
    ]


def test_a_writer_cannot_change_what_somebody_reads(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    assignment = answered(ada, study)
    next_of(ben, study)

    with pytest.raises(NotAsked, match="second person"):
        save(assignment, PARTIAL, sentences=[0], text="Too late.", confirmed=ALL_CONFIRMED)

    assert WrittenAnswer.objects.get().text == ANSWER


def test_what_is_being_read_stays_when_the_writers_task_goes_back(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    assignment = answered(ada, study)
    reading = next_of(ben, study)

    take_back_assignment(assignment=assignment, at=NOON)

    save(reading, KEPT, confirmed=ALL_CONFIRMED)
    assert Judgment.objects.get().answer.text == ANSWER


def test_what_nobody_reads_goes_with_the_writers_task(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben])
    assignment = answered(ada, study)

    take_back_assignment(assignment=assignment, at=NOON)

    assert not AnswerToRevise.objects.exists()
    assert next_of(ben, study).task.task_type == "written_answer"


def test_a_revision_that_goes_back_is_free_for_a_third(rosa: User, ada: User, ben: User) -> None:
    carl = a_user("carl")
    study = a_study_of_writing(owner=rosa, people=[ada, ben, carl])
    answered(ada, study)
    reading = next_of(ben, study)

    take_back_assignment(assignment=reading, at=NOON)

    assert next_of(carl, study).task == reading.task
    assert Assignment.objects.filter(task=reading.task).count() == 2
