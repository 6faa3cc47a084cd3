"""Every page and JSON answer about judges, for judges however they came: none of them may fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.resolvers import RoutePattern
from django.utils.timezone import now

from collection.models import Criterion, Judgment, Rater, Study, User
from judging.judges.combining import combine
from judging.judges.ensembles import make_ensemble
from judging.judges.registry import load_shipped, make_judge
from judging.models import Judge, PromptTemplate
from tests.attacks.mutations import FULL
from tests.factories import rater_of
from tests.judging.world import a_job, criterion_of, with_items, work_through

pytestmark = pytest.mark.django_db
CRITERION = "answerability"


def grade_everything(study: Study, rater: Rater) -> None:
    """Grade all items of the criterion, where the rater has not."""
    if rater.judgments.filter(item__study=study).exists():
        return
    criterion = criterion_of(study, CRITERION)
    for number, item in enumerate(study.items.filter(task_type=criterion.task_type).order_by("pk")):
        Judgment.objects.create(item=item, criterion=criterion, rater=rater, grade=number % 2, judged_at=now())


def by_the_api(study: Study, tmp_path: Path) -> str:
    """Rows that name a judge."""
    client = Client()
    client.force_login(study.collection.owner)
    items = study.items.filter(task_type="answerability").values_list("item_id", flat=True)
    rows = [
        {"item_id": item, "criterion": CRITERION, "grade": 1, "rater": "by-api", "rater_kind": "judge"}
        for item in items
    ]
    response = client.post(f"/api/v1/studies/{study.name}/judgments/", rows, content_type="application/json")
    assert response.status_code == 200, response.content
    return "by-api"


def by_a_table(study: Study, tmp_path: Path, origin: str = "imported") -> str:
    """A judgments table as this site exports it."""
    table = tmp_path / f"{origin}.jsonl"
    items = study.items.filter(task_type="answerability").values_list("item_id", flat=True)
    rows = [
        {"item_id": item, "criterion": CRITERION, "rater": origin, "rater_kind": "judge", "grade": 0,
         "rater_origin": origin}
        for item in items
    ]  # fmt: skip
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call_command("import_judgments", str(table), study=study.name, quiet=True, verbosity=0)
    return origin


def by_simulation(study: Study, tmp_path: Path) -> str:
    return by_a_table(study, tmp_path, "simulated")


def by_counting_words(study: Study, tmp_path: Path) -> str:
    graded = Rater.objects.filter(judge__engine=Judge.Engine.LEXICAL, judgments__item__study=study).first()
    return graded.name if graded else work_through(a_job(study, CRITERION)).judge.name


def by_a_model(study: Study, tmp_path: Path, engine: str = Judge.Engine.OPENAI) -> str:
    """A judge of this engine, with grades that stand for its own."""
    criterion = criterion_of(study, CRITERION)
    measures = engine == Judge.Engine.EMBEDDED
    judge, _ = make_judge(
        engine=engine,
        task_type=criterion.task_type,
        criterion_name=criterion.name,
        scale=criterion.scale,
        model="" if measures else "llama",
        template=None if measures else PromptTemplate.objects.filter(name="answerability").first(),
    )
    grade_everything(study, judge.rater)
    return judge.name


def by_vllm(study: Study, tmp_path: Path) -> str:
    return by_a_model(study, tmp_path, Judge.Engine.VLLM)


def by_the_embedded_model(study: Study, tmp_path: Path) -> str:
    return by_a_model(study, tmp_path, Judge.Engine.EMBEDDED)


def by_an_ensemble(study: Study, tmp_path: Path) -> str:
    names = [by_counting_words(study, tmp_path), by_a_model(study, tmp_path)]
    ensemble, _ = make_ensemble(list(Judge.objects.filter(name__in=names).select_related("rater")), name="both")
    combine(ensemble=ensemble, criterion=criterion_of(study, CRITERION), by=None, at=now())
    return ensemble.name


WAYS: list[Callable[[Study, Path], str]] = [
    by_the_api, by_a_table, by_simulation, by_counting_words,
    by_a_model, by_vllm, by_the_embedded_model, by_an_ensemble,
]  # fmt: skip


def addresses(
    patterns: list[URLPattern | URLResolver], prefix: str = "", taken: tuple[str, ...] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Every named address with the names of what it takes."""
    for pattern in patterns:
        takes = (*taken, *getattr(pattern.pattern, "converters", ()))
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else prefix
            yield from addresses(pattern.url_patterns, inner, takes)
        elif pattern.name and isinstance(pattern.pattern, RoutePattern):
            yield f"{prefix}{pattern.name}", list(takes)


