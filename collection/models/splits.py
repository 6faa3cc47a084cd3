"""A study's topics in two parts: one to tune prompts on, one that is locked."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from collection.models.people import Rater
from collection.models.studies import Study
from collection.models.texts import Topic


class Split(models.Model):
    """That a study's topics are split. It is made once: tuning on a part that changes is tuning on all.

    Whole topics go to one part, so that nothing of a topic that a prompt was tuned on is in the test.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="split")
    test_share = models.FloatField(help_text="The share of topics in the test part, in (0, 1).")
    seed = models.CharField(max_length=32)
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(test_share__gt=0, test_share__lt=1), name="a_test_share_is_in_0_1")
        ]

    def __str__(self) -> str:
        return f"split of {self.study}"


class SplitTopic(models.Model):
    """The part that a topic belongs to."""

    class Part(models.TextChoices):
        DEVELOPMENT = "dev", "development"
        TEST = "test", "test"

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="topics")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    part = models.CharField(max_length=4, choices=Part)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["split", "topic"], name="a_topic_is_in_one_part")]

    def __str__(self) -> str:
        return f"{self.topic}: {self.part}"


class TestReading(models.Model):
    """That somebody read a judge's figures on the test part. The more readings, the less the test is one."""

    __test__ = False

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="readings")
    judge = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="+")
    read_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    read_at = models.DateTimeField()

    class Meta:
        ordering = ["read_at"]

    def __str__(self) -> str:
        return f"{self.judge} on the test part of {self.split.study}"
