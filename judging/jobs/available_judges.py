"""What judges could do in a study: every criterion with every judge that fits, and what it has done and missed."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, F, Q, Sum

from collection.completeness import judges_of_studies
from collection.models import Criterion, Item, Scale, Study
from collection.models.studies import TaskType
from collection.questions.shapes import RUBRIC_0_5
from collection.scales import difference_in_words
from judging.judges.forms import key_of
from judging.judges.registry import MEASURING, EngineChoice, engines_for, make_judge
from judging.judges.report_rating import REPORT_RATING, add_report_rating
from judging.models import GradingJob, Judge
from judging.prompts.criteria import FOR_PEOPLE_ALONE
from stats.completeness import UNMARKED, Completeness, complete_first


@dataclass(frozen=True)
class JudgeOffer:
    """A judge that fits a criterion, or a baseline that is made when it is first started."""

    key: str
    name: str
    engine: str
    judge: Judge | None
    weak: bool
    done: int
    missing: int
    job: GradingJob | None
    completeness: Completeness = UNMARKED


@dataclass(frozen=True)
class OnAnotherScale:
    """A judge of the same criterion that does not fit, and in what its scale differs from the criterion's."""

    judge: Judge
    difference: str


@dataclass(frozen=True)
class CriterionOffer:
    """A criterion with the judges that fit it, the ensembles that are combined of them, and those that do not fit.

    `new` means that it is made with its first job; `for_people` that no judge is asked it. `asked` is what the form of
    a new judge calls it.
    """

    name: str
    question: str
    scale_name: str
    threshold: float
    items: int
    without_text: int
    new: bool
    judges: list[JudgeOffer]
    ensembles: list[tuple[Judge, Completeness]]
    on_another_scale: list[OnAnotherScale]
    asked: str
    engines: EngineChoice
    for_people: bool = False

    @property
    def startable(self) -> int:
        """How many of its judges could be started now."""
        return sum(bool(row.missing) and row.job is None for row in self.judges)

    @property
    def pairs(self) -> int:
        return self.items - self.without_text


def judges_on_offer(study: Study) -> list[CriterionOffer]:
    """Return what can be started in the study, in the criteria's order, in a fixed number of queries."""
    criteria = list(study.criteria.select_related("scale"))
    counts = {criterion.task_type: {"items": 0, "without_text": 0} for criterion in criteria}
    # One look at the study's items for all task types: there may be a hundred thousand.
    for task_type, items, without_text in (
        Item.objects.filter(study=study)
        .exclude(element__masked=True)
        .values_list("task_type")
        .annotate(all=Count("pk"), textless=Count("pk", filter=Q(passage__isnull=False, passage__text__isnull=True)))
        .order_by()
    ):
        counts[task_type] = {"items": items, "without_text": without_text}
    done = {
        (criterion, judge): count
        for criterion, judge, count in GradingJob.objects.filter(study=study, attempt=1)
        .values_list("criterion", "judge")
        .annotate(pairs=Sum(F("graded") + F("ungraded")))
        .order_by()
    }
    unfinished = {
        (job.criterion_id, job.judge_id): job
        for job in GradingJob.objects.filter(study=study).exclude(state__in=GradingJob.OVER)
    }
    judges = list(
        Judge.objects.at_home_in(study).filter(task_type__in=counts).select_related("template", "scale", "rater")
    )
    completeness = judges_of_studies([study])
    offers = []
    for criterion in criteria:
        items, without_text = counts[criterion.task_type]["items"], counts[criterion.task_type]["without_text"]
        of_its_kind = [judge for judge in judges if judge.task_type == criterion.task_type]
        ensembles = [judge for judge in of_its_kind if judge.engine == Judge.Engine.ENSEMBLE]
        fitting = [
            judge
            for judge in of_its_kind
            if judge.scale_id == criterion.scale_id and judge not in ensembles and not judge.measures_another(criterion)
        ]
        rows = [
            JudgeOffer(
                key=judge.name,
                name=judge.name,
                engine=judge.get_engine_display(),
                judge=judge,
                weak=judge.weak,
                done=done.get((criterion.pk, judge.pk), 0),
                missing=max(items - without_text - done.get((criterion.pk, judge.pk), 0), 0),
                job=unfinished.get((criterion.pk, judge.pk)),
                completeness=completeness.of(criterion.pk, judge.rater_id),
            )
            for judge in fitting
        ]
        made = {judge.engine for judge in fitting}
        offers.append(
            CriterionOffer(
                name=criterion.name,
                question=criterion.question,
                scale_name=criterion.scale.name,
                threshold=criterion.threshold,
                items=items,
                without_text=without_text,
                new=False,
                judges=complete_first(
                    rows + _baselines(criterion.name, criterion.scale, made, missing=items - without_text),
                    of=lambda row: row.completeness,
                ),
                ensembles=complete_first(
                    (
                        (judge, completeness.of(criterion.pk, judge.rater_id))
                        for judge in ensembles
                        if judge.scale_id == criterion.scale_id
                    ),
                    of=lambda pair: pair[1],
                ),
                on_another_scale=[
                    OnAnotherScale(judge, difference_in_words(judge.scale, criterion.scale))
                    for judge in of_its_kind
                    if judge.scale_id != criterion.scale_id and judge.criterion_name == criterion.name
                ],
                asked=key_of(criterion),
                engines=engines_for(criterion.name, criterion.scale),
                for_people=criterion.task_type in FOR_PEOPLE_ALONE,
            )
        )
    return offers + _report_rating(study, criteria, counts.get(TaskType.ANSWERABILITY))


