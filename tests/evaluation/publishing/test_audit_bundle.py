from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from collection.models import Draw, Exclusion, Item, Rater, Study, TopicDraw, User
from evaluation.agreement.report import measure_criterion
from evaluation.formats.zip_files import ArchiveRefused, archive_bytes, read_archive
from evaluation.publishing.audit_bundle import write_bundle
from evaluation.publishing.qrels import compile_qrels
from stats.audit_verification import verify
from tests.evaluation.crux_data import CRUX, needs_crux
from tests.evaluation.judged import AT, criterion_of, graded_criterion, judge_items, judged_by, passage_items
from tests.factories import a_collection, a_judge_rater, a_study, a_user, rater_of

Files = dict[str, bytes]


def with_ratings(judged: Study, ada: Rater, ben: Rater) -> Study:
    """Beside the yes and no of two people and a judge, ratings, and another judge's grades from 0 to 5."""
    rating = criterion_of(judged, "rating")
    passages = passage_items(judged)
    judge_items(rating, ada, passages, [5, 1, 2, 0])
    judge_items(rating, ben, passages, [3, 1, 2, 4])
    reports = list(Item.objects.filter(study=judged, task_type="answerability").order_by("pk"))
    grader = a_judge_rater(judged.collection, "grading-judge")
    judge_items(graded_criterion(judged), grader, reports, [4, 2, 0, None, 5, 1])
    return judged


@pytest.fixture
def rich(judged: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    return with_ratings(judged, ada_as_rater, ben_as_rater)


@pytest.fixture(scope="module")
def written(for_the_whole_file: None) -> Files:
    """The bundle of such a study, which is gone."""
    with transaction.atomic():
        study = a_study(a_collection(owner=a_user("owner", is_researcher=True)))
        ada, ben = (rater_of(a_user(name)) for name in ("one", "other"))
        files = bundle_of(with_ratings(judged_by(study, ada, ben), ada, ben))
        transaction.set_rollback(True)
    return files


def bundle_of(study: Study, **options: Any) -> Files:
    out = io.BytesIO()
    write_bundle(study, out, **({"at": AT} | options))
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rehashed(files: Files) -> Files:
    """The files with a manifest that fits them, as a careful forger would have it."""
    manifest = json.loads(files["manifest.json"])
    others = {name: content for name, content in files.items() if name != "manifest.json"}
    manifest["files"] = {name: hashlib.sha256(content).hexdigest() for name, content in others.items()}
    return {**others, "manifest.json": json.dumps(manifest).encode()}


def table(files: Files, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name].decode())))


def test_a_bundle_holds(written: Files) -> None:
    verdict = verify(written)

    assert verdict.problems == []
    assert verdict.n_figures > 100


def test_its_figures_are_those_of_the_pages(rich: Study) -> None:
    files = bundle_of(rich, names=True)

    agreement, comparisons = (json.loads(files[f"figures/{name}.json"]) for name in ("agreement", "comparisons"))
    qrels = json.loads(files["figures/qrels.json"])
    for name in ("answerability", "rating"):
        shown = json.loads(json.dumps(measure_criterion(criterion_of(rich, name)).as_dict()))
        compiled = compile_qrels(criterion_of(rich, name), names=True, at=AT)
        assert agreement[name] == shown["agreement"]
        assert comparisons[name] == shown["judges"]
        assert files[f"qrels/{name}.qrels"].decode() == compiled.text
        assert qrels[name]["sha256"] == compiled.provenance["sha256"]["qrels"]
    assert [one["judge"] for one in comparisons["answerability"]] == ["grading-judge", "small-judge"]


def test_excluded_raters_stay_in_the_table_and_out_of_the_figures(rich: Study, ben_as_rater: Rater) -> None:
    Exclusion.objects.create(study=rich, rater=ben_as_rater, reason="Ben clicked through", excluded_at=AT)

    files = bundle_of(rich)

    assert {row["rater"] for row in table(files, "judgments.csv")} >= {"assessor 1", "assessor 2"}
    assert json.loads(files["figures/agreement.json"])["answerability"]["n_raters"] == 1
    assert verify(files).holds
    assert all(b"clicked through" not in content for content in files.values())


