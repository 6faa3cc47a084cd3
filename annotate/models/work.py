"""How people get their work: enrolment, tasks, places and assignments.

The cap on overlap is the database's. A task has as many places as assessors are wanted; a place holds
at most one of them; an assessor holds at most one place of a task. Nobody can be seated where no
place is left, whatever number of processes try.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from collection.models import Arm, Comment, Criterion, Guideline, Item, Passage, Rater, Report, Study, Topic
from collection.questions.shapes import title_of


class Enrolment(models.Model):
    """That a person may work in a study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="enrolments")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="enrolments")
    joined_at = models.DateTimeField(default=timezone.now)
    left_at = models.DateTimeField(null=True, blank=True)
    adjudicates = models.BooleanField(default=False, help_text="Whether they decide where others disagree.")
    invitation = models.ForeignKey(
        "annotate.Invitation",
        null=True,
        on_delete=models.SET_NULL,
        related_name="enrolments",
        help_text="By which a person with an account of their own let themselves in.",
    )
    start = models.PositiveIntegerField(
        null=True, blank=True, help_text="The position at which this assessor's round through the tasks starts."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_enrolment_per_person")]

    def __str__(self) -> str:
        return f"{self.user} in {self.study}"


class PlannedClosing(models.Model):
    """That a paused study closes as soon as nobody works in it any more."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="planned_closing")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.study} closes when its people are done"


class Task(models.Model):
    """What one screen asks of one assessor: a text with its items, or several texts of one topic.

    A task for `everyone` gets a place for each assessor who comes to it. Tasks of a `batch` are handed out
    once the study has released it. `after` is the task that an assessor must have submitted before this
    one is offered: the report whose sub-questions they answered before they rate its passages.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="tasks")
    task_type = models.CharField(max_length=50, help_text="The name of a task type.")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    report = models.ForeignKey(Report, null=True, on_delete=models.CASCADE, related_name="+")
    passage = models.ForeignKey(Passage, null=True, on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    position = models.PositiveIntegerField(help_text="The order in which tasks are handed out.")
    batch = models.PositiveIntegerField(default=1)
    everyone = models.BooleanField(default=False, help_text="Whether it is a control, seen by every assessor.")
    items = models.ManyToManyField(Item, through="TaskItem", related_name="tasks")

    class Meta:
        ordering = ["study_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "position"], name="one_task_per_position"),
            models.CheckConstraint(
                condition=Q(passage__isnull=True) | Q(report__isnull=True), name="a_task_shows_one_text_at_most"
            ),
        ]

    def __str__(self) -> str:
        return f"{title_of(self.task_type)}: {self.report or self.passage or self.topic}"


class TaskItem(models.Model):
    """An item of a task. An item belongs to one task, so the task's places cap its judgments."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="task_items")
    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="task_item")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["task_id", "position"]

    def __str__(self) -> str:
        return f"{self.item} in {self.task}"


class Place(models.Model):
    """One of a task's k seats, empty or held by one rater."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="places")
    number = models.PositiveSmallIntegerField()
    holder = models.ForeignKey(Rater, null=True, on_delete=models.PROTECT, related_name="places")

    class Meta:
        ordering = ["task_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["task", "number"], name="one_place_per_number"),
            models.UniqueConstraint(fields=["task", "holder"], name="nobody_holds_two_places_of_a_task"),
            models.CheckConstraint(condition=Q(number__gte=1), name="places_count_from_one"),
        ]

    def __str__(self) -> str:
        return f"place {self.number} of {self.task}"


class TopicShare(models.Model):
    """That a rater gets the places of this number in all tasks of a topic, in a study that shares work by topic."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="+")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveSmallIntegerField()
    holder = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "topic", "number"], name="a_share_has_one_holder"),
            models.UniqueConstraint(fields=["study", "topic", "holder"], name="nobody_holds_two_shares_of_a_topic"),
        ]

    def __str__(self) -> str:
        return f"share {self.number} of {self.topic}"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def of(self, user: Any) -> AssignmentQuerySet:
        """Assignments in this person's hands, now or before."""
        return self.filter(rater__user=user)

    def incomplete_again(self) -> AssignmentQuerySet:
        """Submitted assignments with a change that lacks something: until it is complete the earlier answer counts."""
        unfinished = Draft.objects.filter(assignment=models.OuterRef("pk"), unfinished=True)
        return self.filter(models.Exists(unfinished), state=Assignment.State.SUBMITTED)

    def open(self) -> AssignmentQuerySet:
        """Assignments that wait for their assessor."""
        return self.filter(state=Assignment.State.OPEN)

    def set_aside(self) -> AssignmentQuerySet:
        """Open assignments that their assessor put aside for later."""
        return self.open().exclude(set_aside_at=None)


class Assignment(models.Model):
    """A task in one assessor's hands.

    While it is open or submitted it occupies its place. When it is returned the place is free again
    and the row stays, to tell who had it.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        SUBMITTED = "submitted", "submitted"
        RETURNED = "returned", "returned"

    class Because(models.TextChoices):
        """Why an assignment went back."""

        SKIPPED = "skipped", "skipped"
        GIVEN_BACK = "given_back", "returned by its assessor"
        TIMED_OUT = "timed_out", "timed out"
        LEFT = "left", "its assessor left the study"
        UNPAID = "unpaid", "its session was returned at the crowd site"
        WITHDRAWN = "withdrawn", "its assessor withdrew their consent"

    # Tasks that their assessor had and did not judge, for whatever reason.
    PASSED_ON = (Because.SKIPPED, Because.GIVEN_BACK, Because.TIMED_OUT)

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="assignments")
    place = models.ForeignKey(Place, on_delete=models.CASCADE, related_name="assignments")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    opened_at = models.DateTimeField()
    touched_at = models.DateTimeField(help_text="When its assessor last saved anything.")
    submitted_at = models.DateTimeField(null=True)
    revealed_at = models.DateTimeField(
        null=True, help_text="When its assessor was shown the passages that a first step must do without."
    )
    returned_at = models.DateTimeField(null=True)
    returned_because = models.CharField(max_length=10, choices=Because, blank=True)
    active_seconds = models.FloatField(default=0, help_text="Time with the page in front and somebody at it.")
    claimed_seconds = models.FloatField(
        null=True, help_text="What the browser told where it was more than had passed here: then only that counts."
    )

    set_aside_at = models.DateTimeField(
        null=True, help_text="When its assessor put it aside for later; it keeps its place."
    )
    arm = models.CharField(
        max_length=9,
        choices=Arm,
        blank=True,
        help_text="How a judge's grades are suggested in it, where that was drawn.",
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["place"], condition=~Q(state="returned"), name="one_assignment_occupies_a_place"
            ),
            models.UniqueConstraint(fields=["task", "rater"], name="one_assignment_per_task_and_rater"),
        ]

    def __str__(self) -> str:
        return f"{self.task} for {self.rater}"


class AssignmentItem(models.Model):
    """An item that this assignment asks, drawn once and kept with its probability."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="asked")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="asked")
    position = models.PositiveSmallIntegerField()
    inclusion_probability = models.FloatField(default=1.0)
    swapped = models.BooleanField(default=False, help_text="Whether the second of a pair stands on the left.")

    class Meta:
        ordering = ["assignment_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item"], name="an_assignment_asks_an_item_once"),
            models.UniqueConstraint(fields=["assignment", "position"], name="one_item_per_position"),
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="an_items_probability_is_in_0_1",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} in {self.assignment}"


