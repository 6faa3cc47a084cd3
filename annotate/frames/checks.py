"""Whether a frame can be: what it names is there, and what it needs is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Set

from annotate.frames.attributes import topic_attributes
from annotate.frames.frame import BY_GRADES, OF_ONE_RUN, Frame
from collection.models import Collection, Criterion, Rater, Run, Topic


class FrameRefused(ValueError):
    """A frame that cannot be: `field` is the choice that is wrong."""

    def __init__(self, field: str, said: str) -> None:
        super().__init__(said)
        self.field = field


def check_frame(frame: Frame, collection: Collection) -> None:
    """Raise FrameRefused where the frame names what the collection has not, or leaves open what it needs."""
    _check_runs(frame, collection)
    _check_topics(frame, collection)
    _check_passages(frame, collection)


def _check_runs(frame: Frame, collection: Collection) -> None:
    names = set(Run.objects.filter(collection=collection).values_list("name", flat=True))
    refuse_unknown("run_names", "run", frame.run_names, names)
    if frame.runs != "all" and not frame.run_names:
        raise FrameRefused("run_names", "Choose at least one run, or choose all runs.")
    if frame.runs != "all" and not any(map(frame.takes, names)):
        raise FrameRefused("run_names", "This leaves no run.")


def _check_topics(frame: Frame, collection: Collection) -> None:
    if frame.topics == "all":
        return
    topics = set(Topic.objects.filter(collection=collection).values_list("topic_id", flat=True))
    refuse_unknown("topic_ids", "topic", frame.topic_ids, topics)
    if frame.topics == "chosen":
        if not frame.topic_ids:
            raise FrameRefused("topic_ids", "Choose at least one topic, or choose all topics.")
        return
    if frame.numbers and not frame.strata:
        raise FrameRefused("strata", "Choose the attribute whose values have these numbers.")
    if any(number <= 0 or (not frame.in_percent and number != int(number)) for number in frame.numbers.values()):
        raise FrameRefused("numbers", "Each number of topics must be a whole number of at least 1.")
    if frame.in_percent and abs(sum(frame.numbers.values()) - 100) > 0.01:
        raise FrameRefused("numbers", f"These shares sum to {sum(frame.numbers.values()):g} %, not to 100 %.")
    if frame.n_topics is None and (frame.in_percent or not frame.numbers):
        raise FrameRefused("n_topics", "Enter how many topics are drawn.")
    if frame.n_topics is not None and frame.numbers and not frame.in_percent:
        total = int(sum(frame.numbers.values()))
        if frame.n_topics != total:
            raise FrameRefused("n_topics", f"The numbers sum to {total}, not to {frame.n_topics}: leave this empty.")
    attributes = {one.name for one in topic_attributes(collection)}
    refuse_unknown(
        "strata", "attribute of topics with a few values", [frame.strata] if frame.strata else [], attributes
    )
    refuse_unknown(
        "spread", "attribute of topics with a few values", [frame.spread] if frame.spread else [], attributes
    )
    if frame.spread and frame.spread == frame.strata:
        raise FrameRefused("spread", "Choose another attribute than the one whose values have the numbers.")


def _check_passages(frame: Frame, collection: Collection) -> None:
    if frame.passages in OF_ONE_RUN:
        runs = Run.objects.filter(collection=collection, name=frame.passages_of)
        if not runs.exists():
            raise FrameRefused("passages_of", "Choose the run whose passages are asked about.")
    if frame.passages in BY_GRADES:
        criterion = criterion_named(frame.grades_of, collection)
        wants = "rating" if frame.passages == "required" else ""
        if criterion is None or (wants and criterion.task_type != wants):
            of_what = "ratings of passages on sub-questions" if wants else "grades of passages"
            raise FrameRefused("grades_of", f"Choose the {of_what} that tell which passages are asked about.")
        if frame.grades_by and not Rater.objects.filter(judgments__criterion=criterion, name=frame.grades_by).exists():
            raise FrameRefused("grades_by", f"No rater “{frame.grades_by}” has grades under {frame.grades_of}.")


def criterion_named(name: str, collection: Collection) -> Criterion | None:
    """Return the criterion of the name "STUDY/CRITERION" of a study of this collection."""
    study, _, criterion = name.rpartition("/")
    found = Criterion.objects.filter(study__collection=collection, study__name=study, name=criterion)
    return found.select_related("study").first()


def refuse_unknown(field: str, what: str, named: Iterable[str], there: Set[str]) -> None:
    """Raise FrameRefused where some of what is named is not there."""
    if unknown := [name for name in named if name not in there]:
        listed = ", ".join(f"“{name}”" for name in unknown[:3]) + (" …" if len(unknown) > 3 else "")
        raise FrameRefused(field, f"The collection has no {what} {listed}.")
