"""Round 1 of written answers: what is kept, what is missing, what becomes of a text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from annotate.assignments.assignments import Unfinished, return_assignment, submit_assignment
from annotate.assignments.errors import NotAsked
from annotate.assignments.saved_choices import choices_so_far
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment, Draft
from annotate.studies.edits import copy_study
from annotate.task_types import NothingToJudge
from annotate.task_types.texts import pool_of
from annotate.task_types.written_answer import RULES
from annotate.work.saving import save_choice
from collection.judgments.services import HighlightDoesNotFit, Span, Written, record_judgment
from collection.models import Collection, EarlierJudgment, Highlight, Item, Judgment, User, WrittenAnswer
from collection.texts.sentences import are_consecutive, found_sentences, sentences_of
from tests.annotate.factories import NOON, the_criterion
from tests.annotate.writers import (
    ALL_CONFIRMED,
    ANSWER,
    COMPLETE,
    KEPT,
    PASSAGE,
    TOO_DIFFICULT,
    a_study_of_writing,
    next_of,
    save,
    sentence_spans,
)
from tests.factories import a_study, rater_of

pytestmark = pytest.mark.django_db


# --- Sentences ----------------------------------------------------------------------------------


def test_finds_sentences_by_the_rule_and_leaves_abbreviations_whole() -> None:
    sentences = [PASSAGE[start:end] for start, end in found_sentences(PASSAGE)]

    assert sentences == [
        "The old bridge was built of oak in 1752.",
        "It burned down 🔥 twice, e.g. in 1801.",
        "The town then asked a mason, Dr. Ray, for a stone one.",
        "He finished it in 1809.",
        "Today it carries a road.",
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("One line\r\nand another\n", ["One line", "and another"]),
        ("“Is it?” she asked. “Yes.” He left.", ["“Is it?” she asked.", "“Yes.”", "He left."]),
        ("It cost 3.5 crowns. 1809 was late.", ["It cost 3.5 crowns.", "1809 was late."]),
        ("橋は木でした。今は石です。", ["橋は木でした。", "今は石です。"]),
        ("J. R. Ray of the U.S. built it! Or not…  yet.", ["J. R. Ray of the U.S. built it!", "Or not…  yet."]),
    ],
)
def test_finds_the_sentences_of_odd_texts(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in found_sentences(text)] == sentences


def test_takes_the_files_own_sentences_where_the_passage_has_them(questions: Collection) -> None:
    passage = questions.passages.get()
    passage.attributes = {"sentences": [[0, 40], [41, 78]]}

    sentences = sentences_of(passage)

    assert [(one.start, one.end) for one in sentences] == [(0, 40), (41, 78)]
    assert sentences[0].quote == "The old bridge was built of oak in 1752."


@pytest.mark.parametrize("broken", [[[0, 4000]], [[5, 5]], [[4, 9], [8, 12]], [["a", 2]], "all", [], [[True, 5]]])
def test_falls_back_on_the_rule_where_the_stored_sentences_do_not_fit(questions: Collection, broken: object) -> None:
    passage = questions.passages.get()
    passage.attributes = {"sentences": broken}

    assert len(sentences_of(passage)) == 5


@pytest.mark.parametrize(
    ("numbers", "consecutive"), [((), True), ((2,), True), ((1, 2, 3), True), ((0, 2), False), ((4, 0), False)]
)
def test_tells_whether_a_sentence_was_left_out_in_between(
    questions: Collection, numbers: tuple[int, ...], consecutive: bool
) -> None:
    passage = questions.passages.get()
    chosen = [(span.start, span.end) for span in sentence_spans(passage, numbers)]

    assert are_consecutive(chosen, sentences_of(passage)) is consecutive


@pytest.fixture
def questions(rosa: User) -> Collection:
    return a_study_of_writing(owner=rosa).collection


# --- What is asked ------------------------------------------------------------------------------


def test_asks_about_every_passage_of_the_pool(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], n=3)

    assert study.tasks.count() == len(pool_of(study)) == 3
    assert Item.objects.get(item_id="written_answer/q1/p1").passage is not None


def test_says_what_is_missing_where_there_is_nothing_to_answer_from(rosa: User) -> None:
    collection = Collection.objects.create(name="empty", owner=rosa)

    with pytest.raises(NothingToJudge, match="nothing to answer from"):
        RULES.texts_of(a_study(collection, task_types=["written_answer"]))


# --- What is kept -------------------------------------------------------------------------------


def test_keeps_the_answer_with_its_sentences_and_confirmations(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])

    saved = save(next_of(ada, study), COMPLETE, sentences=[0, 2], text=f"  {ANSWER}\n", confirmed=ALL_CONFIRMED)

    judgment = Judgment.objects.get()
    assert saved.state == "judged"
    assert judgment.grade == COMPLETE
    assert judgment.answer.text == ANSWER
    assert judgment.answer.confirmations == ["faithful", "concise", "alone", "grammatical"]
    assert [h.quote for h in judgment.highlights.all()] == [
        "The old bridge was built of oak in 1752.",
        "The town then asked a mason, Dr. Ray, for a stone one.",
    ]
    assert not Draft.objects.exists()


def title_of(assignment: Assignment) -> Span:
    assert assignment.task.passage is not None
    return Span(0, 0, assignment.task.passage.title)


def keep_with_title(assignment: Assignment, criterion: str, grade: float, sentences: Sequence[int], text: str) -> None:
    item = assignment.asked.select_related("item__passage", "item__answer_to_revise").get().item
    assert item.passage is not None
    save_choice(
        assignment=assignment,
        item=item,
        criterion=the_criterion(assignment.task.study, criterion),
        grade=grade,
        spans=[title_of(assignment), *sentence_spans(item.passage, sentences)],
        written=Written(text, ALL_CONFIRMED),
        at=NOON,
    )


def test_the_title_is_kept_as_a_sentence_without_a_place_and_shown_again(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))

    keep_with_title(assignment, "outcome", COMPLETE, [0], ANSWER)
    keep_with_title(assignment, "outcome", COMPLETE, [0], ANSWER)

    first = Highlight.objects.values_list("start", "end", "quote", "text_sha256")[0]
    assert first == (
        None, None, "The bridges of town 0", "",
    )  # fmt: skip
    (choice,) = choices_so_far(assignment).values()
    assert choice.spans[0] == title_of(assignment)
    assert not EarlierJudgment.objects.exists()


def test_a_study_may_offer_sentences_alone(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], without_title=True)
    assignment = next_of(ada, study)

    with pytest.raises(NotAsked, match="not a sentence of the passage"):
        keep_with_title(assignment, "outcome", COMPLETE, [0], ANSWER)

    assert [one["start"] for one in screen_of(assignment).extras["sentences"]].count(0) == 1  # the first sentence
    assert copy_study(study=study, title="Again", by=rosa).attributes == study.attributes == {"without_title": True}


def test_the_second_reader_starts_from_a_chosen_title(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben], revise="all")
    first = next_of(ada, study)
    keep_with_title(first, "outcome", COMPLETE, [0], ANSWER)
    submit_assignment(assignment=first, at=NOON)
    second = next_of(ben, study)

    save(second, KEPT, confirmed=ALL_CONFIRMED)

    assert second.asked.get().item.answer_to_revise.spans[0]["quote"] == "The bridges of town 0"
    kept = Judgment.objects.get(grade=KEPT)
    title = kept.highlights.all()[0]
    assert (title.start, title.quote) == (None, "The bridges of town 0")


def test_another_text_is_no_title(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))
    item = assignment.asked.get().item

    with pytest.raises(HighlightDoesNotFit):
        save_choice(
            assignment=assignment, item=item, criterion=the_criterion(assignment.task.study, "outcome"),
            grade=COMPLETE, spans=[Span(0, 0, "Another")], written=Written(ANSWER, ALL_CONFIRMED), at=NOON,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "lack"),
    [
        ({"sentences": [], "text": ANSWER, "confirmed": ALL_CONFIRMED}, "Choose at least one sentence"),
        ({"sentences": [0], "text": " \n", "confirmed": ALL_CONFIRMED}, "Write the answer"),
        ({"sentences": [0], "text": ANSWER, "confirmed": ALL_CONFIRMED[:2]}, "Confirm all points"),
    ],
)
def test_insists_on_sentences_text_and_confirmations(
    rosa: User, ada: User, fields: dict[str, object], lack: str
) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))

    saved = save(assignment, COMPLETE, **fields)  # type: ignore[arg-type]

    assert saved.state == "draft"
    assert saved.lack.startswith(lack)
    assert not Judgment.objects.exists()
    with pytest.raises(Unfinished, match=lack):
        submit_assignment(assignment=assignment, at=NOON)


def test_keeps_a_text_that_has_no_outcome_yet(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))

    saved = save(assignment, None, sentences=[1], text="Half a thou", confirmed=["alone"], seconds=12)

    (answer,) = screen_of(assignment).questions[0].answers
    assert saved.state == "draft"
    assert saved.lack == "Choose an answer."
    assert answer.written == Written("Half a thou", ("alone",))
    assert answer.seconds == 12
    assert [span.quote for span in answer.spans] == ["It burned down 🔥 twice, e.g. in 1801."]


def test_asks_nothing_more_where_the_question_cannot_be_answered(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))

    saved = save(assignment, TOO_DIFFICULT)
    submit_assignment(assignment=assignment, at=NOON)

    assert saved.state == "judged"
    assert Judgment.objects.get().grade == TOO_DIFFICULT
    assert not WrittenAnswer.objects.exists()


def test_keeps_what_was_typed_when_the_outcome_takes_no_answer(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))

    saved = save(assignment, TOO_DIFFICULT, text="I began to write")

    (answer,) = screen_of(assignment).questions[0].answers
    assert saved.state == "judged"
    assert not WrittenAnswer.objects.exists()
    assert answer.written.text == "I began to write"
    assert answer.lack == ""


def test_refuses_sentences_where_nothing_is_answered(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))

    with pytest.raises(NotAsked, match="nothing is answered"):
        save(assignment, TOO_DIFFICULT, sentences=[0])


def test_refuses_what_is_no_sentence_of_the_passage(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])
    assignment = next_of(ada, study)

    with pytest.raises(NotAsked, match="not a sentence"):
        save_choice(
            assignment=assignment,
            item=assignment.asked.get().item,
            criterion=the_criterion(study, "outcome"),
            grade=COMPLETE,
            spans=[Span(0, 3, "The")],
            written=Written(ANSWER, ALL_CONFIRMED),
            at=NOON,
        )


@pytest.mark.parametrize(
    ("text", "confirmed", "reason"),
    [
        ("x" * 10_001, (), "10,001 characters"),
        ("a\x00b", (), "an invalid character"),
        ("a\ud800b", (), "an invalid character"),
        (ANSWER, ("swears",), "“swears”"),
    ],
)
def test_refuses_texts_and_confirmations_that_cannot_be_kept(
    rosa: User, ada: User, text: str, confirmed: tuple[str, ...], reason: str
) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))

    with pytest.raises(NotAsked, match=reason):
        save(assignment, None, text=text, confirmed=confirmed)


def test_refuses_a_text_where_the_task_type_takes_none(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], task_types=["relevance"])
    assignment = next_of(ada, study)

    with pytest.raises(NotAsked, match="takes no written answer"):
        save_choice(
            assignment=assignment,
            item=assignment.asked.get().item,
            criterion=the_criterion(study, "relevance"),
            grade=1,
            written=Written("A text"),
            at=NOON,
        )


# --- What was before ----------------------------------------------------------------------------


def test_keeps_the_earlier_answer_when_it_changes(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))
    save(assignment, COMPLETE, sentences=[0], text="Oak.", confirmed=ALL_CONFIRMED)

    save(assignment, COMPLETE, sentences=[0], text="Of oak.", confirmed=ALL_CONFIRMED)

    assert Judgment.objects.get().answer.text == "Of oak."
    earlier = EarlierJudgment.objects.get()
    assert earlier.answer == "Oak."
    assert earlier.reason == "changed"


def test_keeps_no_history_when_the_same_is_sent_twice(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))

    for _ in range(2):
        save(assignment, COMPLETE, sentences=[0], text="Oak.", confirmed=ALL_CONFIRMED)

    assert not EarlierJudgment.objects.exists()


def test_drops_the_answer_when_the_judgment_becomes_one_without(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))
    save(assignment, COMPLETE, sentences=[0], text="Oak.", confirmed=ALL_CONFIRMED)

    save(assignment, TOO_DIFFICULT)

    assert Judgment.objects.get().grade == TOO_DIFFICULT
    assert not WrittenAnswer.objects.exists()
    assert EarlierJudgment.objects.get().answer == "Oak."


def test_keeps_the_answer_in_the_history_when_the_task_goes_back(rosa: User, ada: User) -> None:
    assignment = next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))
    save(assignment, COMPLETE, sentences=[0], text="Oak.", confirmed=ALL_CONFIRMED)

    return_assignment(assignment=assignment, at=NOON)

    assert not Judgment.objects.exists()
    assert EarlierJudgment.objects.get().answer == "Oak."


def test_records_a_first_judgment_in_one_query(rosa: User, ada: User, django_assert_num_queries: object) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada], task_types=["relevance"])
    item = study.items.select_related("passage", "report").get()
    criterion = the_criterion(study, "relevance")
    rater = rater_of(ada)

    with django_assert_num_queries(1):  # type: ignore[operator]
        record_judgment(item=item, criterion=criterion, rater=rater, grade=1, at=NOON)
