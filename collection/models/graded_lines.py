"""What graded files of the RUBRIC workbench say besides what the tables hold, so that they can go out again."""

from __future__ import annotations

from django.db import models

from collection.models.people import Rater
from collection.models.studies import Study
from collection.models.texts import Topic


class GradedLine(models.Model):
    """A topic's line of a graded file that came into a study, without the texts of its passages.

    `frame` is packed as `collection.formats.rubric_frames` writes it; `exact` says whether the line can be written
    again byte for byte. `people` is whose the relevance in it became; empty where it was not taken.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="graded_lines")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    file_name = models.CharField(max_length=255)
    people = models.ForeignKey(Rater, null=True, on_delete=models.SET_NULL, related_name="+")
    exact = models.BooleanField()
    frame = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "file_name", "topic"], name="one_graded_line_per_file_and_topic")
        ]

    def __str__(self) -> str:
        return f"{self.topic} in {self.file_name}"
