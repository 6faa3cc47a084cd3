"""A site with rows in every table that holds text, and the addresses at which its people see them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.utils.timezone import now

from annotate.assignments.assignments import claim_next
from annotate.crowd.privacy import erase_person
from annotate.models import (
    Assignment,
    AttentionCheck,
    Draft,
    SpotCheck,
    SurveyAnswer,
    SurveyQuestion,
    Task,
)
from annotate.quality.consent import answer_consent, revise_consent
from annotate.quality.gold import mark_gold
from annotate.quality.replies import reply_to
from collection.accounts.account import make_token
from collection.collections.sharing import invite_researcher
from collection.judgments.services import keep_earlier
from collection.models import (
    Adjudication,
    Collection,
    Comment,
    DocumentFetch,
    DocumentSource,
    Exclusion,
    Highlight,
    Item,
    Judgment,
    Masking,
    Rater,
    Retrieval,
    RubricElement,
    Study,
    TextFlag,
    Upload,
    User,
)
from config.demonstration.loading import load_demonstration
from evaluation.figures.studies import FIGURES
from judging.building.builds import start_build
from judging.building.drafts import Request
from judging.building.review import decide
from judging.grading.jobs import start_job
from judging.gullibility.audit import start_audit
from judging.judges.ensembles import make_ensemble
from judging.judges.registry import make_judge
from judging.models import (
    AnchorCheck,
    AnchorSet,
    Completion,
    EnsembleGrade,
    Errand,
    GradingJob,
    Judge,
    PlantedReply,
    Product,
    PromptTemplate,
    ServerProbe,
)
from tests.annotate.crowd_factories import a_session, an_entry
from tests.annotate.factories import a_key_point_task
from tests.attacks.payloads import corpus
from tests.attacks.world import PARAMETER, World, a_world, addresses
from tests.factories import rater_of

TABLE = Path(__file__).with_name("roles.csv")
MAIN = "demonstration"


@dataclass(frozen=True)
class Visit:
    """A path, and who goes there: `rosa`, `ada`, `admin`, or `anonymous`."""

    role: str
    path: str
    address: str


def a_full_world() -> World:
    """The demonstration's studies, with all that people, judges, files and servers may add to one."""
    world = a_world()
    load_demonstration(at=now())
    rosa, ada, ben = (User.objects.get(username=name) for name in ("rosa", "ada", "ben"))
    study = Study.objects.get(name=MAIN)
    _work(study, ada)
    for other in Study.objects.exclude(name__in=[MAIN, "towers"]):
        _work(other, ada)
    _reviews(study, rosa, ada, ben)
    _judges(study, rosa)
    _gates(Study.objects.get(name="bridges-study"), rosa, ada)
    _uploads(study, rosa)
    make_token(user=rosa, name="x", days=7, at=now())
    invite_researcher(collection=study.collection, username="x", by=rosa, at=now())
    return world


def _work(study: Study, ada: User) -> None:
    """Put a task of every task type into Ada's hands."""
    rater = rater_of(ada)
    for task_type in dict.fromkeys(study.tasks.order_by("position").values_list("task_type", flat=True)):
        later = study.tasks.exclude(task_type=task_type).values("places")
        held = list(Task.objects.filter(places__in=later).distinct())
        assignment = claim_next(study=study, rater=rater, at=now())
        if assignment is None:
            return
        Assignment.objects.filter(pk=assignment.pk).update(state="submitted", submitted_at=now())
        del held


