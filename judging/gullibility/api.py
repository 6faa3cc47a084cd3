"""Audits of judges' gullibility in the API."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from collection.api_tools import NumberField, WholeField, checked, conflict_on, study_of, user_of
from collection.web.api_access import Researches
from judging.engines.token_quotas import QuotaSpent
from judging.gullibility.audit import (
    MOST_TEXTS,
    TEXTS,
    NoAudit,
    progress_of,
    requeue_if_stalled,
    results_of,
    start_audit,
)
from judging.models import GullibilityAudit, Judge


class NewAuditSerializer(serializers.Serializer[Any]):
    """Which judge is audited under which criterion, with how many texts."""

    judge = serializers.SlugField()
    criterion = serializers.SlugField()
    texts = WholeField(min_value=1, max_value=MOST_TEXTS, default=TEXTS)
    seed = WholeField(min_value=0, default=1)


class KindResultSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField(source="label", help_text="The kind in words.")
    asked = WholeField()
    ungraded = WholeField()
    lifted = WholeField()
    rate = serializers.DictField(source="rate.as_dict", help_text="Share lifted over the threshold, with its interval.")
    mean_rise = NumberField(allow_null=True)


class AuditSerializer(serializers.Serializer[Any]):
    """An audit; `kinds` is empty while it runs."""

    id = WholeField(source="pk")
    judge = serializers.CharField(source="judge.name")
    criterion = serializers.CharField(source="criterion.name")
    state = serializers.CharField()
    reason = serializers.CharField()
    texts = serializers.SerializerMethodField()
    of_other_topics = serializers.BooleanField(source="foreign")
    replies = serializers.SerializerMethodField()
    kinds = serializers.SerializerMethodField()
    started_at = serializers.DateTimeField()

    def get_texts(self, audit: GullibilityAudit) -> int:
        return len(audit.pairs)

    def get_replies(self, audit: GullibilityAudit) -> int:
        return progress_of(audit).done

    @extend_schema(responses=KindResultSerializer(many=True))
    def get_kinds(self, audit: GullibilityAudit) -> list[dict[str, Any]]:
        if audit.state == GullibilityAudit.State.RUNNING:
            return []
        return list(KindResultSerializer(results_of(audit), many=True).data)


class GullibilityAudits(APIView):
    """A study's audits of judges, the newest first, and the start of one."""

    permission_classes = [Researches]

    @extend_schema(responses=AuditSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List the audits; one whose worker is gone is sent to another."""
        study = study_of(request, name)
        audits = list(GullibilityAudit.objects.filter(criterion__study=study).select_related("judge", "criterion"))
        for audit in audits:
            requeue_if_stalled(audit, at=now())
        return Response(AuditSerializer(audits, many=True).data)

    @extend_schema(request=NewAuditSerializer, responses={201: AuditSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Start an audit."""
        study = study_of(request, name)
        sent = checked(NewAuditSerializer(data=request.data))
        judge = get_object_or_404(Judge.objects.select_related("template", "scale"), name=sent["judge"])
        criterion = get_object_or_404(study.criteria.select_related("scale", "study"), name=sent["criterion"])
        with conflict_on(NoAudit, QuotaSpent):
            audit = start_audit(
                judge=judge,
                criterion=criterion,
                texts=sent["texts"],
                seed=sent["seed"],
                by=user_of(request),
                at=now(),
            )
        return Response(AuditSerializer(audit).data, status=status.HTTP_201_CREATED)
