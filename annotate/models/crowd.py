"""People from outside: how they come in, who they are to the site they come from, what they are paid.

What names a person stands in rows of its own (`CrowdIdentity`, `ReturnLink`), so that it can be erased while
the labels stay under the pseudonym, which is the person's username and their rater's name.
"""

from __future__ import annotations

import secrets
from copy import copy
from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy, pgettext_lazy

from collection.models import Study, User

A_CODE = RegexValidator(r"\A[A-Za-z0-9_-]+\Z", "A code is made of letters, digits, - and _.")
A_CURRENCY = RegexValidator(r"\A[A-Z]{3}\Z", "Name the currency by its three capital letters: GBP, USD, EUR.")


def new_token() -> str:
    """Return what makes a link unguessable."""
    return secrets.token_urlsafe(16)


class CrowdEntry(models.Model):
    """How people of one crowd site come into a study, and what they get for it.

    `reward` is what the site pays for one session, `floor` what an hour must bring, both in `currency`. A
    session ends after `tasks_per_person` tasks, or when nothing is left for the person.
    """

    class Site(models.TextChoices):
        PROLIFIC = "prolific", "Prolific"
        MTURK = "mturk", "Mechanical Turk"

    class PaidTime(models.TextChoices):
        ELAPSED = "elapsed", "time from arrival to end"
        ACTIVE = "active", "active time in the tasks"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="crowd_entries")
    site = models.CharField(max_length=8, choices=Site)
    token = models.CharField(max_length=32, unique=True, default=new_token, editable=False)
    takes_newcomers = models.BooleanField(
        "Accept new participants", default=True, help_text="People who have started can continue either way."
    )
    most_people = models.PositiveIntegerField(
        "Places at the site",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="At most this many people can join. Those who returned, timed out or were screened out do not count.",
    )
    completion_code = models.CharField(max_length=64, validators=[A_CODE])
    screen_out_code = models.CharField(
        max_length=64,
        blank=True,
        validators=[A_CODE],
        help_text="For people who fail the training, or whom an answer screens out.",
    )
    no_consent_code = models.CharField(
        "Code without consent",
        max_length=64,
        blank=True,
        validators=[A_CODE],
        help_text="For people who do not agree to take part.",
    )
    reward = models.DecimalField(max_digits=8, decimal_places=2, validators=[MinValueValidator(0)])
    currency = models.CharField(max_length=3, default="GBP", validators=[A_CURRENCY])
    floor = models.DecimalField(
        "Floor per hour", max_digits=8, decimal_places=2, validators=[MinValueValidator(0)], default=Decimal("9.00")
    )
    estimated_minutes = models.PositiveSmallIntegerField(validators=[MinValueValidator(1)])
    paid_time = models.CharField(
        "Paid time",
        max_length=7,
        choices=PaidTime,
        default=PaidTime.ELAPSED,
        help_text="The time that the floor applies to.",
    )
    tasks_per_person = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="In one session. Leave empty to end a session when no tasks are left for the person.",
    )
    signed_links = models.BooleanField(
        "Only links signed by Prolific",
        default=False,
        help_text="For a study with a secured URL there. Links with changed ids are rejected.",
    )
    least_judged = models.PositiveSmallIntegerField(
        "Tasks to judge, in percent",
        default=50,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="At least this share of a person’s tasks in the session must be judged, not skipped, for the "
        "completion code. People who did the number of tasks per person get it in any case.",
    )
    too_few_code = models.CharField(
        "Code for too few tasks",
        max_length=64,
        blank=True,
        validators=[A_CODE],
        help_text="For people who skipped more than that.",
    )
    site_study_id = models.CharField(
        max_length=64, blank=True, editable=False, help_text="The study at the site, if it was created from here."
    )
    unattended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Whose token reads statuses and asks for returns without a click.",
    )
    looked_at = models.DateTimeField(null=True, editable=False, help_text="When that was done last.")
    look_failed = models.TextField(blank=True, editable=False, help_text="Why it failed then, if it did.")
    contact = models.EmailField(help_text="The address for questions about the study and personal data.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["study_id", "site"]
        verbose_name_plural = "crowd entries"
        constraints = [models.UniqueConstraint(fields=["study", "site"], name="one_entry_per_site")]

    def __str__(self) -> str:
        return f"{self.get_site_display()} to {self.study}"

    @property
    def planned_hourly_pay(self) -> Decimal:
        """What an hour brings if a session takes the estimated minutes."""
        return self.reward * 60 / self.estimated_minutes


class Invitation(models.Model):
    """A link by which assessors let themselves into a study, until it expires, is used up or is revoked."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    token = models.CharField(max_length=32, unique=True, default=new_token, editable=False)
    note = models.CharField(max_length=100, blank=True, help_text="For you: whom it is for.")
    most_uses = models.PositiveSmallIntegerField("Maximum uses", validators=[MinValueValidator(1)], default=1)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.note or f"invitation to {self.study}"

    def has_expired(self, at: datetime) -> bool:
        return at >= self.expires_at


class Participant(models.Model):
    """A person who came in by an entry or an invitation, under a pseudonym made for this study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="participants")
    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="participant")
    entry = models.ForeignKey(CrowdEntry, null=True, on_delete=models.CASCADE, related_name="participants")
    invitation = models.ForeignKey(Invitation, null=True, on_delete=models.CASCADE, related_name="participants")
    joined_at = models.DateTimeField()

    class Meta:
        ordering = ["joined_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(entry__isnull=True) ^ Q(invitation__isnull=True),
                name="a_participant_comes_by_an_entry_or_an_invitation",
            )
        ]

    def __str__(self) -> str:
        return self.user.username


