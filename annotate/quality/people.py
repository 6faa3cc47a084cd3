"""What the researcher sees of each assessor: where they stand, how they work, and what deserves a look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.db.models import Count, Max

from annotate.models import (
    Assignment,
    AttentionAnswer,
    ConsentAnswer,
    Enrolment,
    GoldGrade,
    ScreenOut,
    SurveyReply,
    TrainingAttempt,
)
from annotate.quality.consent import consent_in_force
from annotate.quality.evidence import Evidence, Work, evidence_of
from annotate.quality.flags import Agreement, Flag, WorkPace
from annotate.quality.survey import Answered, answers_of
from collection.models import Comment, Exclusion, Judgment, Rater, Study, User


@dataclass(frozen=True)
class Steps:
    """How far a person is with what stands before the work. None: the study does not ask it."""

    consent: ConsentAnswer | None
    asks_consent: bool
    survey: SurveyReply | None
    asks_survey: bool
    training: TrainingAttempt | None
    asks_training: bool
    withdrew: bool = False

    @property
    def words(self) -> list[tuple[str, str, bool]]:
        """What the study asks, what became of it, and whether it is done."""
        found = []
        if self.asks_consent:
            agreed = bool(self.consent and self.consent.agreed)
            refused = "withdrawn" if self.withdrew else "declined" if self.consent else "not yet"
            found.append(("Consent", "agreed" if agreed else refused, agreed))
        if self.asks_survey:
            found.append(("Questionnaire", "answered" if self.survey else "not yet", bool(self.survey)))
        if self.asks_training:
            attempt = self.training
            said = "not yet" if attempt is None else "under way" if attempt.passed is None else "failed"
            passed = bool(attempt and attempt.passed)
            found.append(("Training", "passed" if passed else said, passed))
        return found


@dataclass(frozen=True)
class Person:
    """One assessor of a study. `median_seconds` is active time per item, over all task types."""

    user: User
    rater: Rater | None
    enrolment: Enrolment
    work: Work
    agreement: Agreement | None
    flags: Sequence[Flag]
    in_hand: int
    last_seen: datetime | None
    comments: int
    exclusion: Exclusion | None
    screen_out: ScreenOut | None
    steps: Steps

    @property
    def median_seconds(self) -> float | None:
        seconds = [one for of_type in self.work.item_seconds.values() for one in of_type]
        return median(seconds) if seconds else None


ORDERS = {
    "flags": "most flags",
    "agreement": "least agreement",
    "time": "fastest",
    "judgments": "most judgments",
    "name": "name",
}


def in_order(people: Sequence[Person], order: str) -> list[Person]:
    """Sort people for the page; whoever lacks the figure stands last."""
    by_name = sorted(people, key=lambda person: person.user.username)
    if order == "flags":
        return sorted(by_name, key=lambda person: -len(person.flags))
    if order == "agreement":
        return sorted(by_name, key=lambda person: person.agreement.value if person.agreement else 2)
    if order == "time":
        return sorted(by_name, key=lambda p: (p.median_seconds is None, p.median_seconds or 0))
    if order == "judgments":
        return sorted(by_name, key=lambda person: -person.work.judgments)
    return by_name


def people_of(study: Study, evidence: Evidence | None = None, *, only: User | None = None) -> list[Person]:
    """Return everybody who is or was enrolled, in a fixed number of queries; or one of them, with `only`."""
    evidence = evidence or evidence_of(study)
    enrolments = Enrolment.objects.filter(study=study).select_related("user__rater")
    if only is not None:
        enrolments = enrolments.filter(user=only)
    raters = {e.user_id: rater for e in enrolments if (rater := getattr(e.user, "rater", None))}
    keys = [rater.pk for rater in raters.values()]
    assignments = Assignment.objects.filter(task__study=study, rater__in=keys).values_list("rater")
    in_hand = dict(assignments.filter(state=Assignment.State.OPEN).annotate(n=Count("pk")))
    last_seen = dict(assignments.annotate(last=Max("touched_at")))
    comments = dict(
        Comment.objects.filter(study=study, rater__in=keys).order_by().values_list("rater").annotate(n=Count("pk"))
    )
    exclusions = {e.rater_id: e for e in Exclusion.objects.filter(study=study, lifted_at=None)}
    outs = {out.enrolment_id: out for out in ScreenOut.objects.in_force().filter(enrolment__study=study)}
    steps = StepsReader(study)
    nobody = Work()
    people = []
    for enrolment in enrolments:
        rater = raters.get(enrolment.user_id)
        key = rater.pk if rater else 0
        people.append(
            Person(
                user=enrolment.user,
                rater=rater,
                enrolment=enrolment,
                work=evidence.work.get(key, nobody),
                agreement=evidence.agreement.get(key),
                flags=evidence.flags_of(key),
                in_hand=in_hand.get(key, 0),
                last_seen=last_seen.get(key),
                comments=comments.get(key, 0),
                exclusion=exclusions.get(key),
                screen_out=outs.get(enrolment.pk),
                steps=steps(enrolment.user_id),
            )
        )
    return people


class StepsReader:
    """Reads once what the people of a study did before the work, then tells it of each."""

    def __init__(self, study: Study) -> None:
        text = consent_in_force(study)
        self.asks_consent = bool(text and text.markdown)
        self.asks_survey = study.survey_questions.filter(retired_at=None).exists()
        self.asks_training = GoldGrade.objects.filter(item__study=study, purpose=GoldGrade.Purpose.TRAINING).exists()
        # Of whichever version: a session keeps the one that it began with.
        answers = list(ConsentAnswer.objects.filter(text__study=study).order_by("answered_at", "pk"))
        self.consents = {answer.user_id: answer for answer in answers}
        self.agreed = {answer.user_id for answer in answers if answer.agreed}
        self.replies = {reply.user_id: reply for reply in study.survey_replies.order_by("-after")}
        self.attempts: dict[int, TrainingAttempt] = {}
        for attempt in study.training_attempts.order_by("number"):
            best = self.attempts.get(attempt.user_id)
            if best is None or not best.passed:
                self.attempts[attempt.user_id] = attempt

    def __call__(self, user: int) -> Steps:
        return Steps(
            consent=self.consents.get(user),
            asks_consent=self.asks_consent,
            survey=self.replies.get(user),
            asks_survey=self.asks_survey,
            training=self.attempts.get(user),
            asks_training=self.asks_training,
            withdrew=user in self.agreed and not self.consents[user].agreed,
        )


# --- One person -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PaceBeside:
    """A person's pace in one task type, beside the median of the others' medians."""

    task_type: str
    own: WorkPace
    others: float | None


@dataclass(frozen=True)
class Detail:
    """All that one person's page shows beyond what the list does."""

    person: Person
    pairs: Sequence[tuple[Rater, Agreement]]
    paces: Sequence[PaceBeside]
    versions: Sequence[tuple[int | None, int]]
    gold: Sequence[tuple[GoldGrade, float]]
    attention: Sequence[AttentionAnswer]
    attempts: Sequence[TrainingAttempt]
    consents: Sequence[ConsentAnswer]
    answers: Sequence[Answered]
    comments: Sequence[Comment]
    exclusions: Sequence[Exclusion]
    screen_outs: Sequence[ScreenOut]


