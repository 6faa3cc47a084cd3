"""What stands between a person and the work, and what tells how well they do it.

Consent, the questionnaire, training and attention checks have tables of their own: nothing that is
answered there is a judgment, so no statistic of a study can take it for one.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models.work import Assignment, Enrolment
from collection.models import Criterion, Item, Study


class QualityRules(models.Model):
    """What a study asks of its people before and beside the work. A study without a row has these defaults."""

    class Consequence(models.TextChoices):
        FLAG = "flag", "only flag the person"
        STOP = "stop", "give the person no more work"

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="quality_rules")
    pass_mark = models.FloatField(default=0.7, help_text="The share of training answers that must be right.")
    attempts = models.PositiveSmallIntegerField(default=2, help_text="How often somebody may try the training.")
    expected_minutes = models.PositiveSmallIntegerField(
        default=10, help_text="How long a participant works in all, as it is announced to them."
    )
    consequence = models.CharField(max_length=4, choices=Consequence, default=Consequence.FLAG)

    class Meta:
        verbose_name_plural = "quality rules"
        constraints = [
            models.CheckConstraint(condition=Q(pass_mark__gte=0, pass_mark__lte=1), name="a_pass_mark_is_a_share"),
            models.CheckConstraint(condition=Q(attempts__gte=1), name="a_training_may_be_tried_once"),
        ]

    def __str__(self) -> str:
        return f"quality rules of {self.study}"


# --- Consent and questionnaire --------------------------------------------------------------------


class ConsentText(models.Model):
    """One version of what a person agrees to before they work. The newest is in force; an empty one asks nothing."""

    class OnWithdrawal(models.TextChoices):
        """What becomes of the labels of somebody who agreed and no longer does."""

        KEEP = "keep", "They are kept, and count."
        EXCLUDE = "exclude", "They are kept, and left out of all statistics and scores."
        TAKE_OUT = "take_out", "They are moved to the history: out of statistics and out of every export."

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="consent_texts")
    version = models.PositiveSmallIntegerField()
    markdown = models.TextField(blank=True)
    on_withdrawal = models.CharField(max_length=8, choices=OnWithdrawal, default=OnWithdrawal.KEEP)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["study_id", "-version"]
        constraints = [models.UniqueConstraint(fields=["study", "version"], name="one_consent_text_per_version")]

    def __str__(self) -> str:
        return f"version {self.version}"


class ConsentAnswer(models.Model):
    """What a person said to a version of the consent text, and when. The last answer counts; all are kept."""

    text = models.ForeignKey(ConsentText, on_delete=models.CASCADE, related_name="answers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="consent_answers")
    agreed = models.BooleanField()
    answered_at = models.DateTimeField()

    class Meta:
        ordering = ["answered_at", "pk"]

    def __str__(self) -> str:
        return f"{self.user} {'agreed' if self.agreed else 'declined'}"


class SurveyQuestion(models.Model):
    """A question of the study's questionnaire. One that was answered is retired, not deleted."""

    class Kind(models.TextChoices):
        TEXT = "text", "text"
        ONE = "one", "single choice"
        MANY = "many", "multiple choice"
        NUMBER = "number", "number"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="survey_questions")
    position = models.PositiveSmallIntegerField()
    text = models.CharField(max_length=500)
    kind = models.CharField(max_length=6, choices=Kind)
    options = models.JSONField(default=list, blank=True)
    screens_out = models.JSONField(
        default=list, blank=True, help_text="Those of the options that end the work before it begins."
    )
    required = models.BooleanField(default=True)
    after = models.PositiveIntegerField(default=0, help_text="Asked after so many submitted tasks; 0: before the work.")
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study_id", "position", "pk"]

    def __str__(self) -> str:
        return self.text


