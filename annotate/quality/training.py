"""Training: items with known grades, answered one text at a time with feedback, until the pass mark is reached.

Each attempt draws texts that no earlier one asked, so that it measures what was understood and not what is remembered.
Where there are too few texts for that, every attempt asks all of them, and answers are shown after the last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any

from django.db import transaction
from django.db.models import Avg, Case, Count, FloatField, Max, When
from django.utils.translation import gettext

from annotate.assignments.questions import keys_of
from annotate.assignments.shown import Grade
from annotate.models import GoldGrade, QualityRules, ScreenOut, TrainingAnswer, TrainingAttempt
from annotate.quality.gold import asked_criteria
from annotate.quality.screening import screen_out
from annotate.sessions.offers import Offer, offer_now, offer_to
from annotate.task_types import RULES
from collection.hidden_order import hidden_order
from collection.judgments.services import check_grade
from collection.models import Criterion, Item, Passage, Report, Study, User
from stats.plurals import counted

# An attempt of fewer texts would say little about anybody.
FEWEST_TEXTS = 3


class NotAnswered(ValueError):
    """The trainee has not answered every question of the text."""


@dataclass(frozen=True)
class TrainingQuestion:
    """One known grade as the trainee meets it. `given` is their answer in this attempt, None before it."""

    gold: GoldGrade
    given: TrainingAnswer | None

    @property
    def item(self) -> Item:
        return self.gold.item

    @property
    def criterion(self) -> Criterion:
        return self.gold.criterion

    @property
    def field(self) -> str:
        return field_of(self.gold.item_id, self.gold.criterion_id)

    @property
    def asks(self) -> str:
        return self.item.asked_about

    @property
    def grades(self) -> list[Grade]:
        """The grades to choose from, with the keys that they have at the work where it asks this alone."""
        keys = keys_of([self.criterion])
        return [
            Grade(point["value"], point["name"], point["text"], keys.get((self.criterion.pk, point["value"]), ""))
            for point in self.criterion.scale.points
        ]

    @property
    def gold_name(self) -> str:
        return name_of(self.criterion, self.gold.grade)

    @property
    def given_name(self) -> str:
        if self.given is None:
            return ""
        return gettext("not asked") if self.given.grade is None else name_of(self.criterion, self.given.grade)


@dataclass(frozen=True)
class TrainingText:
    """What the trainee reads at one time, with all that is asked about it."""

    questions: Sequence[TrainingQuestion]

    @property
    def item(self) -> Item:
        return self.questions[0].item

    @property
    def texts(self) -> list[Report | Passage]:
        """The text that is judged, and the one it is compared with or was used in."""
        item = self.item
        return [text for text in (item.report, item.other_report, item.passage) if text is not None]

    @property
    def answered(self) -> bool:
        return all(question.given for question in self.questions)

    @property
    def answered_as(self) -> float:
        """When its turn was in the attempt; what is not answered yet comes after all that is."""
        return min((question.given.pk for question in self.questions if question.given), default=inf)


def name_of(criterion: Criterion, grade: float) -> str:
    point = criterion.scale.point(grade)
    return str(point["name"]) if point else f"{grade:g}"


@dataclass(frozen=True)
class Draw:
    """How many of the training's `n_texts` an attempt asks, and whether no two `attempts` ask the same."""

    n_texts: int
    attempts: int

    @property
    def n_asked(self) -> int:
        share = self.n_texts // self.attempts
        return share if share >= FEWEST_TEXTS else self.n_texts

    @property
    def others_each_time(self) -> bool:
        return self.n_asked * self.attempts <= self.n_texts


def draw_of(offer: Offer) -> Draw:
    """Return what an attempt at the training asks of those for whom this holds."""
    known = GoldGrade.objects.filter(purpose=GoldGrade.Purpose.TRAINING, pk__lte=offer.last_known_grade)
    items = Item.objects.filter(study=offer.rules.study_id, gold_grades__in=known).order_by()
    texts = items.values("task_type", "topic", "report", "other_report", "passage").distinct()
    return Draw(texts.count(), offer.rules.attempts)