def _baselines(criterion_name: str, scale: Scale, made: set[str], *, missing: int) -> list[JudgeOffer]:
    """Offer the baselines that were set for this criterion and so many grades, and that nobody made for it yet."""
    return [
        JudgeOffer(engine.value, engine.value, engine.label, None, weak=True, done=0, missing=missing, job=None)
        for engine in engines_for(criterion_name, scale).engines
        if engine in MEASURING and engine not in made
    ]


def _report_rating(study: Study, criteria: list[Criterion], counts: dict[str, int] | None) -> list[CriterionOffer]:
    """Offer to grade reports as 0–5, where answerability is asked and nobody did so yet."""
    if counts is None or any(criterion.name == REPORT_RATING for criterion in criteria):
        return []
    pairs = counts["items"] - counts["without_text"]
    scale = RUBRIC_0_5.stored()
    judges = (
        Judge.objects.at_home_in(study)
        .exclude(engine=Judge.Engine.ENSEMBLE)
        .filter(task_type=TaskType.ANSWERABILITY, scale=scale)
        .select_related("template")
    )
    rows = [
        JudgeOffer(judge.name, judge.name, judge.get_engine_display(), judge, judge.weak, 0, pairs, None)
        for judge in judges
    ]
    made = {judge.engine for judge in judges}
    return [
        CriterionOffer(
            name=REPORT_RATING,
            question="How well does the report answer this question?",
            scale_name=scale.name,
            threshold=3,
            items=counts["items"],
            without_text=counts["without_text"],
            new=True,
            judges=rows + _baselines(REPORT_RATING, scale, made, missing=pairs),
            ensembles=[],
            on_another_scale=[],
            asked=REPORT_RATING,
            engines=engines_for(REPORT_RATING, scale),
        )
    ]


def criterion_named(study: Study, name: str) -> Criterion:
    """Return the study's criterion; `report_rating` is made if it is new. Raises Criterion.DoesNotExist."""
    asks_answerability = study.criteria.filter(task_type=TaskType.ANSWERABILITY).exists()
    if name == REPORT_RATING and asks_answerability:
        return add_report_rating(study)
    return study.criteria.select_related("scale").get(name=name)


def judge_named(key: str, criterion: Criterion) -> Judge:
    """Return the judge of this name, or the baseline of this engine for the criterion's scale, made if it is new.

    Raises Judge.DoesNotExist and BadJudge.
    """
    if key not in {engine.value for engine in MEASURING}:
        return Judge.objects.select_related("rater", "scale").get(name=key)
    judge, _ = make_judge(
        engine=key, task_type=criterion.task_type, criterion_name=criterion.name, scale=criterion.scale
    )
    return judge