def _reviews(study: Study, rosa: User, ada: User, ben: User) -> None:
    """What people say and decide about one another's work."""
    item = study.items.filter(judgments__isnull=False).order_by("pk")[0]
    judgment = Judgment.objects.filter(item=item)[0]
    criterion, rater = judgment.criterion, rater_of(ada)
    for _ in range(4):
        Comment.objects.create(study=study, item=item, rater=rater, text="x", broken=True, made_at=now())
    for comment in Comment.objects.filter(study=study):
        reply_to(comment=comment, by=rosa, text="x", at=now())
        reply_to(comment=comment, by=ada, text="y", by_rater=True, at=now())
    Adjudication.objects.create(item=item, criterion=criterion, rater=rater, grade=0, note="x", decided_at=now())
    Exclusion.objects.create(study=study, rater=rater_of(ben), reason="x", excluded_by=rosa, excluded_at=now())
    keep_earlier(Judgment.objects.filter(highlights__isnull=False)[0], at=now())
    element = RubricElement.objects.filter(topic__collection=study.collection, kind="sub_question")[0]
    for masked in (True, False):
        element.masking = Masking.objects.create(
            element=element, masked=masked, reason="x", criterion=criterion, decided_by=rosa, decided_at=now(),
            basis={"study": study.name, "criterion": criterion.name, "source": "people", "threshold": 1},
        )  # fmt: skip
    element.save()
    for kind in TextFlag.Kind:
        TextFlag.objects.get_or_create(item=item, kind=kind)
    for assignment in Assignment.objects.filter(task__study=study, state="submitted")[:2]:
        SpotCheck.objects.create(assignment=assignment, inclusion_probability=1, drawn_at=now(), note="x")
    assignment = Assignment.objects.filter(task__study=study)[0]
    asked = assignment.asked.all()[0].item
    Draft.objects.create(
        assignment=assignment, item=asked, criterion=study.criteria.filter(task_type=asked.task_type)[0], answer="x",
        spans=[{"start": 0, "end": 4, "quote": "x"}], saved_at=now(),
    )  # fmt: skip
    Highlight.objects.create(judgment=judgment, quote="x")  # as an import makes it of a quote that it does not find
    entry = an_entry(study)
    session = a_session(entry, 7)
    session.site_status = "RETURNED"
    session.save()
    erased = a_session(entry, 8).participant.user
    erase_person(study=study, user=erased, by=rosa, at=now())


def _build(study: Study, rosa: User) -> None:
    """A build with a faulty reply and a product with a span, which somebody edited."""
    build = start_build(study.collection, Request("rubric-questions"), by=rosa, at=now())
    call = build.calls.order_by("pk")[0]
    fault = {"kind": "too_few", "detail": "x"}
    call.reply, call.finished_at, call.faults, call.rows = "x", now(), [fault], [{"text": "x", "data": {}}]
    call.save()
    span = {"docno": "x", "start": 0, "end": 1, "quote": "x"}
    product = Product.objects.create(
        build=build, call=call, step=call.step, topic=call.topic, position=0, raw="x", text="x", data={"spans": [span]}
    )
    decide(build, [product.pk], "edited", text="y", by=rosa, at=now())
    build.state, build.reason = "paused", "x"
    build.save()


def _judges(study: Study, rosa: User) -> None:
    """Judges with replies of every sort, an ensemble, an audit, a server, and a check of anchor items."""
    criterion = study.criteria.get(name="answerability")
    templates = PromptTemplate.objects.filter(criterion_name="answerability").order_by("pk")
    made = [
        make_judge(
            engine=Judge.Engine.OPENAI, model=f"m{number}", template=templates[0], task_type=criterion.task_type,
            criterion_name="answerability", scale=criterion.scale,
        )[0]
        for number in range(3)
    ]  # fmt: skip
    items = list(study.items.filter(task_type=criterion.task_type).order_by("pk")[:12])
    for judge in made:
        job = start_job(criterion=criterion, judge=judge, items=[item.pk for item in items], by=rosa, at=now())
        _replies(job, items)
    _build(study, rosa)
    ensemble, _ = make_ensemble(made, by=rosa)
    EnsembleGrade.objects.create(
        ensemble=ensemble, criterion=criterion, item=items[0], graded_members=1, ungraded_members=2,
        agreeing_members=1, reason="x",
    )  # fmt: skip
    audit = start_audit(judge=made[0], criterion=criterion, texts=2, by=rosa, at=now(), ask=False)
    for kind in ("", "order"):
        PlantedReply.objects.create(audit=audit, item=items[0], kind=kind, grade=1, reply="x")
    audit.state, audit.reason = "failed", "x"
    audit.save()
    found = {"server": {"kind": "vllm", "version": "x", "models": ["x"], "weights": "x"}}
    Errand.objects.create(kind="probe", judge=made[0], user=rosa, asked_at=now(), state="failed", error="x")
    ServerProbe.objects.create(judge=made[0], address="http://x", findings=found, probed_at=now())
    ServerProbe.objects.create(judge=made[0], address="http://y", problem="x", probed_at=now())
    anchors, _ = AnchorSet.objects.get_or_create(criterion=criterion, defaults={"seed": 1, "chosen_at": now()})
    anchors.items.set(items[:5])
    grades = {str(item.pk): 1.0 for item in items[:5]}
    job = GradingJob.objects.filter(judge=made[1])[0]
    job.pause_cause = "drift"
    job.save()
    AnchorCheck.objects.create(
        anchors=anchors, judge=made[1], earlier_judge=made[0], job=job, identity="x", earlier_identity="x",
        before=grades, after=dict.fromkeys(grades, 0.0), judged_at=now(),
    )  # fmt: skip
    Rater.objects.create(
        kind="judge", name="theirs", origin="imported", source="x", collection=study.collection,
        attributes={"tool": "x", "version": "x", "model": "x", "prompt": "x"},
    )  # fmt: skip


