"""What people meet in a study before and beside the work, told to them before they begin."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.models import QualityRules
from annotate.quality.attention import announced_minutes, failures_that_count, rules_of
from annotate.quality.consent import consent_in_force
from annotate.quality.survey import questions_in_force
from annotate.quality.training import n_training_texts
from collection.models import Study


@dataclass(frozen=True)
class BeforeWork:
    """How much of each there is; 0 and False where the study has none of it.

    `pass_percent` and `attempts` are those of the training, `failures` how many attention checks somebody must fail
    to get no more work; 0: that has no such consequence.
    """

    asks_consent: bool
    n_questions: int
    n_training: int
    pass_percent: int
    attempts: int
    n_checks: int
    failures: int
    answers_screen_out: bool

    @property
    def screens_out(self) -> bool:
        """Whether somebody may get no work, or no more, for what they answer."""
        return bool(self.n_training or self.failures or self.answers_screen_out)


def before_work(study: Study) -> BeforeWork:
    rules, text = rules_of(study), consent_in_force(study)
    questions = list(questions_in_force(study))
    n_checks = study.attention_checks.filter(retired_at=None).count()
    stops = n_checks and rules.consequence == QualityRules.Consequence.STOP
    return BeforeWork(
        asks_consent=bool(text and text.markdown),
        n_questions=len(questions),
        n_training=n_training_texts(study),
        pass_percent=round(100 * rules.pass_mark),
        attempts=rules.attempts,
        n_checks=n_checks,
        failures=failures_that_count(announced_minutes(study)) if stops else 0,
        answers_screen_out=any(question.screens_out and not question.after for question in questions),
    )