def test_the_same_study_gives_the_same_bytes_but_for_the_time(rich: Study) -> None:
    first, second = bundle_of(rich), bundle_of(rich, at=AT + timedelta(days=1))

    manifests = [json.loads(files.pop("manifest.json")) for files in (first, second)]
    described = [json.loads(files.pop("croissant.json")) for files in (first, second)]
    assert first == second
    assert described[1] == described[0] | {"datePublished": (AT + timedelta(days=1)).date().isoformat()}
    assert [manifest.pop("created_at") for manifest in manifests] == [
        "2025-05-03T12:00:00+00:00",
        "2025-05-04T12:00:00+00:00",
    ]
    assert len({manifest["files"].pop("croissant.json") for manifest in manifests}) == 2  # it has the day
    assert manifests[0] == manifests[1]


def test_an_archive_of_the_same_files_is_the_same() -> None:
    assert archive_bytes({"b": b"2", "a": b"1"}) == archive_bytes({"a": b"1", "b": b"2"})


def test_no_person_is_named_unless_that_is_asked_for(rich: Study) -> None:
    without, named = bundle_of(rich), bundle_of(rich, names=True)

    for content in without.values():
        assert b'"ada"' not in content
        assert b",ada," not in content
        assert b"rosa" not in content
    assert {row["rater"] for row in table(without, "judgments.csv")} == {
        "assessor 1",
        "assessor 2",
        "small-judge",
        "grading-judge",
    }
    assert "ada" in {row["rater"] for row in table(named, "judgments.csv")}
    assert verify(named).holds


def test_it_holds_hashes_of_texts_and_no_text(rich: Study) -> None:
    files = bundle_of(rich)

    everything = b"".join(files.values())
    for text in ("Fact 0 of subject", "What is fact", "Report on subject", "says fact"):
        assert text.encode() not in everything
    hashes = {row["item_id"]: row["text_sha256"] for row in table(files, "items.csv")}
    item = Item.objects.filter(study=rich, task_type="rating")[0]
    assert item.passage is not None
    assert hashes[item.item_id] == item.passage.text_sha256


def test_it_holds_guidelines_draws_and_versions(rich: Study) -> None:
    item = Item.objects.filter(study=rich)[0]
    Draw.objects.create(item=item, inclusion_probability=0.25, design="simple", drawn_at=AT)

    TopicDraw.objects.create(
        study=rich, topic=item.topic, inclusion_probability=0.5, design="stratified", stratum="a=b", drawn_at=AT
    )

    files = bundle_of(rich)

    (topic,) = table(files, "topic_draws.csv")
    assert (topic["topic_id"], topic["inclusion_probability"], topic["stratum"]) == (item.topic.topic_id, "0.5", "a=b")
    assert files["guidelines/v1.md"] == b"Read *everything* first."
    (draw,) = table(files, "draws.csv")
    assert (draw["inclusion_probability"], draw["design"]) == ("0.25", "simple")
    environment = json.loads(files["environment.json"])
    assert environment["requirements"]["numpy"]
    assert environment["code"]["assize"]


def test_an_ungraded_reply_is_an_empty_grade_with_its_reason(written: Files) -> None:
    ungraded = [row for row in table(written, "judgments.csv") if row["grade"] == ""]

    assert [row["ungraded"] for row in ungraded] == ["unreadable", "unreadable"]


