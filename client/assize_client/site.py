"""What a site holds: collections that files go into, studies whose judgments and scores come out, and grading jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pandas as pd

from assize_client.connection import AssizeError, Connection, NotReady
from assize_client.judgments import has_pyarrow, judgments_in, judgments_of

SCORES = ("system", "source", "mean", "se", "low", "high", "topics", "rank", "reason")


def connect(url: str | None = None, token: str | None = None, *, patience: float = 600) -> Site:
    """Return the site at `url`, or at ASSIZE_URL, entered with `token`, or ASSIZE_TOKEN.

    Tokens are made on the site's page *Account*. Whatever a worker computes is waited for `patience` seconds at most.
    Raises ValueError if either is missing.
    """
    found = {"ASSIZE_URL": url or os.environ.get("ASSIZE_URL"), "ASSIZE_TOKEN": token or os.environ.get("ASSIZE_TOKEN")}
    if missing := [name for name, value in found.items() if not value]:
        raise ValueError(f"Give url and token, or set {' and '.join(missing)}.")
    return Site(Connection(str(found["ASSIZE_URL"]), str(found["ASSIZE_TOKEN"]), patience=patience))


@dataclass(frozen=True)
class Site:
    connection: Connection = field(repr=False)

    def collection(self, name: str, *, title: str = "") -> Collection:
        """Return the collection of this name; it is created if there is none. Raises AssizeError."""
        try:
            self.connection.get(f"collections/{name}/")
        except AssizeError as refused:
            if refused.status != httpx.codes.NOT_FOUND:
                raise
            self.connection.post("collections/", json={"name": name, "title": title or name})
        return Collection(self.connection, name)

    def study(self, name: str) -> Study:
        """Return the study of this name. Raises AssizeError with status 404 if you have none."""
        self.connection.get(f"studies/{name}/")
        return Study(self.connection, name)

    def studies(self) -> pd.DataFrame:
        """Return your studies, one a row."""
        return pd.DataFrame(self.connection.pages("studies/"))

    def judges(self) -> pd.DataFrame:
        """Return the judges of the site, one a row."""
        return pd.DataFrame(self.connection.pages("judges/"))


class Imported(NamedTuple):
    """What files brought: `counts` with columns what, new, known; `waiting` names files with what they lack."""

    counts: pd.DataFrame
    studies: list[str]
    waiting: dict[str, str]
    remarks: list[str]


@dataclass(frozen=True)
class Collection:
    connection: Connection = field(repr=False)
    name: str

    def push(
        self,
        *files: str | Path,
        people: Mapping[str, str] | None = None,
        judges: Mapping[str, str] | None = None,
        formats: Mapping[str, str] | None = None,
        stray_grades: str = "ungraded",
        study: str = "",
        relevant_from: float | None = None,
        with_topics: bool = False,
        without_texts: bool = False,
    ) -> Imported:
        """Import files in any order, all or none; each is recognised by its content. The same again changes nothing.

        `people` and `judges` say by file name who judged qrels, `formats` what a file is that may be two things;
        `stray_grades` (ungraded, refuse, widen) is about grades that one file alone has now and then; `relevant_from`
        is the η of qrels. Judgments go into `study`, or into a closed study made for them. Topics and passages that are
        nowhere are made with their ids alone by `with_topics` and `without_texts`; otherwise what refers to them is
        left out and named in `waiting`.
        Raises AssizeError with what is wrong in which line, and NotReady.
        """
        paths = [Path(file) for file in files]
        data = {
            "study": study,
            "rater": [f"{file}={name}" for file, name in (people or {}).items()],
            "judge": [f"{file}={name}" for file, name in (judges or {}).items()],
            "format": [f"{file}={name}" for file, name in (formats or {}).items()],
            "stray_grades": stray_grades,
            "with_topics": str(with_topics).lower(),
            "without_texts": str(without_texts).lower(),
            **({} if relevant_from is None else {"relevant_from": str(relevant_from)}),
        }
        opened = [path.open("rb") for path in paths]
        try:
            parts = [("file", (path.name, file)) for path, file in zip(paths, opened, strict=True)]
            answer = self.connection.post(f"collections/{self.name}/files/", data=data, files=parts)
        finally:
            for file in opened:
                file.close()
        outcome = self._imported(answer["id"]) if "state" in answer else answer
        details = outcome["details"]
        waiting = {one["name"]: one["waits"] for one in details["files"] if one["waits"]}
        counts = pd.DataFrame(outcome["counts"], columns=["what", "new", "known"])
        return Imported(counts, details["studies"], waiting, outcome["remarks"])

    def _imported(self, upload: int) -> dict[str, Any]:
        """Return the outcome of an upload once a worker has imported it."""
        for _ in self.connection.waiting():
            kept = self.connection.get(f"uploads/{upload}/")
            if kept["outcome"] and kept["outcome"]["problems"]:
                raise AssizeError(httpx.codes.BAD_REQUEST, "; ".join(map(_problem, kept["outcome"]["problems"])))
            if kept["state"] == "imported":
                return dict(kept["outcome"])
        raise NotReady(f"The files were not imported within {self.connection.patience:g} s (upload {upload}).")

    def topics(self) -> pd.DataFrame:
        """Return the topics, one a row."""
        return pd.DataFrame(self.connection.pages(f"collections/{self.name}/topics/"))

    def rankings(self) -> pd.DataFrame:
        """Return the ranked passages with columns run, topic_id, passage_id, rank and score."""
        return pd.DataFrame(self.connection.pages(f"collections/{self.name}/rankings/"))

    def builds(self) -> pd.DataFrame:
        """Return what models wrote for it, one build a row."""
        return pd.DataFrame(self.connection.pages(f"collections/{self.name}/builds/"))

    def start_build(self, pipeline: str, **chosen: Any) -> Build:
        """Have a model write; `chosen` is what the API's new build takes besides. Raises AssizeError."""
        path = f"collections/{self.name}/builds/"
        return Build(
            self.connection, f"{path}{self.connection.post(path, json={'pipeline': pipeline, **chosen})['id']}/"
        )

    def build(self, number: int) -> Build:
        """Return the build of this number."""
        return Build(self.connection, f"collections/{self.name}/builds/{number}/")