def _replies(job: GradingJob, items: list[Item]) -> None:
    for number, item in enumerate(items):
        graded = number % 3
        Completion.objects.create(
            job=job, judge=job.judge, item=item, criterion=job.criterion, grade=1 if graded else None,
            ungraded="" if graded else "unreadable", reply="x", error="" if graded else "x", finish_reason="x",
            thinking="x", sent={"user": "x"},
            other_order={"reply": "x", "grade": 1, "finish_reason": "x"} if number == 1 else None,
            engine_identity="x", completed_at=now(),
        )  # fmt: skip
        Judgment.objects.create(
            item=item, criterion=job.criterion, rater=job.judge.rater, grade=1 if graded else None,
            ungraded="" if graded else "unreadable", judged_at=now(),
        )  # fmt: skip
    job.state, job.reason, job.engine_identity = "paused", "x", "x"
    job.graded, job.ungraded = 8, 4
    job.selection = {"topics": ["x"], "runs": ["x"]}
    job.save()


def _gates(study: Study, rosa: User, ada: User) -> None:
    """Consent, questionnaire, training and attention checks of every kind, with an answer to each."""
    revise_consent(study=study, markdown="x", by=rosa, at=now())
    answer_consent(study=study, user=ada, version=1, agrees=True, at=now())
    for position, kind in enumerate(SurveyQuestion.Kind, start=2):
        options = ["x", "y"] if kind in ("one", "many") else []
        question = SurveyQuestion.objects.create(study=study, position=position, text="x", kind=kind, options=options)
        SurveyAnswer.objects.create(question=question, user=ada, value=options or "x")
    item = a_key_point_task(study).items.order_by("pk")[0]
    mark_gold(
        item=item, criterion=study.criteria.filter(task_type=item.task_type)[0], grade=1, purpose="training",
        explanation="x", by=rosa, at=now(),
    )  # fmt: skip
    AttentionCheck.objects.create(study=study, after=0, question="x", options=["x", "y"], right=0)


def _uploads(study: Study, rosa: User) -> None:
    outcome = {
        "counts": [["topics", 1, 0]], "remarks": ["x"], "flaws": ["x"], "file": "x", "details": {},
        "problems": [{"line": 1, "reason": "x"}],
    }  # fmt: skip
    good = {**outcome, "problems": []}
    others = Collection.objects.filter(studies__isnull=False).exclude(pk=study.collection_id).distinct()
    for number, collection in enumerate([study.collection, *others]):
        upload = Upload.objects.create(
            collection=collection, user=rosa, stored_as=f"hostile-{number}.jsonl", name="x", size=1, rater="x", run="x",
            uploaded_at=now() + timedelta(minutes=number), file_format="qrels" if number else "assize", system="x",
            study=collection.studies.all()[0].name, state="tried", outcome=good if number % 2 else outcome,
        )  # fmt: skip
        upload.path.write_text("".join(f"{payload.text}\n" for payload in corpus()))
        DocumentSource.objects.create(
            collection=collection, kind="http", address="x", text_field="x", title_field="x", problem="x",
            started_at=now(), state="paused",
        )  # fmt: skip
        for state in ("at work", "done", "failed"):
            Retrieval.objects.create(
                collection=collection, method="bm25", run_name="x", options={"system": "x"}, state=state, problem="x",
                outcome={"lines": 1, "topics": 1, "passages": 1}, asked_at=now(), heard_of_at=now(),
            )  # fmt: skip
        for docno in ("x-1", "x-2"):
            DocumentFetch.objects.create(
                collection=collection, passage_id=docno, source="x", tried_at=now(), problem="x"
            )


# --- Addresses ------------------------------------------------------------------------------------


def visits(world: World) -> Iterator[tuple[str, list[Visit]]]:
    """Yield every address that answers GET with its visits: whom it is for, and each thing that it may show."""
    with TABLE.open(newline="") as file:
        seen = {row["address"]: row for row in csv.DictReader(file) if row["method"] == "GET"}
    for address in sorted(addresses()):
        row = seen[address]
        if row["rosa"] == "405":
            continue
        roles = [role for role in ("rosa", "ada", "admin") if row[role] not in ("404", "403")]
        if "rosa" in roles and "admin" in roles and row["ada"] == row["rosa"]:
            roles = ["rosa", "ada"]
        elif address.startswith("/work/"):
            roles = ["ada"]
        elif not roles:
            roles = ["rosa"]
        if row["anonymous"] in ("200", "400"):
            roles = ["anonymous"]
        found = []
        for known in _things(address, world):
            found += [Visit(role, _path(address, known), address) for role in roles]
        yield address, found