def test_simulations_are_marked_and_make_no_qrels_unless_asked_for(
    rich: Study, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    Rater.objects.filter(pk__in=[ada_as_rater.pk, ben_as_rater.pk]).update(origin=Rater.Origin.SIMULATED)

    without, asked = bundle_of(rich), bundle_of(rich, with_simulated=True)

    assert not any(name.startswith("qrels/") for name in without)
    assert json.loads(without["figures/qrels.json"])["rating"]["reason"] == "no person has judged under this criterion"
    assert "qrels/rating.qrels" in asked
    assert [one["simulated"] for one in json.loads(asked["raters.json"])][:2] == [True, True]
    assert verify(without).holds
    assert verify(asked).holds


def test_a_study_nobody_judged_has_a_bundle_that_holds(study: Study) -> None:
    files = bundle_of(study)

    assert verify(files).holds
    assert "None yet." in files["data_card.md"].decode()


def with_another_grade(files: Files) -> Files:
    lines = files["judgments.csv"].decode().splitlines(keepends=True)
    row = next(number for number, line in enumerate(lines) if ",answerability,assessor 1,1," in line)
    lines[row] = lines[row].replace(",assessor 1,1,", ",assessor 1,0,")
    return {**files, "judgments.csv": "".join(lines).encode()}


def with_another_figure(files: Files) -> Files:
    figures = json.loads(files["figures/agreement.json"])
    figures["answerability"]["statistics"]["fleiss_kappa"]["value"] = 0.99
    return {**files, "figures/agreement.json": json.dumps(figures).encode()}


def with_another_label(files: Files) -> Files:
    return {**files, "qrels/rating.qrels": files["qrels/rating.qrels"].replace(b"t0-p0 3", b"t0-p0 5")}


def without_a_label(files: Files) -> Files:
    return {**files, "qrels/rating.qrels": files["qrels/rating.qrels"].splitlines(keepends=True)[0]}


def with_another_guideline(files: Files) -> Files:
    return {**files, "guidelines/v1.md": b"Read nothing."}


def without_a_file(files: Files) -> Files:
    return {name: content for name, content in files.items() if name != "draws.csv"}


def without_a_table(files: Files) -> Files:
    return {name: content for name, content in files.items() if name != "items.csv"}


def with_one_file_more(files: Files) -> Files:
    return {**files, "figures/more.json": b"{}"}


@pytest.mark.parametrize(
    ("tamper", "where"),
    [
        (with_another_grade, "judgments.csv"),
        (with_another_figure, "figures/agreement.json"),
        (with_another_label, "qrels/rating.qrels"),
        (with_another_guideline, "guidelines/v1.md"),
        (without_a_file, "draws.csv"),
        (without_a_table, "items.csv"),
        (with_one_file_more, "figures/more.json"),
    ],
)
def test_what_was_tampered_with_is_named(written: Files, tamper: Callable[[Files], Files], where: str) -> None:
    verdict = verify(tamper(written))

    assert not verdict.holds
    assert where in {problem.where for problem in verdict.problems}


@pytest.mark.parametrize(
    ("tamper", "where"),
    [
        (with_another_grade, "figures/agreement.json: answerability.statistics.percent_agreement.value"),
        (with_another_figure, "figures/agreement.json: answerability.statistics.fleiss_kappa.value"),
        (with_another_label, "qrels/rating.qrels: t0 0 t0-p0"),
        (without_a_label, "qrels/rating.qrels: t1 0 t1-p0"),
        (with_another_guideline, "guidelines/v1.md"),
        (with_one_file_more, "figures/more.json: "),
    ],
)
def test_figures_are_found_false_though_all_hashes_were_made_to_fit(
    written: Files, tamper: Callable[[Files], Files], where: str
) -> None:
    verdict = verify(rehashed(tamper(written)))

    assert where in {problem.where for problem in verdict.problems}


def before_accuracy(files: Files) -> Files:
    """The bundle as it was written before the judge's accuracy was among its figures."""
    comparisons = json.loads(files["figures/comparisons.json"])
    for one in comparisons["answerability"]:
        del one["comparison"]["mean_accuracy"]
    manifest = json.loads(files["manifest.json"])
    del manifest["figures"]
    told = {
        "figures/comparisons.json": json.dumps(comparisons).encode(),
        "manifest.json": json.dumps(manifest).encode(),
    }
    return rehashed(files | told)


def test_figures_that_are_newer_than_the_bundle_are_named_and_no_failure(written: Files) -> None:
    verdict = verify(before_accuracy(written))

    assert verdict.problems == []
    assert verdict.newer == ["figures/comparisons.json: comparison.mean_accuracy"]
    assert verdict.as_dict()["newer"] == verdict.newer


def test_a_figure_that_an_old_bundle_lacks_in_one_place_alone_is_a_failure(written: Files) -> None:
    files = written
    comparisons = json.loads(files["figures/comparisons.json"])
    del comparisons["answerability"][0]["comparison"]["mean_accuracy"]
    manifest = json.loads(files["manifest.json"])
    del manifest["figures"]

    verdict = verify(
        rehashed(
            files
            | {"figures/comparisons.json": json.dumps(comparisons).encode()}
            | {"manifest.json": json.dumps(manifest).encode()}
        )
    )

    assert not verdict.holds
    assert verdict.newer == []


def test_a_figure_that_a_bundle_of_today_lacks_is_a_failure(written: Files) -> None:
    files = written
    comparisons = json.loads(before_accuracy(files)["figures/comparisons.json"])

    verdict = verify(rehashed(files | {"figures/comparisons.json": json.dumps(comparisons).encode()}))

    assert not verdict.holds
    assert verdict.newer == []


def test_a_figure_that_differs_is_told_with_both_values(written: Files) -> None:
    (problem,) = verify(rehashed(with_another_figure(written))).problems

    assert "the bundle says 0.99, but the result is 0.3" in str(problem)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("judgments.csv", b"item_id,criterion,rater,grade\nno-item,rating,assessor 1,3\n", "'no-item'"),
        ("judgments.csv", b"\xff\xfe", "not CSV in UTF-8"),
        ("study.json", b"{", "not JSON"),
        ("study.json", b"[]", "cannot be read"),
        ("raters.json", b"[{}]", "'name'"),
        ("topics.csv", b"topic_id\nt0\n", "'t1'"),
    ],
)
def test_tables_that_cannot_be_read_are_told(written: Files, name: str, content: bytes, complaint: str) -> None:
    verdict = verify(rehashed({**written, name: content}))

    assert not verdict.holds
    assert any(complaint in str(problem) for problem in verdict.problems)


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{}", b'{"format": "assize-audit-bundle", "files": {}}'])
def test_a_manifest_that_is_none_is_told(written: Files, manifest: bytes) -> None:
    verdict = verify({**written, "manifest.json": manifest})

    assert [problem.where for problem in verdict.problems] == ["manifest.json"]


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/passwd", "a/../../b", "c:\\evil.txt", "..\\evil.txt", "folder/"])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "slip.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, b"x")

    with pytest.raises(ArchiveRefused, match="points outside it"):
        read_archive(path)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("study.json", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("study.json", b"2")

    with pytest.raises(ArchiveRefused, match="two files"):
        read_archive(path)


def test_every_broken_byte_is_found(written: Files, tmp_path: Path) -> None:
    path = tmp_path / "broken.zip"
    whole = archive_bytes(written)

    for place in range(40, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            files = read_archive(path)
        except ArchiveRefused:
            continue
        # What the zip itself does not notice lies outside of the files: a time, a permission.
        assert not verify(files).holds or files == written


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.zip"
    path.write_bytes(archive_bytes({"study.json": b"0" * 100_000}))
    monkeypatch.setattr("evaluation.formats.zip_files.LARGEST", 10_000)

    with pytest.raises(ArchiveRefused, match="more than a bundle may"):
        read_archive(path)


def test_the_commands_write_a_bundle_and_say_yes(
    rich: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bundle.zip"

    call_command("export_bundle", "--study", rich.name, "--output", str(path))
    call_command("verify_bundle", str(path))

    out = capsys.readouterr().out
    assert hashlib.sha256(path.read_bytes()).hexdigest() in out
    assert "Yes: " in out


def test_the_command_says_no_with_status_1(written: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(archive_bytes(with_another_grade(written)))

    with pytest.raises(SystemExit) as end:
        call_command("verify_bundle", str(path), "--json")

    assert end.value.code == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["verified"] is False
    assert {problem["what"] for problem in answer["problems"]} == {"hash", "figure"}


def test_what_is_no_zip_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(b"no zip")

    with pytest.raises(CommandError, match="not a readable zip"):
        call_command("verify_bundle", str(path))
    with pytest.raises(CommandError, match="No such file"):
        call_command("verify_bundle", str(tmp_path / "nothing.zip"))


def test_a_study_that_is_none_is_named_with_those_there_are(study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="“none” is not a study"):
        call_command("export_bundle", "--study", "none", "--output", str(tmp_path / "x.zip"))


def test_ids_that_look_like_formulas_come_back_as_they_were(rich: Study) -> None:
    item = Item.objects.filter(study=rich)[0]
    Item.objects.filter(pk=item.pk).update(item_id="=cmd|' /C calc'!A0")

    files = bundle_of(rich)

    assert "'=cmd|' /C calc'!A0" in {row["item_id"] for row in table(files, "items.csv")}
    assert verify(files).holds


@needs_crux
@pytest.mark.slow
def test_the_bundle_of_crux_holds_and_gives_its_kappa(rosa: User) -> None:
    call_command("import_crux", str(CRUX), "--study", "crux", "--owner", rosa.username, "--quiet")
    study = Study.objects.get(name="crux")

    files = bundle_of(study)

    assert verify(files).holds
    kappa = json.loads(files["figures/agreement.json"])["answerability"]["statistics"]["fleiss_kappa"]["value"]
    assert round(kappa, 4) == 0.5157
