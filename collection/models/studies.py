"""Studies: which items are judged under which criteria, on which scales.

A study stands here, not in `annotate`, for judges grade its items and `evaluation` reads them too.
How people get their work (tasks, places, assignments) is `annotate`'s.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from collection.models.sentences import ReportSentence
from collection.models.texts import Collection, Passage, Report, RubricElement, Topic
from collection.question_categories import category_of


class TaskType(StrEnum):
    """The task types that code knows by name; `collection.questions.shapes` says what each of all is made of."""

    ANSWERABILITY = "answerability"
    RATING = "rating"
    KEY_POINT = "key_point"
    RELEVANCE = "relevance"
    NUGGET = "nugget"
    WRITTEN_ANSWER = "written_answer"
    ANSWER_REVISION = "answer_revision"
    ANSWER_EVALUATION = "answer_evaluation"
    QUESTION_PASSAGE = "question_passage"
    PASSAGE_USE = "passage_use"
    PREFERENCE = "preference"
    CONFIDENCE = "confidence"
    BATTLE = "battle"
    CITATION_SUPPORT = "citation_support"
    CITATION_NEED = "citation_need"
    SENTENCE_NUGGET = "sentence_nugget"
    QUESTION_FIT = "question_fit"


class Question(models.Model):
    """A researcher's own question to people and judges: a task type like those that are shipped. Never changed.

    `document` is what the shipped ones' files say, with `guidelines`, a `prompt` and `translations` in it;
    `collection.questions.documents` checks it. One that is withdrawn is not offered any more.
    """

    name = models.SlugField(max_length=50, unique=True)
    document = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return str(self.document["title"])


class Scale(models.Model):
    """The grades a rater may give, each with its name and text. Immutable, known by its hash.

    `points` is a list of `{"value": number, "name": str, "text": str}`, lowest value first. `level`
    is the level of measurement, which decides which statistics make sense.
    """

    class Level(models.TextChoices):
        NOMINAL = "nominal", "nominal"
        ORDINAL = "ordinal", "ordinal"
        INTERVAL = "interval", "interval"

    name = models.CharField(max_length=100)
    level = models.CharField(max_length=8, choices=Level)
    points = models.JSONField()
    content_hash = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return self.name

    @property
    def values(self) -> list[float]:
        """The grades, in the scale's order."""
        return [point["value"] for point in self.points]

    @property
    def wordless(self) -> bool:
        """Whether its grades are bare numbers: named after their values, without a text."""
        return not any(point["text"] or point["name"] != f"{point['value']:g}" for point in self.points)

    def point(self, grade: float) -> dict[str, Any] | None:
        """Return the point of this grade, or None if the scale has none."""
        return next((point for point in self.points if point["value"] == grade), None)


class StudyQuerySet(models.QuerySet["Study"]):
    def of(self, user: Any) -> StudyQuerySet:
        """Studies on collections that this user researches."""
        return self.filter(collection__in=Collection.objects.of(user))

    def read_by(self, user: Any) -> StudyQuerySet:
        """Those of the user's studies of which they may read now what was said in them."""
        return self.of(user).exclude(pk__in=Study.objects.assessed_by(user).values("pk"))

    def assessed_by(self, user: Any) -> StudyQuerySet:
        """Studies in which the user may be asked for judgments of their own, which are blind to those of others."""
        enrolled = self.filter(enrolments__user=user, enrolments__left_at=None)
        return enrolled.exclude(state=Study.State.CLOSED)


