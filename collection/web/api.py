"""What the views of this app's API share: what was asked for, how it is described, and refusals as 400."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, parser_classes
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import checked, invalid_on, study_of, user_of
from collection.formats.problems import BrokenFile
from collection.models import Criterion, Study
from collection.web.cached_results import cached_result
from collection.web.options import REFUSALS, Options
from collection.web.reports import NothingToReport, Report, Sent, reports
from collection.web.sent_files import paths_of

CRITERION = OpenApiParameter("criterion", str, required=True, description="The criterion's name in the study.")

View = Callable[..., HttpResponse]


def answers(*methods: str) -> Callable[[View], View]:
    """Make a function a view of the API that answers 400 with the reason where a service refuses what was asked."""

    def decorate(view: View) -> View:
        @wraps(view)
        def refusing(*args: Any, **kwargs: Any) -> HttpResponse:
            try:
                return view(*args, **kwargs)
            except REFUSALS as refused:
                raise ValidationError(str(refused)) from refused

        return api_view(methods)(refusing)

    return decorate


def shows(
    operation: str,
    description: str,
    *asked: OpenApiParameter | Options,
    responses: Any = OpenApiTypes.OBJECT,
    sent: Sent | None = None,
) -> Callable[[View], View]:
    """Make a function a view that is read by GET, described with what may be asked of it, and by POST what is sent."""

    def decorate(view: View) -> View:
        found = answers("GET", *(["POST"] if sent else []))(view)
        if sent:
            found = extend_schema(
                operation_id=f"{operation}_{sent.name}",
                methods=["POST"],
                description=sent.about,
                request=sent.options,
                responses=responses,
            )(found)
        described: Callable[[View], View] = extend_schema(
            operation_id=operation,
            methods=["GET"],
            description=description,
            parameters=list(asked),
            responses=responses,
        )
        return described(found)

    return decorate


def figures_of(request: Request, kind: str, study: Study, **asked: Any) -> Any:
    """Return these figures of a study that the user may see; see `cached_result`."""
    return cached_result(kind, study, shown=request.query_params.getlist("shown"), **asked)


def chosen_by(request: Request, form: type[serializers.Serializer[Any]], **addressed: str) -> dict[str, Any]:
    """Return what the request chooses, in its address or, where it changes something, in its body."""
    data: Any = request.data if request.method == "POST" else request.query_params
    if addressed:
        data = data.copy()
        data.update(addressed)
    return dict(checked(form(data=data)))


def criterion_of(request: Request, name: str) -> Criterion:
    """Return the criterion that is asked for, of a study of this user's."""
    study = study_of(request, name)
    asked: Any = request.data if request.method == "POST" else request.query_params
    wanted = asked.get("criterion") if hasattr(asked, "get") else None
    if not wanted:
        listed = ", ".join(study.criteria.values_list("name", flat=True))
        raise ValidationError({"criterion": [f"Name one of the study’s criteria: {listed}."]})
    return get_object_or_404(study.criteria.select_related("study__collection", "scale"), name=wanted)


# --- Reports -------------------------------------------------------------------------------------


def report_api_paths(app: str) -> list[URLPattern]:
    """Return the addresses of an app's reports in the API."""
    return [
        path(
            f"studies/<slug:name>/{report.api_path or report.path}/",
            (_files_view if report.files else _view)(report),
            name=f"study_{report.name}",
        )
        for report in reports().values()
        if report.app == app
    ]


def _view(report: Report) -> View:
    def view(request: Request, name: str, **addressed: str) -> HttpResponse:
        subject = criterion_of(request, name) if report.of_criterion else study_of(request, name)
        if report.sent and request.method == "POST":
            return Response(report.send(subject, chosen_by(request, report.sent.options), by=user_of(request))[1])
        chosen = chosen_by(request, report.options, **addressed)
        result = report.result(subject, chosen, shown=request.query_params.getlist("shown"))
        if missing := report.missing(result):
            raise NothingToReport(missing)
        return Response(report.as_dict(result))

    view.__name__, view.__module__ = report.name, type(report).__module__
    # What has no fields is described by nothing.
    asked: list[OpenApiParameter | Options] = [CRITERION] if report.of_criterion else []
    asked += [report.options] if report.options().fields else []
    return shows(f"studies_{report.name}", report.about, *asked, sent=report.sent)(view)


def _files_view(report: Report) -> View:
    """Return the view to which a report's files are sent."""
    sent: dict[str, Any] = {
        "file": serializers.ListField(child=serializers.FileField(), allow_empty=False, max_length=50)
    }
    if report.of_criterion:
        sent["criterion"] = serializers.CharField(max_length=100, help_text="The criterion’s name in the study.")
    name = f"{report.options.__name__.removesuffix('Choice')}Files"
    form = type(name, (report.options,), {"__doc__": report.options.__doc__, **sent})

    def view(request: Request, name: str) -> HttpResponse:
        subject = criterion_of(request, name) if report.of_criterion else study_of(request, name)
        chosen = {name: value for name, value in checked(form(data=request.data)).items() if name != "criterion"}
        with invalid_on(BrokenFile, field="file"), paths_of(chosen.pop("file"), command=report.name) as paths:
            return Response(report.as_dict(report.of_files(subject, paths, chosen)))

    view.__name__, view.__module__ = report.name, type(report).__module__
    described: Callable[[View], View] = extend_schema(
        operation_id=f"studies_{report.name}",
        description=report.about,
        request={"multipart/form-data": form},
        responses=OpenApiTypes.OBJECT,
    )
    return described(answers("POST")(parser_classes([MultiPartParser])(view)))
