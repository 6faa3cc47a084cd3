"""Nugget workshops in the API, for researchers: who takes part, what was proposed, and what was decided."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.workshop.forms import WorkshopForm
from annotate.workshop.workshops import (
    NothingToWorkOn,
    WrongPeople,
    close_workshop,
    make_workshop,
    workshops_seen_by,
)
from collection.api_tools import NumberField, WholeField, checked, invalid_on, user_of
from collection.banks.proposals import proposals_of
from collection.banks.visibility import Seen, numbered_people, researches, seen_by
from collection.models import Collection, NuggetProposal, NuggetWorkshop, WorkshopPerson, WorkshopTopic


class WorkshopPersonSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(WorkshopPerson.Role.choices)


class WorkshopSerializer(serializers.Serializer[Any]):
    id = WholeField(source="pk")
    study = serializers.CharField(source="study.name", default=None, allow_null=True)
    judge = serializers.CharField(
        source="judge.name", default=None, allow_null=True, help_text="That words nuggets for who proposes."
    )
    made_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    people = WorkshopPersonSerializer(many=True)


class ProposedNuggetSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    importance = serializers.CharField()
    weight = NumberField(allow_null=True)


class WordingSerializer(serializers.Serializer[Any]):
    """The words of a judge that a proposal began with."""

    judge = serializers.CharField(source="judge.name")
    model = serializers.CharField()
    prompt = serializers.CharField()
    words = serializers.CharField()


class ProposalSerializer(serializers.Serializer[Any]):
    id = WholeField(source="pk")
    person = serializers.CharField(source="person.user.username")
    kind = serializers.ChoiceField(NuggetProposal.Kind.choices)
    elements = serializers.ListField(
        child=serializers.CharField(), source="element_ids", help_text="The ids of the nuggets that it concerns."
    )
    aggregator = serializers.CharField()
    nuggets = ProposedNuggetSerializer(many=True)
    docno = serializers.CharField(source="passage.passage_id", default=None, allow_null=True)
    run = serializers.CharField(source="report.run.name", default=None, allow_null=True)
    start = WholeField(allow_null=True, help_text="In code points of the passage or of the run’s report.")
    end = WholeField(allow_null=True)
    quote = serializers.CharField()
    wording = WordingSerializer(allow_null=True)
    made_at = serializers.DateTimeField(allow_null=True)
    state = serializers.ChoiceField(NuggetProposal.State.choices)
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    taken_into = WholeField(source="taken_into_id", allow_null=True, help_text="What the deciding person made of it.")


class WorkshopRelevanceSerializer(serializers.Serializer[Any]):
    person = serializers.CharField(source="person.user.username")
    docno = serializers.CharField(source="passage.passage_id")
    relevant = serializers.BooleanField()
    judged_at = serializers.DateTimeField(allow_null=True)


class HandedInSerializer(serializers.Serializer[Any]):
    person = serializers.CharField(source="person.user.username")
    at = serializers.DateTimeField(allow_null=True)


# What could show whose work it is to the one who decides, or that a judge worded it.
UNTOLD = ("at", "judged_at", "made_at", "wording")
OF_PEOPLE = ("handed_in", "relevance", "proposals")


class WorkshopTopicSerializer(serializers.Serializer[Any]):
    """A topic with what the reader, `user` of the context, may see of people's work, `seen` of the context."""

    topic = serializers.CharField(source="topic.topic_id")
    handed_in = HandedInSerializer(many=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    version = WholeField(source="version.number", default=None, allow_null=True)
    relevance = WorkshopRelevanceSerializer(many=True)
    proposals = serializers.SerializerMethodField()

    @extend_schema_field(ProposalSerializer(many=True))
    def get_proposals(self, held: WorkshopTopic) -> list[dict[str, Any]]:
        return list(ProposalSerializer(proposals_of(held), many=True).data)

    def to_representation(self, held: WorkshopTopic) -> dict[str, Any]:
        shown = super().to_representation(held)
        seen, reader = self.context["seen"][held.pk], self.context["user"].username
        if seen == Seen.UNNAMED:
            names = {one.user.username: f"person {number}" for number, one in numbered_people(held).items()}
            for part in OF_PEOPLE:
                shown[part] = [_unnamed(row, names) if row["person"] != reader else row for row in shown[part]]
        elif seen != Seen.ALL:
            for part in OF_PEOPLE:
                shown[part] = [row for row in shown[part] if seen == Seen.OWN and row["person"] == reader]
        return shown


def _unnamed(row: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return row | {"person": names[row["person"]]} | {key: None for key in UNTOLD if key in row}


class WorkshopDetailSerializer(WorkshopSerializer):
    topics = WorkshopTopicSerializer(many=True)


class NewWorkshopSerializer(serializers.Serializer[Any]):
    proposers = serializers.ListField(child=serializers.CharField(), help_text="Usernames of two people or more.")
    decider = serializers.CharField(help_text="The username of somebody else.")
    topics = serializers.ListField(child=serializers.CharField(), default=list, help_text="None: all topics.")
    study = serializers.CharField(default="", allow_blank=True)
    judge = serializers.CharField(default="", allow_blank=True, help_text="That proposes words; none by default.")


class WorkshopList(APIView):
    """The workshops of a nugget bank."""

    @extend_schema(operation_id="collections_banks_workshops", responses=WorkshopSerializer(many=True))
    def get(self, request: Request, name: str, bank: str) -> Response:
        """The workshops, the newest first."""
        collection = get_object_or_404(Collection.objects.of(user_of(request)), name=name)
        found = get_object_or_404(collection.nugget_banks, name=bank)
        listed = found.workshops.select_related("study", "judge").prefetch_related("people__user")
        return Response(WorkshopSerializer(listed, many=True).data)

    @extend_schema(
        operation_id="collections_banks_workshops_create",
        request=NewWorkshopSerializer,
        responses={201: WorkshopSerializer},
    )
    def post(self, request: Request, name: str, bank: str) -> Response:
        """Open a workshop."""
        user = user_of(request)
        collection = get_object_or_404(Collection.objects.of(user), name=name)
        found = get_object_or_404(collection.nugget_banks, name=bank)
        form = WorkshopForm(checked(NewWorkshopSerializer(data=request.data)), bank=found, user=user)
        if not form.is_valid():
            raise ValidationError({name: list(map(str, said)) for name, said in form.errors.items()})
        with invalid_on(WrongPeople, NothingToWorkOn):
            made = make_workshop(bank=found, by=user, at=now(), **form.cleaned_data)
        return Response(WorkshopSerializer(made).data, status=201)


class WorkshopClosed(APIView):
    """The end of a workshop."""

    @extend_schema(operation_id="workshops_close", request=None, responses=WorkshopSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """End it; what was proposed and decided stays."""
        user = user_of(request)
        found = get_object_or_404(workshops_seen_by(user), pk=pk)
        if not researches(user, found):
            raise Http404
        close_workshop(workshop=found, at=now())
        return Response(WorkshopSerializer(found).data)


class WorkshopDetail(APIView):
    """A workshop with its proposals and decisions."""

    @extend_schema(operation_id="workshops_retrieve", responses=WorkshopDetailSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """The proposals by topic, as far as you may see them; the accepted ones are in the version that is named.

        Who proposes gets their own; who decides gets those of a topic that all have handed in, of “person 1” and so
        on without times. When the workshop is closed or every topic decided, they get all, as other researchers do.
        """
        user = user_of(request)
        found = get_object_or_404(workshops_seen_by(user), pk=pk)
        if not researches(user, found):
            raise Http404
        whole = NuggetWorkshop.objects.select_related("study", "judge").prefetch_related(
            "people__user",
            "topics__topic",
            "topics__version",
            "topics__handed_in__person__user",
            "topics__relevance__person__user",
            "topics__relevance__passage",
        )
        context = {"seen": seen_by(user, found), "user": user}
        return Response(WorkshopDetailSerializer(whole.get(pk=found.pk), context=context).data)


workshop_api_urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/banks/<slug:bank>/workshops/", WorkshopList.as_view(), name="workshops"),
    path("workshops/<int:pk>/close/", WorkshopClosed.as_view(), name="workshop_close"),
    path("workshops/<int:pk>/", WorkshopDetail.as_view(), name="workshop"),
]
