"""A report: what a study's judgments say to one question, declared once.

Of a declaration come the page with its form, the tables as CSV and LaTeX, all of it as JSON, the charts, the view of
the API and the command (`report_views`, `api`, `report_commands`); a worker computes its result, which is kept
as long as what it rests on (`cached_results`). Declarations stand in the modules `reports` of the rooms.

A result says its `answer` in a sentence or several, has `as_dict()` for JSON and `tables()` by name, and may say that
some grades are `simulated`, and `whose` it is: a judge's. Over how many topics it is, the estimates of its tables say;
a result without estimates may (`n_topics`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from django.http import HttpRequest, QueryDict
from django.utils.timezone import now
from rest_framework import serializers

from collection.models import Criterion, Study, User
from collection.web.cached_results import cached_result, compute_now, imported
from collection.web.charts.drawing import drawn
from collection.web.file_names import file_stem
from collection.web.options import Choices, Options, OptionsForm
from collection.web.sent_files import Files
from collection.web.tables import Table
from stats.plurals import counted
from stats.refusals import Refused

APPS = ("annotate", "judging", "evaluation")


class Result(Protocol):
    """What a report's computation returns."""

    @property
    def answer(self) -> str | list[str]: ...

    def as_dict(self) -> dict[str, Any]: ...

    def tables(self) -> Mapping[str, Table]: ...


class NothingToReport(Refused):
    """The study has nothing yet that the report is of; a page says so in its place, files are not found."""


class NoOptions(serializers.Serializer[Any]):
    """Nothing is asked for."""


class Chart(NamedTuple):
    """A chart of a result: the function that describes it, of the result and of `asks`; its address; its file's name.

    It returns the Vega-Lite description, or None where there is nothing to draw.
    """

    describe: str
    asks: tuple[str, ...] = ()
    stem: str | None = None


class Sent(NamedTuple):
    """What a POST to a report's page, or to its view of the API, does with the result.

    `options`: what is sent, the report's options and more; the page's form asks for `shown`, what its address says are
    the options. `do`: the function, `module:name`, of the result, `by`, `at` and what is sent beyond the options; it
    returns a sentence for the page, and what the API answers. `name`, `about`: of the operation in the API.
    """

    name: str
    about: str
    options: Options
    shown: tuple[str, ...]
    do: str


