"""The pages and files of reports, all by the same four views; `report_paths` are their addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods, require_safe

from collection.accounts.views import SignedInRequest
from collection.formats.problems import BrokenFile
from collection.models import Criterion, Study
from collection.web.cached_results import state_of
from collection.web.charts.urls import SUFFIXES
from collection.web.computing_views import is_for_an_image
from collection.web.downloads import table_download
from collection.web.options import REFUSALS, OptionsForm, complaints
from collection.web.pages import (
    chart_file,
    chosen_criterion,
    criteria_queryset,
    json_file,
    locked_is_not_found,
    my_study,
    query_without,
)
from collection.web.reports import NothingToReport, Report, form_kind, reports
from collection.web.sent_files import FilesForm, paths_of

View = Callable[..., HttpResponse]


def report_paths(app: str) -> list[URLPattern]:
    """Return the addresses of an app's reports: of page, JSON, charts and tables."""
    return [one for report in reports().values() if report.app == app and report.template for one in _paths(report)]


def _paths(report: Report) -> list[URLPattern]:
    at = f"studies/<slug:name>/{report.path}/"
    views = {what: _named(report, what, view) for what, view in VIEWS.items()}
    if report.files:
        return [path(at, views["page"], name=report.name)]
    return [
        path(at, views["page"], name=report.name),
        path(f"{at}{report.file}.json", views["json"], name=f"{report.name}_json"),
        *(
            path(f"{at}{chart}.{suffix}", views["chart"], {"chart": chart, "form": form}, f"{name}_{form}")
            for chart, name in ((chart, f"{report.name}_{chart}") for chart in report.charts)
            for form, suffix in SUFFIXES.items()
        ),
        path(f"{at}<slug:table>.<slug:table_format>", views["table"], name=f"{report.name}_table"),
    ]


def _named(report: Report, what: str, view: Callable[..., HttpResponse]) -> View:
    """Return the view of one report, under its name, by which a trace leads to the declaration."""

    def of_report(request: SignedInRequest, name: str, **parts: str) -> HttpResponse:
        return view(report, request, name, **{one: of for one, of in parts.items() if one not in report.addressed})

    of_report.__name__ = report.name if what == "page" else f"{report.name}_{what}"
    of_report.__module__ = type(report).__module__
    of_report.__doc__ = report.about
    of_report.report = report  # type: ignore[attr-defined]
    sends = what == "page" and (report.sent or report.files)
    return (require_http_methods(["GET", "HEAD", "POST"]) if sends else require_safe)(login_required(of_report))


@dataclass(frozen=True)
class Asked:
    """What an address asks of a report: of a study or criterion, by which options, or why that cannot be."""

    subject: Study | Criterion
    options: dict[str, Any]
    chosen: dict[str, Any]
    errors: dict[str, Any]
    nothing: str = ""

    @property
    def refusal(self) -> str:
        return " ".join(complaints(self.errors))


def _asked(report: Report, request: SignedInRequest, subject: Study | Criterion) -> Asked:
    study = subject.study if isinstance(subject, Criterion) else subject
    try:
        sent = request.POST if report.files and request.method == "POST" else request.GET
        usual = {} if sent is request.POST else report.defaults(study)
        options = {**usual, **report.asked_in(sent), **_addressed(report, request)}
    except NothingToReport as none:
        return Asked(subject, {}, {}, {}, str(none))
    choice = report.options(data=options)
    if not choice.is_valid():
        return Asked(subject, options, {}, dict(choice.errors))
    return Asked(subject, options, dict(choice.validated_data), {})


def _addressed(report: Report, request: HttpRequest) -> dict[str, str]:
    found = request.resolver_match.kwargs if request.resolver_match else {}
    return {name: found[name] for name in report.addressed}


def _result(report: Report, asked: Asked, how: dict[str, Any]) -> Any:
    if asked.nothing:
        raise NothingToReport(asked.nothing)
    return report.result(asked.subject, asked.chosen, **how)


def _how(request: HttpRequest) -> dict[str, Any]:
    return {"shown": request.GET.getlist("shown"), "waits_long": is_for_an_image(request)}


# --- The page -------------------------------------------------------------------------------------


