"""One judge has one κ: the page that tunes judges and those that report on them make people one by the same rule."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Item, Judgment, Rater, Study, User
from collection.splits import make_split
from evaluation.agreement.report import measure_criterion
from judging.comparison.figures import compare
from judging.models import Judge
from tests.judging.world import a_lexical_judge, criterion_of, with_items

pytestmark = pytest.mark.django_db

ADA, BEN = [1, 1, 0, 0], [1, 0, 0, 1]
SAID = [1, 1, 0, 1]


@pytest.fixture
def tying_study(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> tuple[Study, Judge]:
    """Four items of the development part; Ada and Ben tie on two, and the judge says the higher of theirs."""
    with_items(study)
    topic, _ = study.collection.topics.order_by("topic_id")
    report = topic.reports.get()
    extra = topic.rubric_elements.filter(kind="sub_question").order_by("position")[0]
    extra.pk, extra.element_id, extra.position = None, "t0-q9", 9
    extra.save()
    Item.objects.create(
        study=study, task_type="answerability", item_id="fourth", topic=topic, element=extra, report=report
    )
    split = make_split(study=study, test_share=0.5, by=None, at=now(), seed="1")
    split.topics.update(part="test")
    split.topics.filter(topic=topic).update(part="dev")
    criterion = criterion_of(study)
    judge = a_lexical_judge(criterion)
    items = Item.objects.filter(study=study, topic=topic, task_type="answerability").order_by("pk")
    for rater, grades in ((ada_as_rater, ADA), (ben_as_rater, BEN), (judge.rater, SAID)):
        for item, grade in zip(items, grades, strict=True):
            Judgment.objects.create(item=item, criterion=criterion, rater=rater, grade=grade, judged_at=now())
    return study, judge


def test_the_judge_has_one_kappa_wherever_it_stands(tying_study: tuple[Study, Judge]) -> None:
    study, judge = tying_study
    criterion = criterion_of(study)

    (tuned,) = [row for row in compare(criterion).figures if row.judge == judge]
    (reported,) = measure_criterion(criterion).judges

    # People: 1, 0, 0, 0, for on the second and the fourth item they tie; po = 1/2, pe = 3/8.
    assert tuned.kappa == pytest.approx(0.2)
    assert reported.comparison.kappa.value == pytest.approx(0.2)
    assert (tuned.judged, reported.comparison.n_items) == (4, 4)


def test_pages_and_answers_name_the_rule_and_count_the_ties(
    tying_study: tuple[Study, Judge], client: Client, rosa: User
) -> None:
    study, _ = tying_study
    client.force_login(rosa)

    tuning = client.get(reverse("judging:comparison", args=[study.name])).content.decode()
    agreement = client.get(reverse("evaluation:agreement", args=[study.name])).content.decode()
    answer = client.get(reverse("evaluation:agreement_json", args=[study.name]), {"criterion": "answerability"}).json()

    assert "majority, ties to the lower grade" in tuning
    assert "<dt>with tied human grades</dt><dd>2</dd>" in tuning
    assert "all people (majority, ties to the lower grade)" in agreement
    assert "on 2 of them the human grades tie, and the lower grade counts" in agreement
    assert answer["judges"][0]["comparison"]["people"] == {"rule": "majority, ties to the lower grade", "n_tied": 2}