class SkippedWork(models.Model):
    """What a skipped assignment held beside what the history knows, so that skipping it can be undone."""

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="skipped_work")
    work = models.JSONField()
    comment = models.ForeignKey(Comment, null=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return f"skipped work of {self.assignment}"


class GuidelineReading(models.Model):
    """That a person was shown a version of a study's guidelines."""

    guideline = models.ForeignKey(Guideline, on_delete=models.CASCADE, related_name="readings")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    read_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["guideline", "user"], name="a_version_is_read_once")]

    def __str__(self) -> str:
        return f"{self.guideline} read by {self.user}"


class Draft(models.Model):
    """A choice that is saved but is no judgment yet: "answerable" with no span marked, say.

    In a submitted assignment it is a change that lacks something; the judgment before it stays in force meanwhile.
    It also keeps what was typed and does not belong to the judgment: the text under "too difficult".
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="drafts")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+")
    grade = models.FloatField(null=True)
    spans = models.JSONField(default=list)
    answer = models.TextField(blank=True)
    confirmations = models.JSONField(default=list)
    unsure = models.BooleanField(default=False, db_default=False)
    seconds = models.FloatField(null=True, help_text="Active time spent on it.")
    saved_at = models.DateTimeField()
    unfinished = models.BooleanField(
        default=True, help_text="Whether the answer lacks something; else this is a text that does not belong to it."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item", "criterion"], name="one_draft_per_question")
        ]

    def __str__(self) -> str:
        return f"draft on {self.item}"
