"""Every report keeps what its declaration promises, at every door; one loop over the registry for each rule."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import get_template
from django.test import Client
from django.urls import reverse

from collection.models import Study, User
from collection.web.cached_results import imported
from collection.web.reports import Report, reports

REPORTS = list(reports().values())
ADDRESSED = {"figure": "answerability"}


def named(report: Report) -> str:
    return report.name


def addresses(report: Report, study: Study) -> dict[str, str]:
    name = f"{report.app}:{report.name}"
    of = [study.name, *(ADDRESSED[one] for one in report.addressed)]
    api = reverse(f"api:study_{report.name}", args=of)
    if not report.template:
        return {"api": api}
    if report.files:
        return {"page": reverse(name, args=of)}
    return {
        "page": reverse(name, args=of),
        "json": reverse(f"{name}_json", args=of),
        "csv": reverse(f"{name}_table", args=[*of, "none", "csv"]),
        "api": api,
        **{chart: reverse(f"{name}_{chart}_svg", args=of) for chart in report.charts},
    }


@pytest.mark.parametrize("report", REPORTS, ids=named)
def test_what_a_declaration_names_can_be_imported(report: Report) -> None:
    functions = [report.compute, *filter(None, [report.offers]), *(one.describe for one in report.charts.values())]

    assert all(callable(imported(name)) for name in functions)
    assert not report.template or get_template(report.template)
    assert set(report.shown) <= set(report.options().fields)
    assert all([report.title, report.about])


@pytest.mark.parametrize("report", REPORTS, ids=named)
def test_strangers_and_assessors_find_nothing_at_any_door(
    report: Report, judged: Study, mallory: User, ada: User, client: Client
) -> None:
    for user in (mallory, ada):
        client.force_login(user)
        found = {door: client.get(address).status_code for door, address in addresses(report, judged).items()}
        assert set(found.values()) == {404}, (user, found)


@pytest.mark.parametrize("report", REPORTS, ids=named)
def test_a_study_without_judgments_has_a_page_and_no_files(
    report: Report, study: Study, rosa: User, client: Client
) -> None:
    client.force_login(rosa)
    at = addresses(report, study)
    query = {"criterion": study.criteria.first().name} if report.of_criterion else {}  # type: ignore[union-attr]

    answers: dict[str, Any] = {door: client.get(address, query) for door, address in at.items()}

    if report.files:
        assert answers["page"].status_code == 200
        return
    assert answers["api"].status_code in (200, 400)
    if report.template:
        required = any(field.required for field in report.options().fields.values())
        is_answered = not required or "defaults" in vars(type(report))
        assert answers["page"].status_code == (200 if is_answered else 422)
        assert {answers[door].status_code for door in ("csv", *report.charts)} == {404}