def _path(address: str, known: dict[str, Any]) -> str:
    return PARAMETER.sub(lambda match: quote(str(known[match[1] or match[2]]), safe=""), address)


def _things(address: str, world: World) -> list[dict[str, Any]]:
    """Return what the parameters of an address may stand for, the demonstration's first."""
    if "<" not in address:
        return [{}]
    known: dict[str, Any] = {}
    for beginning in sorted(world.values, key=len):
        if address.startswith(beginning):
            known |= world.values[beginning]
    studies = sorted(Study.objects.exclude(name="towers"), key=lambda study: study.name != MAIN)
    if address.startswith(("/studies/", "/api/v1/studies/")):
        return [{**known, **more} for study in studies for more in _of_study(address, study)] or [known]
    if address.startswith("/work/") and "name" in address:
        return [{**known, "name": study.name} for study in studies]
    if "/work/<int:pk>" in address or address.startswith("/api/v1/assignments/"):
        mine = Assignment.objects.filter(rater__user=world.people["ada"]).values_list("pk", "task__study__name")
        return [{"pk": pk, "study": name} for pk, name in mine]
    if address.startswith(("/collections/<slug:name>/", "/api/v1/collections/<")):
        if any(part in address for part in ("/building/", "/builds/", "/retrieval")):
            return _made_by_models(address, studies)
        return [_of_collection(address, study) for study in studies]
    if "/judge/<" in address or "/judges/(" in address:
        return [{**known, "name": judge.name} for judge in Judge.objects.order_by("-pk")[:5]]
    if address.startswith("/judges/templates/<"):
        item = Item.objects.filter(task_type="answerability")[0].pk
        templates = PromptTemplate.objects.filter(task_type="answerability")[:3]
        return [{"name": template.name, "version": template.version, "item": item} for template in templates]
    return [known]


def _made_by_models(address: str, studies: list[Study]) -> list[dict[str, Any]]:
    """Return what builds and retrievals of these studies' collections are named by, a collection once."""
    collections = {study.collection_id: study.collection for study in studies}
    found = []
    for collection in collections.values():
        named = {"name": collection.name, "pipeline": "nuggets", "step": "questions", "pk": 0}
        made = collection.retrievals if "/retrieval" in address else collection.builds
        found += [named | {"pk": pk} for pk in made.values_list("pk", flat=True)] or [named]
    return found


def _of_collection(address: str, study: Study) -> dict[str, Any]:
    collection = study.collection
    upload = collection.uploads.first()
    pk = upload.pk if upload and "/import/" in address else collection.topics.order_by("pk")[0].pk
    bank = collection.nugget_banks.first()
    named = bank.name if bank else "none"
    return {"name": collection.name, "study": study.name, "bank": named, "before": 1, "after": 1, "pk": pk}


def _of_study(address: str, study: Study) -> Iterator[dict[str, Any]]:
    """Yield what an address of a study may stand for in this one."""
    first: dict[str, Any] = {"name": study.name, "table_format": "csv"}
    item = study.items.order_by("pk")[0]
    checks = SpotCheck.objects.filter(assignment__task__study=study)
    imported = Rater.objects.filter(collection=study.collection, kind="judge", judge=None)
    rows = {
        "/agreement/items/<": [item.pk],
        "/gold/<": [item.pk],
        "/judging/imported/": imported.values_list("pk", flat=True),
        "/judging/<": study.grading_jobs.values_list("pk", flat=True),
        "/review/spot-checks/<": checks.values_list("pk", flat=True),
    }
    for part, found in rows.items():
        if part in address:
            yield from ({**first, "pk": pk} for pk in found)
            return
    names = {match[1] or match[2] for match in PARAMETER.finditer(address)}
    if "username" in names:
        people = study.participants.all() if "/people/" in address else study.enrolments.all()
        yield from ({**first, "username": person.user.username} for person in people.select_related("user")[:3])
    elif "criterion" in names:
        for criterion in study.criteria.all():
            judged = criterion.judgments.values_list("item", flat=True).first() or item.pk
            yield {**first, "criterion": criterion.name, "item": judged, "table": "pairs", "file": "agreement.json"}
    elif "task_type" in names:
        kinds = study.criteria.order_by().values_list("task_type", flat=True).distinct()
        yield from ({**first, "task_type": kind} for kind in kinds)
    elif "site" in names:
        yield {**first, "site": "prolific"}
    elif "figure" in names:
        yield from ({**first, "figure": figure, "table": "numbers"} for figure in FIGURES)
    elif "table" in names:
        yield {**first, "table": "pairs"}
    else:
        yield first