SHOWN = 100


def detail_of(study: Study, user: User) -> Detail:
    """Read one person's page, in a fixed number of queries. The person must be or have been enrolled."""
    evidence = evidence_of(study)
    (person,) = people_of(study, evidence, only=user)
    key = person.rater.pk if person.rater else 0
    agreements = evidence.agreements.get(key, {})
    raters = Rater.objects.in_bulk(agreements)
    mine = Judgment.objects.of_study(study).filter(rater=key)
    return Detail(
        person=person,
        pairs=sorted(((raters[other], one) for other, one in agreements.items()), key=lambda pair: pair[1].value),
        paces=_paces(evidence, key),
        versions=list(mine.values_list("guideline__version").annotate(n=Count("pk")).order_by("guideline__version")),
        gold=_missed_gold(study, key),
        attention=list(
            AttentionAnswer.objects.filter(check_asked__study=study, user=user)
            .select_related("check_asked")
            .order_by("answered_at")
        ),
        attempts=list(study.training_attempts.filter(user=user).order_by("number")),
        consents=list(ConsentAnswer.objects.filter(text__study=study, user=user).select_related("text")),
        answers=answers_of(study=study, user=user),
        comments=list(
            Comment.objects.filter(study=study, rater=key).select_related("item").order_by("-made_at")[:SHOWN]
        ),
        exclusions=list(
            Exclusion.objects.filter(study=study, rater=key).select_related("excluded_by").order_by("-excluded_at")
        ),
        screen_outs=list(ScreenOut.objects.filter(enrolment=person.enrolment).order_by("-screened_at")),
    )


def _paces(evidence: Evidence, rater: int) -> list[PaceBeside]:
    others = [evidence.paces[other] for other in evidence.others_than(rater)]
    found = []
    for task_type, own in evidence.paces.get(rater, {}).items():
        theirs = [other[task_type].median for other in others if task_type in other]
        found.append(PaceBeside(task_type, own, median(theirs) if theirs else None))
    return found


def _missed_gold(study: Study, rater: int) -> list[tuple[GoldGrade, float]]:
    """Return the silent gold that the rater missed, with what they gave."""
    gold = {
        (one.item_id, one.criterion_id): one
        for one in GoldGrade.objects.filter(
            item__study=study, purpose=GoldGrade.Purpose.GOLD, item__judgments__rater=rater
        )
        .select_related("item", "criterion__scale")
        .distinct()
    }
    given = Judgment.objects.filter(
        item__in={item for item, _ in gold}, criterion__in={criterion for _, criterion in gold}, rater=rater
    ).graded()
    found = [
        (gold[item, criterion], grade)
        for item, criterion, grade in given.values_list("item_id", "criterion_id", "grade")
        if (item, criterion) in gold and grade is not None and not gold[item, criterion].accepts(grade)
    ]
    return found[:SHOWN]