class Study(models.Model):
    """A labelling campaign over items of one collection."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    class NuggetsIn(models.TextChoices):
        REPORTS = "reports", "reports"
        PASSAGES = "passages", "ranked passages"

    class KeyPointsIn(models.TextChoices):
        DOCUMENTS = "documents", "their documents"
        ANSWERS = "answers", "answers"

    class PooledFrom(models.TextChoices):
        RANKINGS = "rankings", "the runs’ rankings"
        CITATIONS = "citations", "the citations of the reports"

    class CitationsAsked(models.TextChoices):
        ALL = "all", "all citations of a sentence"
        FIRST = "first", "the first citation of a sentence"

    class DrawnBy(models.TextChoices):
        REPORT = "report", "report"
        SENTENCE = "sentence", "sentence"
        CITATION = "citation", "citation"

    class Revise(models.TextChoices):
        NON_CONSECUTIVE = "non_consecutive", "answers of sentences that are not consecutive"
        ALL = "all", "all answers"

    class Sampling(models.TextChoices):
        SIMPLE = "simple", "simple"
        STRATIFIED = "stratified", "stratified"
        WEIGHTED = "weighted", "weighted"

    class Strata(models.TextChoices):
        TOPIC = "topic", "topic"
        SYSTEM = "system", "system"

    class Weight(models.TextChoices):
        LENGTH = "length", "length"
        RANK = "rank", "rank"

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="studies")
    name = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=6, choices=State, default=State.DRAFT)
    overlap = models.PositiveSmallIntegerField(default=3, help_text="k: how many assessors judge an item.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    language = models.CharField(max_length=10, default="en", help_text="What assessors' pages speak to newcomers.")
    terms = models.TextField(blank=True, help_text="To scan the texts for, one a line: assessors see them highlighted.")
    translatable = models.BooleanField(
        default=False, db_default=False, help_text="Whether browsers may translate the judged texts."
    )
    # What is asked about.
    depth = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="How far down each ranking the pool goes; empty where none was laid."
    )
    nuggets_in = models.CharField(max_length=8, choices=NuggetsIn, default=NuggetsIn.REPORTS)
    key_points_in = models.CharField(max_length=9, choices=KeyPointsIn, default=KeyPointsIn.DOCUMENTS)
    pooled_from = models.CharField(
        max_length=9, choices=PooledFrom, default=PooledFrom.RANKINGS, help_text="Whose passages are asked about."
    )
    citations_asked = models.CharField(max_length=5, choices=CitationsAsked, default=CitationsAsked.ALL)
    drawn_by = models.CharField(
        max_length=8, choices=DrawnBy, default=DrawnBy.REPORT, help_text="What a sample of cited reports is drawn from."
    )
    revise = models.CharField(
        max_length=15, choices=Revise, default=Revise.NON_CONSECUTIVE, help_text="Answers with a second round."
    )
    revision_places = models.PositiveSmallIntegerField(default=1, help_text="How many people read each of them.")
    sample_sizes = models.JSONField(
        default=dict, blank=True, help_text="How many texts people are asked about, by task type; all without a size."
    )
    frame = models.JSONField(
        default=dict, blank=True, help_text="Which runs, topics and passages it asks about; all without a choice."
    )
    # How it is drawn and handed out.
    sampling = models.CharField(max_length=10, choices=Sampling, default=Sampling.SIMPLE)
    strata = models.CharField(max_length=6, choices=Strata, default=Strata.TOPIC)
    weight = models.CharField(max_length=6, choices=Weight, default=Weight.LENGTH)
    control_share = models.FloatField(default=0.0, help_text="The share of the tasks that everyone sees.")
    even = models.BooleanField(default=False, help_text="Nobody gets more than an equal share.")
    quota = models.PositiveIntegerField(null=True, blank=True, help_text="The most tasks that one assessor gets.")
    batch_size = models.PositiveIntegerField(null=True, blank=True, help_text="Tasks that are released together.")
    timeout_minutes = models.PositiveIntegerField(
        null=True, blank=True, help_text="A task left alone for so long goes to somebody else."
    )
    own_order = models.BooleanField(default=False, help_text="Each assessor starts at a place of their own.")
    named_adjudication = models.BooleanField(
        default=False, help_text="Whether its researchers see who said what when they adjudicate."
    )
    # What came of it so far.
    released_batch = models.PositiveIntegerField(default=1, help_text="The last batch that is handed out.")
    batches_released_at = models.JSONField(default=dict, blank=True)
    samples = models.JSONField(default=dict, blank=True, help_text="The samples that were drawn, by task type.")
    attributes = models.JSONField(default=dict, blank=True, help_text="What an import or the researcher says besides.")

    objects = StudyQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "studies"
        constraints = [models.CheckConstraint(condition=Q(overlap__gte=1), name="a_study_asks_someone")]

    def __str__(self) -> str:
        return self.title or self.name


class Criterion(models.Model):
    """What is asked about an item, with its scale. An item is asked all criteria of its task type."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="criteria")
    task_type = models.CharField(max_length=50, help_text="The name of a task type.")
    name = models.SlugField(max_length=50)
    question = models.CharField(max_length=500, help_text="As the assessor reads it.")
    scale = models.ForeignKey(Scale, on_delete=models.PROTECT, related_name="+")
    threshold = models.FloatField(help_text="η: a grade of at least this counts as positive.")
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["study_id", "position", "id"]
        verbose_name_plural = "criteria"
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="one_criterion_per_name")]

    def __str__(self) -> str:
        return self.name


