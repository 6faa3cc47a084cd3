"""A small site with something at every address: what attacks knock at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.management import call_command
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.timezone import now

from annotate.crowd.invitations import make_invitation, renew_return_link
from annotate.models import AttentionCheck, CrowdSession, Notice, SiteRequest, SurveyQuestion
from annotate.notices.mails import token_of
from annotate.quality.inbox import comment_on
from annotate.quality.replies import reply_to
from annotate.studies.lifecycle import enrol
from annotate.workshop.proposing import hand_in, propose
from annotate.workshop.workshops import make_workshop
from collection.banks.changes import Worded
from collection.banks.versions import NewEntry, make_version
from collection.collections.sharing import invite_researcher
from collection.models import Collection, Item, NuggetBank, NuggetWording, Retrieval, Study, Upload, User
from collection.questions.documents import make_question
from judging.building.builds import start_build
from judging.building.drafts import Request
from judging.building.shipped import PIPELINES
from judging.models import Build, Errand, GradingJob, ModelServer, PromptTemplate
from tests.annotate.crowd_factories import a_session, an_entry
from tests.annotate.factories import a_report_task, an_open_study, in_hands_of
from tests.annotate.questions.factory import a_document
from tests.factories import a_collection, a_study, a_user, rater_of
from tests.judging.world import a_job

# Django's own pages stand behind one door, which test_the_administrators_site tries.
NOT_OURS = ("admin/",)
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")


# Researchers of Rosa's collection who work in it themselves: in her workshop, or in her study.
WORKING = ["proposes", "decides", "assesses"]
# Words in what is somebody's, with the roles that may read them: an address alone shows them to nobody else.
MARKS = {
    "mark-of-the-collection": {"rosa", "colleague", *WORKING},
    "mark-of-adas-proposal": {"ada", "rosa", "colleague", "assesses"},
    "mark-of-rosas-server": {"rosa"},
}


@dataclass(frozen=True)
class World:
    people: Mapping[str, User | None]
    values: Mapping[str, Any]

    def hidden_from(self, role: str) -> list[bytes]:
        """Return the marks that a person of this role may read nowhere."""
        return [mark.encode() for mark, readers in MARKS.items() if role not in readers]


def addresses() -> Iterator[str]:
    """Yield every address of the URLconf as it is written there."""

    def walk(patterns: Any, before: str) -> Iterator[str]:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            else:
                assert isinstance(pattern, URLPattern)
                yield route

    for route in walk(get_resolver().url_patterns, ""):
        if not route.startswith(NOT_OURS):
            yield "/" + re.sub(r"(\A|/)\^", r"\1", route).removesuffix("$").replace("\\.", ".")


def a_world() -> World:
    """Rosa's study with everything in it, a colleague, and people who have nothing to do with it."""
    rosa = a_user("rosa", is_researcher=True)
    colleague = a_user("colleague", is_researcher=True)
    mallory = a_user("mallory", is_researcher=True)
    demoted = a_user("demoted")
    admin = a_user("admin", is_staff=True, is_superuser=True)
    ada, ben = a_user("ada"), a_user("ben")
    working = {role: a_user(role, is_researcher=True) for role in WORKING}

    collection = a_collection(owner=rosa)
    Collection.objects.filter(pk=collection.pk).update(description="mark-of-the-collection")
    collection.researchers.add(colleague, demoted, *working.values())
    study = an_open_study(a_study(collection))
    assignment = in_hands_of(ada, a_report_task(study))
    enrol(study=study, user=working["assesses"], at=now())
    mallorys = an_open_study(a_study(a_collection(owner=mallory, name="towers"), name="towers"))
    in_hands_of(ben, a_report_task(mallorys))
    people = {
        "anonymous": None, "ada": ada, "ben": ben, "rosa": rosa, "colleague": colleague,
        "mallory": mallory, "demoted": demoted, "admin": admin, **working,
    }  # fmt: skip
    return World(people, _values(collection, study, assignment, rosa, ada))