def rules_and_draw_for(*, study: Study, user: User) -> tuple[QualityRules, Draw]:
    """Return the rules of the training for this person, and what an attempt asks of them."""
    offer = offer_to(study=study, user=user)
    return offer.rules, draw_of(offer)


def training_texts(attempt: TrainingAttempt) -> list[TrainingText]:
    """Return the texts that the attempt asks, in their order, with its answers.

    They are drawn of each task type in proportion to its texts, so that attempts are alike, those first that the
    person's earlier attempts have not asked.
    """
    offer = _offer_of(attempt)
    texts = _texts_of(attempt, offer)
    earlier = TrainingAnswer.objects.filter(
        attempt__study=attempt.study, attempt__user=attempt.user, attempt__number__lt=attempt.number
    )
    asked: Counter[int] = Counter(item for item, _ in set(earlier.values_list("item__pk", "attempt")))
    texts.sort(key=lambda text: (asked[text.item.pk], hidden_order("training", attempt.pk, text.item.pk)))
    n_of = Counter((asked[text.item.pk], text.item.task_type) for text in texts)
    turns: Counter[tuple[int, str]] = Counter()
    turn: dict[int, tuple[int, float]] = {}
    for text in texts:
        kind = (asked[text.item.pk], text.item.task_type)
        turns[kind] += 1
        turn[text.item.pk] = (kind[0], (turns[kind] - 0.5) / n_of[kind])
    texts.sort(key=lambda text: (text.answered_as, turn[text.item.pk]))
    return texts[: Draw(len(texts), offer.rules.attempts).n_asked]


def shows_answers(attempt: TrainingAttempt) -> bool:
    """Whether the right answers may be shown: no later attempt asks for them."""
    draw = draw_of(_offer_of(attempt))
    if draw.others_each_time:
        return True
    if attempt.finished_at is None:
        return False
    return bool(attempt.passed) or len(attempts_of(attempt.study, attempt.user)) >= draw.attempts


def pass_rates(study: Study) -> Iterable[Mapping[str, Any]]:
    """Return of each attempt, in order: `number`, how many `finished` it, the shares that `passed` and were `right`."""
    finished = TrainingAttempt.objects.filter(study=study, finished_at__isnull=False).order_by("number")
    passed = Avg(Case(When(passed=True, then=1.0), default=0.0, output_field=FloatField()))
    return finished.values("number").annotate(finished=Count("pk"), passed=passed, right=Avg("share_right"))


def training_in_words(study: Study) -> str:
    """Say which texts an attempt asks, for the study's researchers."""
    draw = draw_of(offer_now(study))
    if draw.others_each_time:
        return f"Each attempt draws {draw.n_asked:,} of {counted(draw.n_texts, 'texts')}, others each time."
    return (
        f"Each attempt asks the same {counted(draw.n_texts, 'texts')}, so the right answers are shown after the last "
        f"one. From {FEWEST_TEXTS * draw.attempts:,} texts on, each attempt draws others."
    )


def _offer_of(attempt: TrainingAttempt) -> Offer:
    return offer_to(study=attempt.study, user=attempt.user)


def _texts_of(attempt: TrainingAttempt, offer: Offer) -> list[TrainingText]:
    of_training = GoldGrade.objects.filter(item__study=attempt.study, purpose=GoldGrade.Purpose.TRAINING)
    known = (
        of_training.filter(pk__lte=offer.last_known_grade)
        .select_related(
            "item__topic",
            "item__element",
            "item__report",
            "item__other_report",
            "item__passage",
            "item__sentence",
            "criterion__scale",
        )
        .order_by("item_id", "criterion__position", "criterion_id")
    )
    answers = {(a.item_id, a.criterion_id): a for a in attempt.answers.all()}
    texts: dict[tuple[object, ...], list[TrainingQuestion]] = {}
    for gold in known:
        item = gold.item
        read = (item.task_type, item.topic_id, item.report_id, item.other_report_id, item.passage_id)
        question = TrainingQuestion(gold, answers.get((item.pk, gold.criterion_id)))
        texts.setdefault(read, []).append(question)
    return [TrainingText(questions) for questions in texts.values()]


