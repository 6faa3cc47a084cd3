"""What a model wrote is said in the data card and in the provenance of qrels."""

from __future__ import annotations

import pytest

from collection.models import Study
from evaluation.data.generated import generated_in
from evaluation.publishing.data_card import compile_data_card
from evaluation.publishing.provenance import about_study
from tests.judging.world import with_items

pytestmark = pytest.mark.django_db

MAKING = {
    "pipeline": "crux-questions", "model": "m*1", "prompt": "p", "prompt_version": 2, "prompt_hash": "h",
    "review": "accepted",
}  # fmt: skip


def test_a_study_says_what_of_its_texts_a_model_wrote(study: Study) -> None:
    with_items(study)
    without = compile_data_card(study), about_study(study)
    asked = study.collection.topics.all()[0].rubric_elements.filter(kind="sub_question").order_by("pk")
    for element, review in zip(asked, ["accepted", "edited", "accepted"], strict=True):
        element.attributes = {"generated": MAKING | {"review": review}}
        element.save()

    card = compile_data_card(study)

    assert "Written by a model" not in without[0]
    assert "generated" not in without[1]
    assert [(one.n, one.of, one.review) for one in generated_in(study)] == [(2, 10, "accepted"), (1, 10, "edited")]
    assert (
        "- 2 of 10 rubric elements: written by m\\*1 (crux-questions, prompt p version 2), accepted by a person" in card
    )
    assert [one["review"] for one in about_study(study)["generated"]] == ["accepted", "edited"]


def test_an_imported_making_that_is_no_object_breaks_nothing(study: Study) -> None:
    with_items(study)
    study.collection.passages.update(attributes={"generated": ["?"]})

    (found,) = generated_in(study)

    assert (found.what, found.n, found.model) == ("passages", 4, "unknown")