def _values(collection: Collection, study: Study, assignment: Any, rosa: User, ada: User) -> dict[str, Any]:
    call_command("load_templates", verbosity=0)
    make_question(name="tone", document=a_document(text="report", name="tone"), by=rosa, at=now())
    item = Item.objects.filter(study=study)[0]
    job: GradingJob = a_job(study)
    template = PromptTemplate.objects.order_by("pk")[0]
    entry = an_entry(study)
    session: CrowdSession = a_session(entry)
    turk = an_entry(study, site="mturk")
    expires = now().replace(year=now().year + 1)
    invitation = make_invitation(study=study, note="", most_uses=3, expires_at=expires, by=rosa)
    offer = invite_researcher(collection=collection, username="mallory", by=rosa, at=now())
    upload = Upload.objects.create(
        collection=collection,
        user=rosa,
        stored_as="none",
        name="x.jsonl",
        size=1,
        uploaded_at=now(),
        file_format="jsonl",
    )
    bank = NuggetBank.objects.create(collection=collection, name="spring")
    entries = [NewEntry(pk) for pk in item.topic.rubric_elements.values_list("pk", flat=True)]
    make_version(bank=bank, topics={item.topic_id: entries}, by=rosa, at=now())
    proposes, decides = (User.objects.get(username=role) for role in WORKING[:2])
    workshop = make_workshop(bank=bank, proposers=[ada, proposes], decider=decides, by=rosa, at=now())
    held = workshop.topics.get(topic=item.topic_id)
    adas = workshop.people.get(user=ada)
    words = [Worded("mark-of-adas-proposal", "vital", 1.0)]
    propose(workshop_topic=held, person=adas, kind="new", nuggets=words, at=now())
    hand_in(workshop_topic=held, person=adas, at=now())  # the other one who proposes is at work still
    wording = NuggetWording.objects.create(
        workshop_topic=held,
        person=adas,
        judge=job.judge.rater,
        passage=collection.passages.all()[0],
        start=0,
        end=1,
        quote="x",
        words="mark-of-adas-proposal",
        state="done",
        asked_at=now(),
    )
    server = ModelServer.objects.create(
        name="a-server", owner=rosa, addresses=["http://127.0.0.1:9"], problem="mark-of-rosas-server", asked_at=now()
    )
    errand = Errand.objects.create(
        kind="trial",
        judge=job.judge,
        criterion=job.criterion,
        seed=1,
        user=rosa,
        asked_at=now(),
        state="done",
        result=[],
    )
    retrieval = Retrieval.objects.create(
        collection=collection, user=rosa, method="bm25", run_name="x", asked_at=now(), heard_of_at=now()
    )
    build = start_build(collection, Request("rubric-questions"), by=rosa, at=now())
    facts = start_build(collection, Request("rubric-questions"), by=rosa, at=now())
    prompts = {name: slot.prompt().as_stored() for name, slot in PIPELINES["rifer"].slots.items()}
    Build.objects.filter(pk=facts.pk).update(pipeline="rifer", prompts=prompts)
    comment = comment_on(item=item, rater=rater_of(ada), text="x", at=now())
    reply_to(comment=comment, by=rosa, text="x", at=now())
    notice = Notice.objects.get(user=ada, kind=Notice.Kind.REPLY)
    # What an address names is known by its beginning, the longest that fits.
    return {
        "/": {"username": "ada", "task_type": "answerability", "criterion": "answerability", "item": item.pk},
        "/collections/": {"name": collection.name, "study": study.name},
        "/questions/": {"name": "tone"},
        "/api/v1/questions/": {"name": "tone"},
        "/collections/<slug:name>/banks/": {"bank": bank.name, "pk": item.topic_id},
        "/collections/<slug:name>/building/": {
            "pk": build.pk,
            "pipeline": "nuggets",
            "step": "questions",
            "move": "pause",
        },
        "/collections/<slug:name>/building/<int:pk>/facts/": {"pk": facts.pk},
        "/collections/<slug:name>/retrieval/": {"pk": retrieval.pk},
        "/collections/<slug:name>/topics/": {"pk": item.topic_id},
        "/collections/<slug:name>/researchers/": {"username": "colleague"},
        "/collections/<slug:name>/import/": {"pk": upload.pk},
        "/collections/<slug:name>/invitations/": {"pk": offer.pk},
        "/invitations/": {"pk": offer.pk, "answer": "accept"},
        "/api/v1/invitations/": {"pk": offer.pk, "answer": "accept"},
        "/api/v1/collections/<slug:name>/invitations/": {"pk": offer.pk},
        "/api/v1/collections/": {"name": collection.name, "bank": bank.name, "before": 1, "after": 1},
        "/api/v1/collections/<slug:name>/builds/": {"pk": build.pk},
        "/api/v1/collections/<slug:name>/retrievals/": {"pk": retrieval.pk},
        "/api/v1/uploads/": {"pk": upload.pk},
        "/workshops/": {"pk": workshop.pk, "topic": item.topic_id, "wording": wording.pk, "form": "qrels"},
        "/api/v1/workshops/": {"pk": workshop.pk},
        "/work/": {"pk": assignment.pk, "name": study.name},
        "/work/notices/": {"pk": notice.pk},
        "/work/comments/": {"pk": comment.pk},
        "/password/": {"uidb64": "MQ", "token": "none"},
        "/account/address/": {"token": "none"},
        "/notices/": {"token": token_of(ada)},
        "/api/v1/assignments/": {"pk": assignment.pk, "study": study.name},
        "/studies/": {
            "name": study.name,
            "rater": rater_of(ada).pk,
            "figure": "answerability",
            "table": "pairs",
            "table_format": "csv",
            "file": "qrels",
            "pk": 1,
        },
        "/studies/<slug:name>/agreement/items/": {"pk": item.pk},
        "/studies/<slug:name>/gold/": {"pk": item.pk},
        "/studies/<slug:name>/inbox/": {"pk": comment.pk},
        "/api/v1/studies/<slug:name>/comments/": {"pk": comment.pk},
        "/studies/<slug:name>/checks/questions/": {
            "pk": SurveyQuestion.objects.create(
                study=study, position=1, text="Age?", kind="one", options=["under 30", "30 or more"]
            ).pk
        },
        "/studies/<slug:name>/checks/attention/": {
            "pk": AttentionCheck.objects.create(study=study, after=9, question="?", options=["a", "b"], right=0).pk
        },
        "/studies/<slug:name>/crowd/sessions/": {"pk": session.pk},
        "/studies/<slug:name>/crowd/invitations/": {"pk": invitation.pk},
        "/studies/<slug:name>/crowd/people/": {"username": session.participant.user.username},
        "/studies/(?P<name>[-a-zA-Z0-9_]+)/crowd/": {"name": study.name, "site": "prolific", "kind": "top_ups"},
        "/studies/<slug:name>/crowd/prolific/account/requests/": {
            "pk": SiteRequest.objects.create(entry=entry, kind="top_ups", asked_at=now()).pk
        },
        "/studies/<slug:name>/judging/": {"pk": job.pk},
        "/studies/<slug:name>/judging/imported/": {"pk": job.judge.rater_id},
        "/studies/(?P<name>[-\\w]+)/judging/": {"name": study.name, "pk": job.pk, "move": "pause"},
        "/judges/trials/": {"pk": errand.pk},
        "/api/v1/errands/": {"pk": errand.pk},
        "/judges/judge/": {"name": job.judge.name},
        "/judges/servers/server/": {"name": server.name},
        "/api/v1/model-servers/": {"name": server.name},
        "/judges/templates/": {"name": template.name, "version": template.version},
        "/computing/": {"key": "0" * 64},
        "/trust-in-judges/": {"table_format": "csv"},
        "/api/v1/studies/": {"name": study.name, "figure": "answerability"},
        "/api/v1/judges/": {"name": job.judge.name},
        "/api/v1/templates/": {"content_hash": template.content_hash},
        "/api/v1/grading-jobs/": {"pk": job.pk},
        "/p/": {"token": entry.token},
        "/m/": {"token": turk.token},
        "/i/": {"token": invitation.token},
        "/back/": {"token": renew_return_link(participant=session.participant, at=now())},
    }


def path_of(address: str, world: World) -> str:
    """Return the address with what it names in this world."""
    known: dict[str, Any] = {}
    for beginning in sorted(world.values, key=len):
        if address.startswith(beginning):
            known |= world.values[beginning]
    return PARAMETER.sub(lambda found: str(known[found[1] or found[2]]), address)