class SurveyReply(models.Model):
    """That a person filled in the questions of one moment: `after` so many tasks. It stays when answers are erased."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="survey_replies")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="survey_replies")
    after = models.PositiveIntegerField(default=0)
    answered_at = models.DateTimeField()
    erased_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user", "after"], name="one_survey_reply_per_person_and_moment")
        ]

    def __str__(self) -> str:
        return f"reply of {self.user}"


class SurveyAnswer(models.Model):
    """What a person answered to one question: personal data, apart from everything else so that it can be erased."""

    question = models.ForeignKey(SurveyQuestion, on_delete=models.CASCADE, related_name="answers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="survey_answers")
    value = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["question", "user"], name="one_survey_answer_per_question")]

    def __str__(self) -> str:
        return f"answer of {self.user}"


# --- Written answers --------------------------------------------------------------------------------


class Pasting(models.Model):
    """How much text from elsewhere was pasted into a written answer, as the browser told. The text is not kept.

    A sign, never proof: dictation and writing aids paste too. It is about the person, and is erased with their data.
    """

    asked = models.OneToOneField("AssignmentItem", on_delete=models.CASCADE, related_name="pasting")
    times = models.PositiveIntegerField()
    characters = models.PositiveIntegerField()
    noted_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"pasting into {self.asked}"


# --- Known grades ---------------------------------------------------------------------------------


class GoldGrade(models.Model):
    """A grade that the researcher knows to be right, for training or as silent gold.

    A judgment is right when it is at most `tolerance` from `grade`. Items for training are shown in the
    training alone; gold items are asked like all others, and their judgments are judgments.
    """

    class Purpose(models.TextChoices):
        TRAINING = "training", "training"
        GOLD = "gold", "silent gold"

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="gold_grades")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="gold_grades")
    purpose = models.CharField(max_length=8, choices=Purpose)
    grade = models.FloatField()
    tolerance = models.FloatField(default=0)
    explanation = models.TextField(blank=True, help_text="Shown after a training answer.")
    marked_at = models.DateTimeField()
    marked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["item_id", "criterion_id"]
        constraints = [
            models.UniqueConstraint(fields=["item", "criterion"], name="one_gold_grade_per_item_and_criterion"),
            models.CheckConstraint(condition=Q(tolerance__gte=0), name="a_tolerance_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.item} / {self.criterion}: {self.grade:g}"

    def accepts(self, grade: float) -> bool:
        """Whether this grade counts as right."""
        return abs(grade - self.grade) <= self.tolerance


class TrainingAttempt(models.Model):
    """A person's go at the training. `passed` is null until it is finished."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="training_attempts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="training_attempts")
    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    passed = models.BooleanField(null=True)
    share_right = models.FloatField(null=True)

    class Meta:
        ordering = ["study_id", "user_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "user", "number"], name="one_training_attempt_per_number"),
            models.UniqueConstraint(
                fields=["study", "user"], condition=Q(finished_at__isnull=True), name="one_training_attempt_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.user}"


class TrainingAnswer(models.Model):
    """What a trainee answered, and whether it was right by the known grade of that moment.

    `grade` is null where another answer of theirs closed the question, so that it was not asked.
    """

    attempt = models.ForeignKey(TrainingAttempt, on_delete=models.CASCADE, related_name="answers")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+")
    grade = models.FloatField(null=True)
    right = models.BooleanField()
    answered_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "item", "criterion"], name="one_training_answer_per_question")
        ]

    def __str__(self) -> str:
        return f"{self.item} / {self.criterion}: {self.grade}"


# --- Attention checks -----------------------------------------------------------------------------


class AttentionCheck(models.Model):
    """A question that says itself which answer to choose, asked once, after `after` submitted tasks.

    It stands apart from the items, so its answers are in no statistic.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="attention_checks")
    after = models.PositiveIntegerField(help_text="After how many submitted tasks it comes.")
    question = models.CharField(max_length=500)
    options = models.JSONField()
    right = models.PositiveSmallIntegerField(help_text="The option that the question asks for, counted from 0.")
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study_id", "after", "pk"]

    def __str__(self) -> str:
        return self.question


class AttentionAnswer(models.Model):
    """What a person chose at an attention check."""

    check_asked = models.ForeignKey(AttentionCheck, on_delete=models.CASCADE, related_name="answers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="attention_answers")
    chosen = models.PositiveSmallIntegerField()
    passed = models.BooleanField()
    answered_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["check_asked", "user"], name="one_answer_per_attention_check")]

    def __str__(self) -> str:
        return f"{self.user}: {'passed' if self.passed else 'failed'}"


# --- The end --------------------------------------------------------------------------------------


class ScreenOutQuerySet(models.QuerySet["ScreenOut"]):
    def in_force(self) -> ScreenOutQuerySet:
        return self.filter(lifted_at=None)


class ScreenOut(models.Model):
    """That a person gets no work in a study any more, and why. The researcher can lift it; labels stay."""

    class Reason(models.TextChoices):
        CONSENT = "consent", "declined consent"
        TRAINING = "training", "did not pass the training"
        ATTENTION = "attention", "failed the attention checks"
        ANSWER = "answer", "gave an answer that the study has no work for"

    enrolment = models.ForeignKey(Enrolment, on_delete=models.CASCADE, related_name="screen_outs")
    reason = models.CharField(max_length=9, choices=Reason)
    question = models.ForeignKey(
        SurveyQuestion, null=True, blank=True, on_delete=models.SET_NULL, related_name="screen_outs",
        help_text="Whose answer it was; empty for other reasons, and once the person's answers are erased.",
    )  # fmt: skip
    screened_at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True, blank=True)

    objects = ScreenOutQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["enrolment"], condition=Q(lifted_at__isnull=True), name="one_screen_out_in_force"
            )
        ]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.get_reason_display()}"


class SpotCheck(models.Model):
    """A submitted assignment that was drawn to be looked over, and what was found.

    It was drawn at random from those that its assessor had submitted, with the probability that stands here.
    """

    class Verdict(models.TextChoices):
        OPEN = "", "not checked yet"
        GOOD = "good", "correct"
        FLAWED = "flawed", "some answers are wrong"
        BAD = "bad", "careless"

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="spot_check")
    inclusion_probability = models.FloatField()
    drawn_at = models.DateTimeField()
    verdict = models.CharField(max_length=6, choices=Verdict, default=Verdict.OPEN, blank=True)
    note = models.TextField(blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["drawn_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="a_spot_checks_probability_is_in_0_1",
            )
        ]

    def __str__(self) -> str:
        return f"spot check of {self.assignment}"
