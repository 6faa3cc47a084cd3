"""Reports about banks of questions and what their grades say of passages."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from collection.models import Study
from collection.web.options import Choices
from collection.web.reports import Sent
from evaluation.data.study_reports import StudyReport
from evaluation.rubrics.serializers import (
    BankCheckChoice,
    GradedAnswerChoice,
    GradedPassageChoice,
    MaskingChoice,
    MaskingSent,
    OracleSent,
    RedundancyChoice,
)


class BankCheckReport(StudyReport):
    name, path, file = "bank_check", "bank-check", "bank-check"
    title = "Bank check"
    lead = "Questions that irrelevant passages answer, relevant passages that answer none, and questions asked twice."
    command = "study bank-check"
    about = "Bad questions, relevant passages that no question covers, and questions asked twice."
    options, shown = BankCheckChoice, ("source", "relevance", "minimum", "likeness")
    compute = "evaluation.rubrics.bank_check:check_bank"
    offers = "evaluation.rubrics.bank_check:offered"
    template = "evaluation/bank_check.html"


class RedundancyReport(StudyReport):
    name, path, file = "redundancy", "redundancy", "redundancy"
    title = "Redundancy"
    lead = "Which rated passages are needed to answer all answerable sub-questions, and which add nothing."
    about = "Required and redundant passages of each topic, as in CRUX, and as qrels of 3, 2 and 1."
    options, shown = RedundancyChoice, ("source", "order", "run", "summaries", "others")
    compute = "evaluation.rubrics.redundancy:measure_redundancy"
    offers = "evaluation.rubrics.redundancy:offered"
    template = "evaluation/redundancy.html"
    sent = Sent(
        "keep",
        "Keep the required passages as a run: the oracle's contexts.",
        OracleSent,
        ("name",),
        "evaluation.rubrics.oracle:kept_as_run",
    )


class MaskingReport(StudyReport):
    name, path, file = "masking", "masking", "masking"
    title = "Masking"
    lead = (
        "Sub-questions that no passage answers, and key points that assessors did not confirm, are removed from the "
        "denominators."
    )
    about = "Sub-questions that no passage answers, or key points that were not confirmed, by a source's grades."
    options, shown = MaskingChoice, ("source", "criterion", "run")
    compute = "evaluation.rubrics.masking:masking_by_grades"
    offers = "evaluation.rubrics.masking:offered"
    template = "evaluation/masking.html"
    sent = Sent(
        "apply",
        "Mask unfulfilled elements. Undo this with the collection's maskings.",
        MaskingSent,
        ("reason",),
        "evaluation.rubrics.masking:masked",
    )

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        """Return what is masked by the study's grades."""
        del request, result
        from evaluation.rubrics.masking import masked_by_grades, table_of_masked

        return {"masked": table_of_masked(masked_by_grades(study))}


class GradedPassageReport(StudyReport):
    name, path, file = "graded_passage", "graded-passage", "graded-passage"
    title = "Graded passage"
    lead = "What each rater said of a passage, question by question."
    about = "A passage’s questions by rater, with their reasons."
    options = GradedPassageChoice
    compute = "evaluation.rubrics.graded_texts:graded_passage"
    template = "evaluation/graded_passage.html"


class GradedAnswerReport(StudyReport):
    name, path, file = "graded_answer", "graded-answer", "graded-answer"
    title = "Answers by question"
    lead = "The passages of a run’s answer in their order, each with the questions that it answers."
    about = "A run’s passages on a topic with the questions that each answers."
    options, shown = GradedAnswerChoice, ("source", "run", "topic", "minimum", "k")
    compute = "evaluation.rubrics.graded_texts:graded_answer"
    template = "evaluation/graded_answer.html"

    def choices(self, result: Any) -> dict[str, Choices]:
        runs, topics = ([(name, name) for name in names] for names in (result.runs, result.topics))
        return {"source": result.sources, "run": runs, "topic": topics}
