"""What people meet in a study before and beside the work, told to them before they begin."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.models import CrowdSession, QualityRules
from annotate.quality.attention import failures_that_count
from annotate.quality.survey import questions_in_force
from annotate.quality.training import draw_of
from annotate.sessions.offers import ANY, NEWEST, offer_now, offer_of
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


def before_work(study: Study, session: CrowdSession | None = None) -> BeforeWork:
    """Return what comes before and beside the work for somebody who begins now, or who began this session."""
    offer = offer_of(session) if session else offer_now(study)
    rules = offer.rules
    last = {field: value for field in NEWEST if (value := getattr(session, field, None)) is not None}
    text = study.consent_texts.filter(pk__lte=last.get("last_consent", ANY)).order_by("-version").first()
    questions = list(questions_in_force(study).filter(pk__lte=last.get("last_question", ANY)))
    checks = study.attention_checks.filter(retired_at=None, pk__lte=last.get("last_check", ANY))
    n_checks = checks.count()
    stops = n_checks and rules.consequence == QualityRules.Consequence.STOP
    return BeforeWork(
        asks_consent=bool(text and text.markdown),
        n_questions=len(questions),
        n_training=draw_of(offer).n_asked,
        pass_percent=round(100 * rules.pass_mark),
        attempts=rules.attempts,
        n_checks=n_checks,
        failures=failures_that_count(offer.minutes) if stops else 0,
        answers_screen_out=any(question.screens_out and not question.after for question in questions),
    )