def _page(report: Report, request: SignedInRequest, name: str, **more: Any) -> HttpResponse:
    """Show the report; `more`: a form beside it that was refused. A form with errors makes it a 422."""
    study = my_study(request, name)
    criteria = list(criteria_queryset(study)) if report.of_criterion else []
    named = request.POST.get("criterion") or request.GET.get("criterion")
    criterion = chosen_criterion(criteria, named) if report.of_criterion else None
    subject: Study | Criterion | None = criterion if report.of_criterion else study
    sent_form = _sent_form(report, request)
    if subject and sent_form and request.method == "POST" and (done := _sent(report, request, subject, sent_form)):
        return done

    result, form, refusal, missing = None, None, "", report.nothing
    if subject is not None:
        result, form, refusal, missing = (_of_files if report.files else _of_address)(report, request, subject)
    context = {
        "study": study,
        "criteria": criteria,
        "criterion": criterion,
        "report": report,
        "title": getattr(result, "title", report.title),
        "addressed": _addressed(report, request),
        "form": form,
        "result": result,
        "tables": {} if missing or result is None else report.tables(result),
        "refusal": refusal,
        "missing": missing,
        **report.shared_context(result),
        "answers": [] if missing or result is None else _sentences(result.answer),
        "query": _query(request, criterion, "shown"),
        "query_without_part": _query(request, criterion, "shown", "part"),
        "kept_in_form": _kept_in_form(request, form),
        "sent_form": sent_form,
        **report.context(request, study, result),
        **more,
    }
    wrong = any(isinstance(one, BaseForm) and one.errors for one in context.values())
    status = 422 if refusal or wrong else 200
    return render(request, report.template, context, status=status)


class Shown(NamedTuple):
    """What a page shows: a result, or why there is none; and the form that asks for it."""

    result: Any
    form: OptionsForm | None
    refusal: str
    missing: str


def _of_address(report: Report, request: SignedInRequest, subject: Study | Criterion) -> Shown:
    """Return what is kept, or computed, of what the address asks."""
    result, refusal, nothing, form = None, "", "", None
    asked = _asked(report, request, subject)
    study = subject.study if isinstance(subject, Criterion) else subject
    how = {**_how(request), "fingerprint": state_of(study)}
    try:
        with locked_is_not_found():
            result = _result(report, asked, how) if not asked.errors else None
    except NothingToReport as none:
        nothing = str(none)
    except REFUSALS as refused:
        refusal = str(refused)
    if not asked.nothing:
        offered = {**report.offered(subject, **how), **(report.choices(result) if result else {})}
        form = report.form(asked.options, offered)
        refusal = refusal or _marked(form, asked)
    return Shown(result, form, refusal, "" if refusal else nothing or report.missing(result))


def _of_files(report: Report, request: SignedInRequest, subject: Study | Criterion) -> Shown:
    """Return what files say that are sent; before, the form that asks for them."""
    assert report.files is not None
    asked = _asked(report, request, subject)
    kind = form_kind(report.options, report.shown, FilesForm)
    if request.method != "POST":
        return Shown(None, kind(files=report.files, initial={**kind.usual(), **asked.options}), "", "")
    form = kind(request.POST, request.FILES, files=report.files)
    refusal, result = _marked(form, asked), None
    if form.is_valid() and not refusal:
        try:
            with locked_is_not_found(), paths_of(form.cleaned_data["file"], command=report.name) as paths:
                result = report.of_files(subject, paths, asked.chosen)
        except BrokenFile as broken:
            form.add_error("file", "\n".join(f"{broken.name}: {problem}" for problem in broken.problems))
        except REFUSALS as refused:
            refusal = str(refused)
    return Shown(result, form, refusal, "")


def _sent_form(report: Report, request: SignedInRequest) -> OptionsForm | None:
    if report.sent is None:
        return None
    kind = form_kind(report.sent.options, report.sent.shown)
    form: OptionsForm = kind(request.POST if request.method == "POST" else None, initial=kind.usual())
    return form


def _sent(
    report: Report, request: SignedInRequest, subject: Study | Criterion, form: OptionsForm
) -> HttpResponse | None:
    """Do what is sent, then go back to the page; None where it is refused, with the reason in the form."""
    assert report.sent is not None
    sent = {name: value for name, value in request.POST.items() if value}
    choice = report.sent.options(data={**report.asked_in(request.GET), **sent})
    if not choice.is_valid():
        form.add_error(None, list(complaints(choice.errors)))
        return None
    try:
        with locked_is_not_found():
            said, _ = report.send(subject, choice.validated_data, by=request.user)
    except REFUSALS as refused:
        form.add_error(report.sent.shown[0], str(refused))
        return None
    messages.success(request, said)
    return redirect(request.get_full_path())