class ThresholdChange(models.Model):
    """That a criterion's threshold was moved. What was published before it rests on the threshold `before`."""

    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="threshold_changes")
    before = models.FloatField()
    after = models.FloatField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["changed_at", "pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(before=models.F("after")), name="a_threshold_change_changes_it")
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: η from {self.before:g} to {self.after:g}"


class Guideline(models.Model):
    """One version of a study's guidelines. Judgments remember which one was in force."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveSmallIntegerField()
    markdown = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["study_id", "-version"]
        constraints = [models.UniqueConstraint(fields=["study", "version"], name="one_guideline_per_version")]

    def __str__(self) -> str:
        return f"version {self.version}"


class Item(models.Model):
    """One thing to be judged: a text (or two) with a rubric element, or with the topic alone; or a topic's question.

    Two texts are two reports that are compared, or a report with one of the passages it was made of. Where a sentence
    of the report is judged, the passage is one that the sentence cites.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="items")
    task_type = models.CharField(max_length=50, help_text="The name of a task type.")
    item_id = models.CharField(max_length=600, help_text="Its name in files, made of its parts' ids.")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="items")
    element = models.ForeignKey(RubricElement, null=True, on_delete=models.CASCADE, related_name="items")
    passage = models.ForeignKey(Passage, null=True, on_delete=models.CASCADE, related_name="items")
    report = models.ForeignKey(Report, null=True, on_delete=models.CASCADE, related_name="items")
    other_report = models.ForeignKey(Report, null=True, on_delete=models.CASCADE, related_name="+")
    sentence = models.ForeignKey(ReportSentence, null=True, on_delete=models.CASCADE, related_name="items")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "item_id"], name="one_item_per_id"),
            models.CheckConstraint(
                condition=Q(passage__isnull=False) | Q(report__isnull=False) | Q(element__isnull=True),
                name="an_item_judges_a_text_or_a_question",
            ),
            models.CheckConstraint(
                condition=Q(other_report__isnull=True) | Q(report__isnull=False, passage__isnull=True),
                name="only_reports_are_compared",
            ),
            models.CheckConstraint(
                condition=Q(sentence__isnull=True) | Q(report__isnull=False, other_report__isnull=True),
                name="a_sentence_is_judged_with_its_report",
            ),
        ]

    def __str__(self) -> str:
        return self.item_id

    @property
    def judged_text(self) -> Passage | Report | Topic:
        """The passage or the report that is judged; of a report with a passage, the passage; without, the topic."""
        return self.passage or self.report or self.topic

    @property
    def sentence_text(self) -> str:
        """The sentence that is judged, of the report; nothing where none is."""
        if self.sentence is None or self.report is None:
            return ""
        return self.report.text[self.sentence.start : self.sentence.end]

    @property
    def asked_about(self) -> str:
        """What the text is held against: a rubric element, a sentence, a question's category, or the request."""
        if self.task_type == TaskType.QUESTION_FIT:
            return category_of(self.topic.attributes)
        return self.element.text if self.element else self.sentence_text or self.topic.request


class TopicDraw(models.Model):
    """That a study asks about a topic, where it does not ask about all, and with which probability it came to be.

    A study has items on these topics alone, so what is estimated over its items is about them. A topic that was chosen,
    or added to a draw, has the probability 1.
    """

    class Design(models.TextChoices):
        SIMPLE = "simple", "drawn at random"
        STRATIFIED = "stratified", "drawn at random in its stratum"
        BERNOULLI = "Bernoulli", "came later, and met the line of its stratum"
        CHOSEN = "chosen", "chosen"
        ADDED = "added", "added to a draw"

    # What a study keeps of the draw in its `samples`, beside those of its task types.
    KEPT_AS = "topics"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="topic_draws")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    inclusion_probability = models.FloatField()
    design = models.CharField(max_length=20, choices=Design, help_text="How it came to be asked about.")
    stratum = models.CharField(max_length=100, blank=True)
    drawn_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "topic"], name="a_topic_is_drawn_once"),
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="a_topics_probability_is_in_0_1",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.topic} drawn with probability {self.inclusion_probability:g}"


class Draw(models.Model):
    """That an item was drawn for people to judge, and with which probability among the items of the study.

    Estimates over all of a study's items weight a human judgment by 1 / `inclusion_probability`. Where topics were
    drawn first (`TopicDraw`), it is the probability on a drawn topic.
    """

    class Purpose(models.TextChoices):
        SAMPLE = "sample", "sample for people"
        CONTROL = "control", "seen by everyone"
        ACTIVE = "active", "drawn by active labelling"

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="draws")
    purpose = models.CharField(max_length=7, choices=Purpose, default=Purpose.SAMPLE)
    inclusion_probability = models.FloatField()
    design = models.CharField(max_length=100, help_text="How it was drawn: all, simple, stratified, …")
    stratum = models.CharField(max_length=100, blank=True)
    drawn_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "purpose"], name="one_draw_per_item_and_purpose"),
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="an_inclusion_probability_is_in_0_1",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} drawn with probability {self.inclusion_probability:g}"