@dataclass(frozen=True)
class Build:
    """What a model writes for a collection, step by step."""

    connection: Connection = field(repr=False)
    path: str

    def state(self) -> dict[str, Any]:
        """Return the build with its steps as the API has it."""
        return dict(self.connection.get(self.path))

    def wait(self) -> dict[str, Any]:
        """Return the build once it is at its end, waits for review or is paused. Raises NotReady."""
        for _ in self.connection.waiting():
            build = self.state()
            if build["state"] not in ("queued", "running"):
                return build
        raise NotReady(f"The build {self.path} was not done within {self.connection.patience:g} s.")

    def products(self, **chosen: str) -> pd.DataFrame:
        """Return what was written, one thing a row, with its reviews; `step=` and `state=` choose."""
        return pd.DataFrame(self.connection.pages(f"{self.path}products/", **chosen))

    def decide(self, products: Iterable[int], decision: str, *, text: str = "") -> int:
        """Have products accepted, rejected, or one of them edited, in your name. Returns how many."""
        asked = {"products": [int(key) for key in products], "decision": decision, "text": text}
        return int(self.connection.post(f"{self.path}decisions/", json=asked)["decided"])

    def add(self, *, bank: str = "", run: str = "") -> dict[str, Any]:
        """Add what is accepted to the collection. Returns how many are new and how many were known."""
        return dict(self.connection.post(f"{self.path}add/", json={"bank": bank, "run": run}))