class Report:
    """A declaration.

    - `name`: of page and view of the API; `command`: the one that is made of it, as `board divergence`; `title`,
      `lead`: what its page begins with; `about`: what it shows, for API and command;
      `path`: its address behind the study's, `api_path` that in the API where it differs; `file`:
      the name of its JSON;
    - `options`: what may be asked; `shown`: those in the page's form, the others stay as the address has them;
      `addressed`: those that stand in `path`, and are a command's first arguments;
    - `compute`: the function that makes the result, `module:name`, of a study, or a criterion where `of_criterion`, and
      of the options by name. It is imported where it is called: it may take pandas and scipy;
    - `offers`: the function of the same that returns by option what the page offers for it;
    - `nothing`: what is said without a result;
    - `template`: of its page; without one it has no page and no files;
    - `sent`: what can be done with the result;
    - `files`: those that are sent with the options: `compute` then takes their names and paths, too, and the result is
      on the page alone.
    """

    name: ClassVar[str]
    app: ClassVar[str] = "evaluation"
    command: ClassVar[str] = ""
    title: ClassVar[str]
    lead: ClassVar[str] = ""
    about: ClassVar[str]
    path: ClassVar[str]
    api_path: ClassVar[str] = ""
    options: ClassVar[Options] = NoOptions
    shown: ClassVar[tuple[str, ...]] = ()
    addressed: ClassVar[tuple[str, ...]] = ()
    of_criterion: ClassVar[bool] = False
    compute: ClassVar[str]
    offers: ClassVar[str] = ""
    nothing: ClassVar[str] = "Nothing is judged yet."
    sent: ClassVar[Sent | None] = None
    files: ClassVar[Files | None] = None
    charts: ClassVar[Mapping[str, Chart]] = {}
    template: ClassVar[str] = ""
    file: ClassVar[str]

    # --- What may differ ------------------------------------------------------------------------------

    def asked_in(self, query: QueryDict) -> dict[str, Any]:
        """Return what an address asks, by option; what is empty asks nothing."""
        asked: dict[str, Any] = {}
        for name, field in self.options().fields.items():
            values = [value for value in query.getlist(name) if value]
            match field:
                case _ if not values:
                    continue
                case serializers.ListField(child=serializers.IntegerField()):
                    asked[name] = " ".join(values).replace(",", " ").split()
                case serializers.ListField():
                    asked[name] = values
                case _:
                    asked[name] = values[-1]
        return asked

    def defaults(self, study: Study) -> dict[str, Any]:
        """Return what a page asks where its address does not, by option."""
        del study
        return {}

    def as_dict(self, result: Any) -> dict[str, Any]:
        """Return everything, as JSON has it."""
        found: dict[str, Any] = result.as_dict()
        return found

    def tables(self, result: Any) -> Mapping[str, Table]:
        """Return the tables by name."""
        found: Mapping[str, Table] = result.tables()
        return found

    def choices(self, result: Any) -> dict[str, Choices]:
        """Return by option what the page offers for it, as far as the result says it."""
        del result
        return {}

    def missing(self, result: Any) -> str:
        """Say why there is nothing to show; empty where there is."""
        return self.nothing if result is None else ""

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        """Return what its template needs beside the result."""
        del request, study, result
        return {}

    def stem(self, subject: Study | Criterion, result: Any, *what: str) -> str:
        """Return a file's name without its ending."""
        names = (subject.study.name, subject.name) if isinstance(subject, Criterion) else (subject.name,)
        order: Any = getattr(result, "order", "score")
        return file_stem(*names, getattr(result, "whose", ""), *what, part=self.part(result), order=order)

    def chart_words(self, chosen: Mapping[str, Any]) -> list[str]:
        """Return what a chart's file name says of what was chosen."""
        judge = chosen.get("judge")
        return [*([judge] if isinstance(judge, str) else []), *(["test"] if chosen.get("part") == "test" else [])]

    def caption(self, subject: Study | Criterion, result: Any, table: Table) -> str:
        """Return what a table's LaTeX is headed with."""
        whose = getattr(result, "whose", "")
        of = f" of {whose}" if whose else ""
        under = f"{of} under {subject}" if isinstance(subject, Criterion) else of
        study = subject.study if isinstance(subject, Criterion) else subject
        part = self.narrowing(result)
        simulated = ", some grades simulated" if getattr(result, "simulated", False) else ""
        own = getattr(result, "n_topics", None)
        n_topics = sorted(table.n_topics or ({own} if isinstance(own, int) else set()))
        fewest = f"{n_topics[0]:,} to " if len(n_topics) > 1 else ""
        over = f", {fewest}{counted(n_topics[-1], 'topics')}" if n_topics else ""
        return f"{self.title}: {table.title}{under}, study {study.name}{over}{part}{simulated}"

    def narrowing(self, result: Any) -> str:
        """Say, behind a comma, of what part a result is; empty where it is of all."""
        del result
        return ""

    def part(self, result: Any) -> Literal["all", "development", "test"]:
        """Return of which part of a split study a result is."""
        del result
        return "all"

    def shared_context(self, result: Any) -> dict[str, Any]:
        """Return what the templates of an app's reports all need."""
        del result
        return {}

    def notes(self, result: Any) -> list[str]:
        """Return what a command prints between the answer and the tables."""
        del result
        return []

    def read_test_part(self, subject: Study | Criterion, chosen: Mapping[str, Any]) -> None:
        """Note that a command with `--test` reads the test part of the judges that it is about to show.

        By default nothing: only the judges that were unlocked before are shown.
        """

    # --- What is the same -----------------------------------------------------------------------------

    def form(self, asked: Mapping[str, Any], offered: Mapping[str, Choices]) -> OptionsForm:
        """Return the page's form with what is asked; not with an option of which there is nothing to choose."""
        kind = form_kind(self.options, tuple(name for name in self.shown if offered.get(name, True)))
        data = QueryDict(mutable=True)
        for name, value in {**kind.usual(), **asked}.items():
            data.setlist(name, value if isinstance(value, list) else [value])
        choices = {
            name: [*of, *((one, one) for one in data.getlist(name) if one and one not in dict(of))]
            for name, of in offered.items()
            if of
        }
        form: OptionsForm = kind(data, choices=choices)
        return form

    def of_files(self, subject: Study | Criterion, files: Sequence[tuple[str, Path]], chosen: Mapping[str, Any]) -> Any:
        """Compute the result of files, by name. Raises what refuses them."""
        return imported(self.compute)(subject, files, **chosen)

    def result(self, subject: Study | Criterion, chosen: Mapping[str, Any], **how: Any) -> Any:
        """Return the result that is kept, or have it computed; `how`: for whom, as `cached_result` has it."""
        return cached_result(COMPUTE, _study(subject), **how, **self._key(subject), **chosen)

    def send(self, subject: Study | Criterion, chosen: Mapping[str, Any], *, by: User) -> tuple[str, dict[str, Any]]:
        """Do what is declared of POST with the result, computed now unless it is kept. Raises what refuses it."""
        assert self.sent is not None
        own = set(self.options().get_fields())
        options = {name: value for name, value in chosen.items() if name in own}
        more = {name: value for name, value in chosen.items() if name not in own}
        result = compute_now(COMPUTE, _study(subject), **self._key(subject), **options)
        if missing := self.missing(result):
            raise NothingToReport(missing)
        done: tuple[str, dict[str, Any]] = imported(self.sent.do)(result, by=by, at=now(), **more)
        return done

    def offered(self, subject: Study | Criterion, **how: Any) -> dict[str, Choices]:
        """Return what the page offers, by option."""
        if not self.offers:
            return {}
        offered: dict[str, Choices] = cached_result(OFFER, _study(subject), **how, **self._key(subject))
        return offered

    def chart(
        self, subject: Study | Criterion, chosen: Mapping[str, Any], chart: str, of: Mapping[str, str], **how: Any
    ) -> Any:
        """Return a chart in its forms; None where there is nothing to draw."""
        asked = {**self._key(subject), "chart": chart, "of": dict(of), "chosen": dict(chosen)}
        return cached_result(DRAW, _study(subject), **how, **asked)

    def computed(self, subject: Study | Criterion, chosen: Mapping[str, Any]) -> Any:
        """Compute the result here and now, with all that pages read of it."""
        result = imported(self.compute)(subject, **chosen)
        if result is not None:
            self.as_dict(result), self.tables(result), result.answer
        return result

    def _key(self, subject: Study | Criterion) -> dict[str, Any]:
        return {"report": self.name, "subject": subject.pk if isinstance(subject, Criterion) else None}


