"""Where a package of an extra is not installed, what needs it says so, and everything else works."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

import pytest

from collection.exporting.judgments import exported_parquet
from collection.extras import EXTRAS, missing, missing_for
from collection.finished_files import ExportFailed, finished
from collection.web import cached_results
from tests.factories import a_collection, a_study, a_user


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A package that cannot be imported during the test."""
    package: str = request.param
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    find = PathFinder.find_spec
    monkeypatch.setattr(
        PathFinder, "find_spec", lambda name, *where: None if name.split(".")[0] == package else find(name, *where)
    )
    return package


@pytest.mark.parametrize("without", EXTRAS, indirect=True)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(without: str) -> None:
    with pytest.raises(ModuleNotFoundError) as failure:
        __import__(without)

    assert missing_for(failure.value) == missing(without)
    assert f"pip install 'assize-site[{EXTRAS[without]}]'" in missing(without)


@pytest.mark.parametrize("without", ["pyarrow"], indirect=True)
@pytest.mark.django_db
def test_a_file_that_needs_one_is_refused_with_the_reason(without: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = a_study(a_collection(owner=a_user("rosa", is_researcher=True)))
    monkeypatch.delitem(sys.modules, "collection.exporting.judgments_parquet", raising=False)

    with pytest.raises(ExportFailed, match=r"assize-site\[parquet\]"):
        finished(exported_parquet(study))


@pytest.mark.parametrize("without", ["altair", "vl_convert"], indirect=True)
@pytest.mark.django_db
def test_a_chart_that_needs_one_is_not_computed_for_this_reason(without: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = a_study(a_collection(owner=a_user("rosa", is_researcher=True)))
    monkeypatch.setattr(cached_results, "imported", lambda _: lambda _: __import__(without))

    with pytest.raises(cached_results.NotComputed, match=r"assize-site\[charts\]"):
        cached_results.compute_now("a chart", study)


def test_nothing_is_said_of_what_is_installed_or_another_fault() -> None:
    assert [missing(package) for package in EXTRAS] == [""] * len(EXTRAS)
    assert missing_for(ModuleNotFoundError(name="annotat")) == ""
    assert missing_for(ValueError("altair")) == ""