def pages_about(study: Study, rater: Rater) -> Iterator[str]:
    """Every address of the studies', judges' and evaluation's pages that can be about this judge in this study."""
    criterion = Criterion.objects.get(study=study, name=CRITERION)
    known = {"criterion": criterion.name, "table": "judges", "table_format": "csv"}
    judge = getattr(rater, "judge", None)
    for name, wanted in addresses(get_resolver().url_patterns):
        app = name.split(":")[0]
        if app not in {"judging", "evaluation"}:
            continue
        path = (
            reverse(name, kwargs=kwargs)
            if (kwargs := kwargs_for(name, wanted, study, rater, known)) is not None
            else ""
        )
        if path:
            yield f"{path}?criterion={criterion.name}&judge={judge.name if judge and app == 'judging' else rater.pk}"


def kwargs_for(
    name: str, wanted: list[str], study: Study, rater: Rater, known: dict[str, str]
) -> dict[str, object] | None:
    """What the address takes; None where this judge has no such page."""
    judge = getattr(rater, "judge", None)
    if name.startswith("judging:judge") and wanted:
        return {"name": judge.name} if judge and wanted == ["name"] else None
    values: dict[str, object] = {"name": study.name, **known}
    if name == "judging:imported_judge":
        values["pk"] = rater.pk
    elif name == "evaluation:item":
        values["pk"] = study.items.order_by("pk").values_list("pk", flat=True)[0]
    return {each: values[each] for each in wanted} if set(wanted) <= set(values) else None


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


@pytest.mark.slow
def test_no_page_about_a_judge_fails(study: Study, as_rosa: Client, ada: User, tmp_path: Path) -> None:
    """Every page of one of them by turns, beside all the others; every page of each by night."""
    load_shipped()
    with_items(study)
    grade_everything(study, rater_of(ada))
    names = [come(study, tmp_path) for come in WAYS]
    raters = [Rater.objects.get(name=name, kind=Rater.Kind.JUDGE) for name in names]
    as_rosa.raise_request_exception = False
    paths = [list(pages_about(study, rater)) for rater in raters]
    asked = [path for n, of_one in enumerate(paths) for path in (of_one if FULL else of_one[n :: len(WAYS)])]

    answers = {path: as_rosa.get(path).status_code for path in asked}

    assert min(len(of_one) for of_one in paths) > 30
    assert {path: status for path, status in answers.items() if status >= 500} == {}


@pytest.mark.parametrize("come", WAYS, ids=lambda way: way.__name__)
def test_the_studys_page_of_judges_leads_to_every_judge_that_graded_in_it(
    study: Study, as_rosa: Client, tmp_path: Path, come: Callable[[Study, Path], str]
) -> None:
    load_shipped()
    with_items(study)
    name = come(study, tmp_path)
    rater = Rater.objects.get(name=name, kind=Rater.Kind.JUDGE)
    known_here = hasattr(rater, "judge")

    page = as_rosa.get(reverse("judging:jobs", args=[study.name])).content.decode()

    address = (
        reverse("judging:judge", args=[name])
        if known_here
        else reverse("judging:imported_judge", args=[study.name, rater.pk])
    )
    assert address in page
    assert as_rosa.get(address).status_code == 200
