"""Reports about banks of questions and what their grades say of passages."""

from __future__ import annotations

from evaluation.data.study_reports import StudyReport
from evaluation.rubrics.serializers import BankCheckChoice


class BankCheckReport(StudyReport):
    name, path, file = "bank_check", "bank-check", "bank-check"
    title = "Bank check"
    lead = "Questions that irrelevant passages answer, relevant passages that answer none, and questions asked twice."
    about = "Bad questions, relevant passages that no question covers, and questions asked twice."
    options, shown = BankCheckChoice, ("source", "relevance", "minimum", "likeness")
    compute = "evaluation.rubrics.bank_check:bank_check_of"
    offers = "evaluation.rubrics.bank_check:offered"
    template = "evaluation/bank_check.html"