@dataclass(frozen=True)
class Study:
    connection: Connection = field(repr=False)
    name: str

    def judgments(
        self, *, criterion: str | None = None, rater: str | None = None, rater_kind: str | None = None
    ) -> pd.DataFrame:
        """Return the current judgments, one a row; `rater_kind` is assessor or judge. `judged_at` is in UTC.

        They come as Parquet where PyArrow is installed, else line by line; the DataFrame is the same.
        """
        path = f"studies/{self.name}/judgments/"
        asked = {"criterion": criterion, "rater": rater, "rater_kind": rater_kind}
        if has_pyarrow():
            with self.connection.file(path, format="parquet", **asked) as file:
                return judgments_in(file)
        return judgments_of(self.connection.lines(path, **asked))

    def scores(self, measure: str, *, sources: Iterable[str] = (), **chosen: Any) -> pd.DataFrame:
        """Return the leaderboard, a row for each system and source: mean, se, 95 % interval, topics, rank.

        A judge corrected by people's labels is a source too. `chosen` is what the leaderboard's API takes besides.
        """
        found = self.connection.get(
            f"studies/{self.name}/leaderboard/", measure=measure, source=list(sources), **chosen
        )
        return pd.DataFrame(_scores(found), columns=list(SCORES))

    def score_run(self, run: str, measure: str, *, judge: str = "", **chosen: Any) -> dict[str, Any]:
        """Return a run's scores by people, by the judge (all without a name) and corrected; the site does not keep it.

        `run` is in TREC's six columns. Raises AssizeError with what is wrong in which line.
        """
        asked = {"run": run, "measure": measure, "judge": judge, **chosen}
        return dict(self.connection.post(f"studies/{self.name}/leaderboard/run/", json=asked))

    def agreement(self, criterion: str) -> dict[str, Any]:
        """Return the agreement of people with one another, and of each judge with them, as the API has it."""
        return dict(self.connection.get(f"studies/{self.name}/agreement/", criterion=criterion))

    def how_many_labels(
        self,
        criterion: str,
        *,
        half_width: float | None = None,
        separate: tuple[str, str] | None = None,
        judge: str | None = None,
        system: str | None = None,
        difference: float | None = None,
        measure: str = "",
    ) -> dict[str, Any]:
        """Return the plan, with its `answer` in words: labels for ± `half_width`, or to tell two systems apart.

        `measure` is one of rankings (nDCG@10, P@10, DCG@10); without one the share of yes is planned.
        """
        asked = {"half_width": half_width, "separate": separate, "judge": judge, "system": system, "measure": measure}
        return dict(
            self.connection.get(
                f"studies/{self.name}/calibration/plan/", criterion=criterion, difference=difference, **asked
            )
        )

    def declare(
        self, *, random_sample: bool | None = None, irrelevant: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Declare that the labelled items are a simple random sample, or why what a source does not name is irrelevant.

        `irrelevant` has a reason by source, people or a judge; an empty one takes it back. Returns all declarations.
        """
        asked = {
            **({} if random_sample is None else {"random_sample": random_sample}),
            **({"irrelevant": dict(irrelevant)} if irrelevant else {}),
        }
        return dict(self.connection.post(f"studies/{self.name}/declarations/", json=asked))

    def start_job(self, criterion: str, judge: str, **chosen: Any) -> Job:
        """Have a judge grade what it has not graded; `chosen` is what the API's new job takes besides."""
        asked = {"study": self.name, "criterion": criterion, "judge": judge, **chosen}
        return Job(self.connection, self.connection.post("grading-jobs/", json=asked)["id"])


def _scores(board: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    for source in board["sources"]:
        for one in source["systems"]:
            yield (one["system"], source["source"], *_figures(one), one["n_topics"], one["rank"], one.get("reason"))
    for corrected in board["corrected"]:
        for system, one in corrected["systems"].items():
            source = f"{corrected['method']} of {corrected['judge']}"
            yield (system, source, *_figures(one), one.get("n_topics"), None, one.get("reason"))


def _figures(one: dict[str, Any]) -> tuple[Any, ...]:
    return one["value"], one.get("se"), one.get("low"), one.get("high")


def _problem(problem: dict[str, Any]) -> str:
    where = "" if problem["line"] is None else f"line {problem['line']}: "
    return f"{where}{problem['reason']} {problem['remedy']}".strip()


@dataclass(frozen=True)
class Job:
    """A judge's grading job."""

    connection: Connection = field(repr=False)
    id: int

    def state(self) -> dict[str, Any]:
        """Return the job as the API has it."""
        return dict(self.connection.get(f"grading-jobs/{self.id}/"))

    def wait(self) -> dict[str, Any]:
        """Return the job once it is done, cancelled or paused. Raises NotReady."""
        for _ in self.connection.waiting():
            job = self.state()
            if job["state"] in ("done", "cancelled", "paused"):
                return job
        raise NotReady(f"Job {self.id} was not done within {self.connection.patience:g} s.")
