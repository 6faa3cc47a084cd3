"""The views of the API of reports, all by one function; `report_api_paths` are their addresses."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import URLPattern, path
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import study_of
from collection.web.api import CRITERION, View, chosen_by, criterion_of, shows
from collection.web.reports import NothingToReport, Report, reports


def report_api_paths(app: str) -> list[URLPattern]:
    """Return the addresses of an app's reports in the API."""
    return [
        path(f"studies/<slug:name>/{report.api_path or report.path}/", _view(report), name=f"study_{report.name}")
        for report in reports().values()
        if report.app == app
    ]


def _view(report: Report) -> View:
    def view(request: Request, name: str) -> HttpResponse:
        subject = criterion_of(request, name) if report.of_criterion else study_of(request, name)
        result = report.result(subject, chosen_by(request, report.options), shown=request.query_params.getlist("shown"))
        if missing := report.missing(result):
            raise NothingToReport(missing)
        return Response(report.as_dict(result))

    view.__name__, view.__module__ = report.name, type(report).__module__
    asked = (CRITERION, report.options) if report.of_criterion else (report.options,)
    return shows(f"studies_{report.name}", report.about, *asked)(view)