class CrowdIdentity(models.Model):
    """Who a participant is to the crowd site. Erasing the person deletes this row."""

    participant = models.OneToOneField(Participant, on_delete=models.CASCADE, related_name="identity")
    entry = models.ForeignKey(CrowdEntry, on_delete=models.CASCADE, related_name="identities")
    crowd_id = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "crowd identities"
        constraints = [
            models.UniqueConstraint(fields=["entry", "crowd_id"], name="one_participant_per_crowd_id"),
        ]

    def __str__(self) -> str:
        return f"identity of {self.participant}"


class ReturnLink(models.Model):
    """The personal link by which an invited assessor comes back. Its token is kept as its SHA-256 alone."""

    participant = models.OneToOneField(Participant, on_delete=models.CASCADE, related_name="return_link")
    token_sha256 = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"return link of {self.participant}"


class CrowdSession(models.Model):
    """One visit that the crowd site knows and pays: a submission on Prolific, an assignment on Mechanical Turk.

    `cohort` is the site's name for the batch of places: Prolific's study, Mechanical Turk's HIT.
    """

    TERMS = (
        "reward",
        "currency",
        "floor",
        "estimated_minutes",
        "paid_time",
        "tasks_per_person",
        "least_judged",
    )

    class State(models.TextChoices):
        ACTIVE = "active", pgettext_lazy("state of a session", "working")
        COMPLETED = "completed", pgettext_lazy("state of a session", "completed")
        SCREENED_OUT = "screened_out", gettext_lazy("screened out")
        NO_CONSENT = "no_consent", gettext_lazy("no consent")
        NO_WORK = "no_work", gettext_lazy("no work")
        TOO_FEW = "too_few", gettext_lazy("too few judged")
        RETURNED = "returned", pgettext_lazy("state of a session", "returned")
        TIMED_OUT = "timed_out", gettext_lazy("timed out")

    class Because(models.TextChoices):
        """Why it ended. How it ended follows from that and from what was done: `annotate.sessions.outcomes`."""

        FULL = "full", "all tasks of a session were done"
        NOTHING_LEFT = "nothing_left", "no task was left"
        CLOSED = "closed", "the study was closed"
        REMOVED = "removed", "a researcher removed the person"
        DECLINED = "declined", "the person did not agree, or no longer"
        SCREENED_OUT = "screened_out", "the training, the checks or an answer"
        RETURNED = "returned", "returned at the site"
        TIMED_OUT = "timed_out", "the time ran out, or a later session began"

    entry = models.ForeignKey(CrowdEntry, on_delete=models.CASCADE, related_name="sessions")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="sessions")
    session_id = models.CharField(max_length=64)
    cohort = models.CharField(max_length=64)
    state = models.CharField(max_length=12, choices=State, default=State.ACTIVE)
    site_status = models.CharField(max_length=40, blank=True, help_text="As the site last told it.")
    arrived_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    ended_because = models.CharField(max_length=12, choices=Because, blank=True, editable=False)
    offer = models.JSONField(
        default=dict, encoder=DjangoJSONEncoder, editable=False, help_text="The terms and rules that it began with."
    )
    # The newest of each that was there when it began: what came later holds for later sessions. None: any.
    last_consent = models.PositiveBigIntegerField(null=True, editable=False)
    last_question = models.PositiveBigIntegerField(null=True, editable=False)
    last_check = models.PositiveBigIntegerField(null=True, editable=False)
    last_known_grade = models.PositiveBigIntegerField(null=True, editable=False)
    bonus = models.DecimalField(max_digits=8, decimal_places=2, default=Decimal(0), help_text="Top-ups that were paid.")
    taken_back = models.JSONField(
        null=True, blank=True, help_text="What it was and held before it was returned, so that this can be undone."
    )

    class Meta:
        ordering = ["arrived_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["entry", "session_id"], name="one_session_per_id"),
        ]

    def __str__(self) -> str:
        return f"session {self.pk} of {self.participant}"

    @cached_property
    def terms(self) -> CrowdEntry:
        """The entry with the pay, the time and the tasks that this session began with."""
        entry = copy(self.entry)
        for name, value in self.offer.get("terms", {}).items():
            setattr(entry, name, CrowdEntry._meta.get_field(name).to_python(value))  # type: ignore[union-attr]
        return entry


class Erasure(models.Model):
    """That a person's data were erased: when, by whom and what, under the pseudonym that the labels keep.

    `fingerprint` is a keyed hash of the crowd id. It tells nobody who it was, and keeps the same person
    from judging the same things again under a new pseudonym.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="erasures")
    pseudonym = models.CharField(max_length=150)
    what = models.JSONField(default=list)
    fingerprint = models.CharField(max_length=64, blank=True)
    erased_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    erased_at = models.DateTimeField()

    class Meta:
        ordering = ["-erased_at", "-pk"]
        indexes = [models.Index(fields=["study", "fingerprint"], name="erasure_fingerprint")]

    def __str__(self) -> str:
        return f"{self.pseudonym}, erased at {self.erased_at}"
