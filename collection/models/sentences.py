"""Reports as sentences with citations: rows beside the report's text, which stays as it is."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from collection.models.texts import Report


class ReportSentence(models.Model):
    """A sentence of a report: where it stands in the report's text, in code points, end-exclusive."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="sentences")
    position = models.PositiveIntegerField(help_text="Counted from 0 within the report.")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    splitter = models.CharField(
        max_length=50, blank=True, help_text="The rule that found it; empty where the report came in as sentences."
    )
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["report_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["report", "position"], name="one_sentence_per_position"),
            models.CheckConstraint(condition=Q(start__lte=F("end")), name="a_sentence_ends_behind_its_start"),
        ]

    def __str__(self) -> str:
        return f"sentence {self.position + 1} of {self.report_id}"

    @property
    def text(self) -> str:
        return self.report.text[self.start : self.end]


class Citation(models.Model):
    """A document that a sentence cites, the strongest first. It is named by docno: its text may not be held here."""

    sentence = models.ForeignKey(ReportSentence, on_delete=models.CASCADE, related_name="citations")
    position = models.PositiveIntegerField(help_text="Counted from 0 within the sentence.")
    passage_id = models.CharField(max_length=300)
    weight = models.FloatField(null=True, help_text="As given; RAGTIME's are 0 to 100.")
    place = models.PositiveIntegerField(
        null=True, help_text="In the report's references, where its file named the document so; counted from 0."
    )

    class Meta:
        ordering = ["sentence_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["sentence", "position"], name="one_citation_per_position"),
            models.UniqueConstraint(fields=["sentence", "passage_id"], name="a_sentence_cites_a_document_once"),
        ]

    def __str__(self) -> str:
        return self.passage_id
