from __future__ import annotations

import json
import random
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rouge_score.rouge_scorer import RougeScorer

from collection.models import Collection, Comment, Exclusion, Item, Judgment, Passage, Rater, Study, User, WrittenAnswer
from evaluation.agreement.written_answers import measure_written
from stats.agreement.written_answers import answer_pairs, mean_over_questions
from stats.measures.rouge import longest_common_subsequence, rouge_1, rouge_l, rouge_tokens
from stats.measures.words import UnicodeRougeTokenizer
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.factories import a_study, rater_of

ADA = ["the old bridge fell in the storm", "it was built of stone", "nobody knows"]
BEN = ["the bridge fell in a storm", "steel carries the new one", "nobody knows"]
AGREEMENT = "/studies/writing/agreement/"


@pytest.fixture
def written(collection: Collection, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Ada and Ben have answered three questions each, Ada a fourth alone."""
    study = a_study(collection, name="writing", task_types=["written_answer"])
    criterion = criterion_of(study, "outcome")
    topic = collection.topics.order_by("pk")[0]
    items = [
        Item.objects.create(
            study=study,
            task_type="written_answer",
            item_id=f"w{number}",
            topic=topic,
            passage=Passage.objects.create(collection=collection, passage_id=f"w{number}", text="It fell."),
        )
        for number in range(4)
    ]
    for rater, texts in ((ada_as_rater, [*ADA, "alone"]), (ben_as_rater, BEN)):
        judge_items(criterion, rater, items[: len(texts)], [5.0] * len(texts))
        judgments = Judgment.objects.filter(criterion=criterion, rater=rater).order_by("item")
        WrittenAnswer.objects.bulk_create(
            WrittenAnswer(judgment=judgment, text=text) for judgment, text in zip(judgments, texts, strict=True)
        )
    return study


def test_rouge_l_is_that_of_the_library() -> None:
    chance = random.Random(1)
    scorer = RougeScorer(["rouge1", "rougeL"], tokenizer=UnicodeRougeTokenizer(stem=True))
    words = ["bridge", "bridges", "fell", "the", "мост", "упал", "橋", "storms"]
    for _ in range(300):
        one, other = (" ".join(chance.choices(words, k=chance.randint(0, 80))) for _ in range(2))

        said = [rouge_tokens(text, stem=True) for text in (one, other)]
        longest, words_alone = rouge_l(*said), rouge_1(*said)

        library = scorer.score(one, other)
        assert longest == pytest.approx(library["rougeL"].fmeasure, abs=1e-12)
        assert words_alone.recall == pytest.approx(library["rouge1"].recall, abs=1e-12)
        assert words_alone.f1 == pytest.approx(library["rouge1"].fmeasure, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "length"),
    [("abcbdab", "bdcaba", 4), ("", "abc", 0), ("abc", "abc", 3), ("abc", "def", 0), ("aaaa", "aa", 2)],
)
def test_the_longest_common_subsequence_of_textbooks(first: str, second: str, length: int) -> None:
    assert longest_common_subsequence(list(first), list(second)) == length
    assert longest_common_subsequence(list(second), list(first)) == length


def test_every_pair_of_a_question_is_compared() -> None:
    pairs = answer_pairs(["a b", "a b", "c"])

    assert [(pair.first, pair.second, pair.rouge_l) for pair in pairs] == [(0, 1, 1.0), (0, 2, 0.0), (1, 2, 0.0)]


def test_the_mean_has_an_interval_over_questions_or_topics() -> None:
    values = np.random.default_rng(3).random(60)

    over_questions = mean_over_questions(values, None)
    over_topics = mean_over_questions(values, np.arange(60) // 20)

    assert over_questions.value == over_topics.value == pytest.approx(values.mean())
    assert over_questions.low is not None
    assert over_questions.high is not None
    half = 1.96 * values.std(ddof=1) / np.sqrt(60)
    assert over_questions.high - over_questions.low == pytest.approx(2 * half, rel=0.15)
    assert mean_over_questions(np.empty(0), None).reason == "no question has answers by two assessors"
    assert mean_over_questions(np.array([0.4]), None).low is None


def test_agreement_of_a_study_is_the_mean_over_its_questions(written: Study) -> None:
    found = measure_written(criterion_of(written, "outcome"))

    assert found is not None
    library = RougeScorer(["rougeL"], use_stemmer=True)
    by_question = [library.score(one, other)["rougeL"].fmeasure for one, other in zip(ADA, BEN, strict=True)]
    assert found.rouge_l.value == pytest.approx(sum(by_question) / len(by_question))
    assert (len(found.items), found.n_answers, found.n_alone) == (3, 7, 1)
    assert [item.item_id for item in found.items] == ["w1", "w0", "w2"]
    assert [answer.name for answer in found.items[0].answers] == ["ada", "ben"]


def test_excluded_raters_answers_are_left_out(written: Study, ben_as_rater: Rater) -> None:
    Exclusion.objects.create(study=written, rater=ben_as_rater, reason="asleep", excluded_at=AT)

    found = measure_written(criterion_of(written, "outcome"))

    assert found is not None
    assert (found.rouge_l.value, found.n_answers) == (None, 4)


def test_where_nothing_is_written_there_is_nothing_to_compare(judged: Study) -> None:
    assert measure_written(criterion_of(judged)) is None


def test_the_page_lays_the_least_alike_answers_side_by_side(client: Client, written: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(AGREEMENT).content.decode()

    assert "ROUGE-L of two assessors’ answers" in page
    assert page.index("steel carries the new one") < page.index("the bridge fell in a storm")
    table = client.get(f"{AGREEMENT}answers.csv?criterion=outcome").content.decode().splitlines()
    assert table[0] == "item,assessor_a,assessor_b,rouge_l"
    assert len(table) == 4


def test_the_page_says_that_nobody_wrote_yet(client: Client, written: Study, rosa: User) -> None:
    WrittenAnswer.objects.all().delete()
    client.force_login(rosa)

    assert "There are no written answers yet" in client.get(AGREEMENT).content.decode()


def test_the_api_and_the_command_tell_it_too(client: Client, written: Study, rosa: User) -> None:
    client.force_login(rosa)
    out, text = StringIO(), StringIO()

    answer = client.get("/api/v1/studies/writing/agreement/", {"criterion": "outcome"}).json()["written_answers"]
    call_command("agreement", "--study", "writing", "--json", stdout=out)
    call_command("agreement", "--study", "writing", stdout=text)

    assert answer["n_items"] == 3
    assert json.loads(out.getvalue())["written_answers"] == answer
    assert "ROUGE-L of pairs" in text.getvalue()


def test_the_number_of_queries_does_not_grow_with_answers(written: Study, ada: User) -> None:
    criterion = criterion_of(written, "outcome")
    with CaptureQueriesContext(connection) as few:
        measure_written(criterion)
    rater = rater_of(User.objects.create(username="cleo"))
    items = list(written.items.order_by("pk"))
    judge_items(criterion, rater, items, [5.0] * 4)
    for judgment in Judgment.objects.filter(rater=rater):
        WrittenAnswer.objects.create(judgment=judgment, text="more words")

    with CaptureQueriesContext(connection) as more:
        measure_written(criterion)

    assert len(more) == len(few) <= 3


def test_an_item_shows_answers_and_comments_beside_the_grades(
    client: Client, written: Study, rosa: User, ben_as_rater: Rater
) -> None:
    client.force_login(rosa)
    item = written.items.get(item_id="w1")
    Comment.objects.create(
        study=written, item=item, rater=ben_as_rater, text="No date <here>.", broken=True, made_at=AT
    )

    page = client.get(f"/studies/writing/agreement/items/{item.pk}/").content.decode()

    assert "steel carries the new one" in page
    assert "No date &lt;here&gt;." in page
    assert "reported as not judgeable" in page


def test_disputed_items_count_their_comments(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    client.force_login(rosa)
    disputed = judged.items.order_by("pk")[1]
    for rater in (ada_as_rater, ben_as_rater):
        Comment.objects.create(study=judged, item=disputed, rater=rater, text="Hard.", made_at=AT)

    answer = client.get("/api/v1/studies/bridges-study/agreement/details/", {"criterion": "answerability"}).json()

    assert {one["item"]: one["n_comments"] for one in answer["disputed"]}[disputed.item_id] == 2
    page = client.get("/studies/bridges-study/agreement/details/").content.decode()
    assert ">2</td>" in page