def form_kind(options: Options, shown: tuple[str, ...], of: type[OptionsForm] = OptionsForm) -> type[Any]:
    """Return the form that asks for some of the options."""
    return type("Form", (of,), {"options": options, "asked": shown})


# --- The registry ---------------------------------------------------------------------------------


@cache
def reports() -> dict[str, Report]:
    """Return all reports by name: every subclass in a module `reports` of a room."""
    for app in APPS:
        for folder in import_module(app).__path__:
            for path in sorted(Path(folder).rglob("reports.py")):
                import_module(".".join([app, *path.relative_to(folder).with_suffix("").parts]))
    return {kind.name: kind() for kind in _kinds(Report)}


def import_computations() -> None:
    """Import what computes reports and draws their charts, before a server or a worker takes its first request."""
    for report in reports().values():
        for name in (
            report.compute,
            *filter(None, [report.offers]),
            *(chart.describe for chart in report.charts.values()),
        ):
            imported(name)


def _kinds(kind: type[Report]) -> Iterator[type[Report]]:
    for one in kind.__subclasses__():
        yield from _kinds(one)
        if "name" in vars(one):
            yield one


# --- In the worker --------------------------------------------------------------------------------

COMPUTE = "collection.web.reports:compute"
OFFER = "collection.web.reports:offer"
DRAW = "collection.web.reports:draw"


def compute(study: Study, *, report: str, subject: int | None, **chosen: Any) -> Any:
    return reports()[report].computed(_subject(study, subject), chosen)


def offer(study: Study, *, report: str, subject: int | None) -> dict[str, Choices]:
    offered: dict[str, Choices] = imported(reports()[report].offers)(_subject(study, subject))
    return offered


def draw(
    study: Study, *, report: str, subject: int | None, chart: str, of: dict[str, str], chosen: dict[str, Any]
) -> dict[str, Any] | None:
    result = compute_now(COMPUTE, study, report=report, subject=subject, **chosen)
    declared = reports()[report]
    if declared.missing(result):
        return None
    description = imported(declared.charts[chart].describe)(result, **of)
    return drawn(description) if description else None


def _subject(study: Study, criterion: int | None) -> Study | Criterion:
    if criterion is None:
        return study
    return study.criteria.select_related("study__collection", "scale").get(pk=criterion)


def _study(subject: Study | Criterion) -> Study:
    return subject.study if isinstance(subject, Criterion) else subject