def attempts_of(study: Study, user: User) -> list[TrainingAttempt]:
    """Return the person's attempts since they were last let in, first to last."""
    attempts = TrainingAttempt.objects.filter(study=study, user=user).order_by("number")
    lifted = ScreenOut.objects.filter(enrolment__study=study, enrolment__user=user).aggregate(at=Max("lifted_at"))["at"]
    return list(attempts.filter(started_at__gt=lifted) if lifted else attempts)


@transaction.atomic
def begin_attempt(*, study: Study, user: User, at: datetime) -> TrainingAttempt:
    """Return the attempt that is under way, or begin the next."""
    number = TrainingAttempt.objects.filter(study=study, user=user).aggregate(last=Max("number"))["last"] or 0
    attempt, _ = TrainingAttempt.objects.get_or_create(
        study=study, user=user, finished_at=None, defaults={"number": number + 1, "started_at": at}
    )
    finish_if_done(attempt, at=at)  # the researcher may have taken away what was left
    return attempt


@transaction.atomic
def answer_text(
    *, attempt: TrainingAttempt, text: TrainingText, grades: Mapping[str, float | None], at: datetime
) -> None:
    """Keep the answers to one text, by the questions' fields; the first answers count. The last text ends the attempt.

    A question that another answer closed is not answered, and not right. Raises NotAnswered and GradeNotOnScale, and
    keeps nothing then.
    """
    attempt = TrainingAttempt.objects.select_for_update().get(pk=attempt.pk)
    if attempt.finished_at:
        return
    answers = []
    closed = _closed(text, grades)
    for question in text.questions:
        grade = grades.get(question.field)
        if grade is not None:
            check_grade(grade, question.criterion)
        elif question.field not in closed:
            raise NotAnswered(gettext("Answer every question, then check your answers."))
        answers.append(
            TrainingAnswer(
                attempt=attempt,
                item=question.item,
                criterion=question.criterion,
                grade=grade,
                right=grade is not None and question.gold.accepts(grade),
                answered_at=at,
            )
        )
    TrainingAnswer.objects.bulk_create(answers, ignore_conflicts=True)
    finish_if_done(attempt, at=at)


def field_of(item: int, criterion: int) -> str:
    """Return the name of a question's field, as the screens of the work have it."""
    return f"grade-{item}-{criterion}"


def _closed(text: TrainingText, grades: Mapping[str, float | None]) -> set[str]:
    """Return the fields of the questions that an answer to another criterion of the same item closes."""
    rules = RULES.get(text.item.task_type)
    if rules is None:
        return set()
    criteria = {criterion.name: criterion for criterion in asked_criteria(text.item)}
    closed = set()
    for item in {question.item.pk for question in text.questions}:
        for criterion in criteria.values():
            grade = grades.get(field_of(item, criterion.pk))
            names = rules.closed_with(criterion, grade) if grade is not None else []
            closed |= {field_of(item, criteria[name].pk) for name in names if name in criteria}
    return closed


def finish_if_done(attempt: TrainingAttempt, *, at: datetime) -> None:
    """End the attempt if every text that there is now was answered in it."""
    texts = training_texts(attempt)
    if texts and all(text.answered for text in texts):
        _finish(attempt, at=at)


def _finish(attempt: TrainingAttempt, *, at: datetime) -> None:
    rules = _offer_of(attempt).rules
    right = list(attempt.answers.values_list("right", flat=True))
    attempt.share_right = sum(right) / len(right)
    attempt.passed = attempt.share_right >= rules.pass_mark
    attempt.finished_at = at
    attempt.save(update_fields=["share_right", "passed", "finished_at"])
    if not attempt.passed and len(attempts_of(attempt.study, attempt.user)) >= rules.attempts:
        screen_out(study=attempt.study, user=attempt.user, reason=ScreenOut.Reason.TRAINING, at=at)
