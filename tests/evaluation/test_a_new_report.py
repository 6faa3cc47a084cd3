"""A report is three files at most: its page, files, view of the API with its description, and command come of them."""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import clear_url_caches

import evaluation
from collection.models import Study, User
from collection.web.reports import reports

FILES = {
    "reports.py": """
from rest_framework import serializers
from evaluation.data.study_reports import StudyReport

class LongestChoice(serializers.Serializer):
    most = serializers.IntegerField(default=2, min_value=1, label="At most")

class LongestReport(StudyReport):
    name, path, file = "longest_requests", "longest-requests", "longest"
    title = lead = about = "Longest requests"
    options, shown = LongestChoice, ("most",)
    compute = "evaluation.longest_requests.lengths:longest_requests"
    template = "collection/report.html"
""",
    "lengths.py": """
from collection.web.tables import Column, Table

class Longest:
    def __init__(self, rows):
        self.rows, self.answer = rows, f"The longest is {rows[0][0]}."

    def as_dict(self):
        return {"topics": dict(self.rows)}

    def tables(self):
        return {"topics": Table.of("Topics", (Column("topic", "Topic"), Column("characters", "Characters")), self.rows)}

def longest_requests(study, *, most):
    rows = [(topic.topic_id, len(topic.request)) for topic in study.collection.topics.all()]
    return Longest(sorted(rows, key=lambda row: -row[1])[:most])
""",
    "command.py": """
from collection.web.report_commands import command_of
from evaluation.longest_requests.reports import LongestReport

Command = command_of(LongestReport)
""",
}
URLS = ("evaluation.urls", "evaluation.api", "config.urls")


def declared_again() -> None:
    """Read the declarations, and the addresses that come of them."""
    reports.cache_clear()
    for name in URLS:
        if name in sys.modules:
            importlib.reload(sys.modules[name])
    clear_url_caches()


@pytest.fixture
def longest_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    room = tmp_path / "longest_requests"
    room.mkdir()
    for name, text in FILES.items():
        (room / name).write_text(text)
    monkeypatch.setattr(evaluation, "__path__", [*evaluation.__path__, str(tmp_path)])
    declared_again()
    yield
    del type(reports()["longest_requests"]).name  # a class without one is not a report
    for name in [one for one in sys.modules if one.startswith("evaluation.longest_requests")]:
        del sys.modules[name]
    monkeypatch.undo()
    declared_again()


@pytest.mark.usefixtures("longest_requests")
def test_page_files_api_description_and_command_come_of_its_declaration(
    study: Study, rosa: User, mallory: User, client: Client
) -> None:
    client.force_login(rosa)
    address = f"/studies/{study.name}/longest-requests/"
    out = io.StringIO()
    command = importlib.import_module("evaluation.longest_requests.command").Command

    page = client.get(address, {"most": 1})
    found = client.get(f"/api/v1/studies/{study.name}/longest-requests/", {"most": 1}).json()
    schema = client.get("/api/schema/", {"format": "json"}).json()
    call_command(command(), study=study.name, most=1, json=True, stdout=out)

    ((topic, length),) = found["topics"].items()
    assert topic in page.content.decode()
    assert page.context["form"]["most"].value() == "1"
    assert client.get(f"{address}topics.csv", {"most": 1}).content.decode() == f"topic,characters\n{topic},{length}\n"
    assert client.get(f"{address}topics.tex").status_code == client.get(f"{address}longest.json").status_code == 200
    assert json.loads(out.getvalue()) == found
    described = schema["paths"]["/api/v1/studies/{name}/longest-requests/"]["get"]
    assert "most" in {one["name"] for one in described["parameters"]}
    assert client.get(address, {"most": 0}).status_code == 422
    client.force_login(mallory)
    assert client.get(address).status_code == 404