def _query(request: HttpRequest, criterion: Criterion | None, *left_out: str) -> str:
    """Return what the address asks, with the criterion that is shown where it names none: files need it."""
    named = urlencode({"criterion": criterion.name}) if criterion else ""
    asked = query_without(request, *left_out, *(["criterion"] if criterion else []))
    return "&".join(filter(None, [named, asked]))


def _marked(form: OptionsForm, asked: Asked) -> str:
    """Put what is wrong with the options beside their fields; return the rest."""
    beside = {name: errors for name, errors in asked.errors.items() if name in form.fields}
    for name, errors in beside.items():
        if name not in form.errors:
            form.add_error(
                name, [str(one) for one in (errors if isinstance(errors, list) else chain(*errors.values()))]
            )
    return " ".join(complaints({name: errors for name, errors in asked.errors.items() if name not in beside}))


def _kept_in_form(request: HttpRequest, form: OptionsForm | None) -> list[tuple[str, str]]:
    """Return what the address asks that the form has no field for, so that sending the form keeps it."""
    left_out = {"shown", *(form.fields if form else ())}
    return [(name, value) for name, values in request.GET.lists() if name not in left_out for value in values]


def _sentences(answer: str | Sequence[str]) -> list[str]:
    return [answer] if isinstance(answer, str) and answer else list(answer)


# --- Files ----------------------------------------------------------------------------------------


def _json(report: Report, request: SignedInRequest, name: str) -> HttpResponse:
    asked, result = _found(report, request, name)
    return json_file(report.as_dict(result), f"{report.stem(asked.subject, result, report.file)}.json")


def _table(report: Report, request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    asked, result = _found(report, request, name)
    found = report.tables(result).get(table)
    if found is None:
        raise Http404("This table does not exist.")
    caption = report.caption(asked.subject, result, found)
    stem = report.stem(asked.subject, result, table)
    return table_download(found, table_format=table_format, stem=stem, caption=caption)


def _chart(report: Report, request: SignedInRequest, name: str, chart: str, form: str) -> HttpResponse:
    asked = _of_file(report, request, name)
    declared = report.charts[chart]
    of = {one: request.GET.get(one, "") for one in declared.asks}
    drawn = _or_not_found(report.chart, asked.subject, asked.chosen, chart, of, **_how(request))
    stem = report.stem(
        asked.subject,
        None,
        *report.chart_words(asked.chosen),
        *of.values(),
        chart if declared.stem is None else declared.stem,
    )
    return chart_file(request, drawn, form=form, stem=stem)


def _of_file(report: Report, request: SignedInRequest, name: str) -> Asked:
    study = my_study(request, name)
    subject: Study | Criterion = study
    if report.of_criterion:
        subject = get_object_or_404(criteria_queryset(study), name=request.GET.get("criterion"))
    asked = _asked(report, request, subject)
    if asked.errors or asked.nothing:
        raise Http404(asked.refusal or asked.nothing)
    return asked


def _found(report: Report, request: SignedInRequest, name: str) -> tuple[Asked, Any]:
    asked = _of_file(report, request, name)
    result = _or_not_found(_result, report, asked, _how(request))
    if missing := report.missing(result):
        raise Http404(missing)
    return asked, result


def _or_not_found(compute: Callable[..., Any], *of: Any, **how: Any) -> Any:
    try:
        return compute(*of, **how)
    except REFUSALS as refused:
        raise Http404(str(refused)) from refused


def page_of(kind: type[Report], request: SignedInRequest, name: str, **more: Any) -> HttpResponse:
    """Show a report's page with what a form beside it was refused for."""
    return _page(reports()[kind.name], request, name, **more)


def result_of(kind: type[Report], request: SignedInRequest, name: str) -> Any:
    """Return the result that an address asks for, for another file of it. Raises Http404."""
    return _found(reports()[kind.name], request, name)[1]


VIEWS: dict[str, Callable[..., HttpResponse]] = {"page": _page, "json": _json, "table": _table, "chart": _chart}
