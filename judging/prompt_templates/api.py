"""Prompt templates in the API."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import checked, invalid_on, study_to_set_up, user_of
from collection.web.api_access import ById, Researches
from judging.models import PromptTemplate
from judging.prompt_templates.serializers import NewTemplateSerializer, PreviewSerializer, TemplateSerializer
from judging.prompts.placeholders import BadTemplate
from judging.prompts.preview import items_to_preview, preview
from judging.prompts.template_files import TemplateText
from judging.prompts.template_versions import save_template


class TemplateViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[PromptTemplate]):
    """Prompt templates, which researchers share. They never change."""

    serializer_class = TemplateSerializer
    permission_classes = [Researches]
    pagination_class = ById
    lookup_field = "content_hash"
    queryset = PromptTemplate.objects.all()

    @extend_schema(request=NewTemplateSerializer, responses={201: TemplateSerializer, 200: TemplateSerializer})
    def create(self, request: Request) -> Response:
        """Store a template. An existing one with the same text is returned, with status 200."""
        sent = checked(NewTemplateSerializer(data=request.data))
        sent["replies"] = tuple(sent["replies"].items())
        with invalid_on(BadTemplate, field="text"):
            template, new = save_template(TemplateText(**sent), by=user_of(request))
        return Response(TemplateSerializer(template).data, status=201 if new else 200)

    @extend_schema(
        parameters=[
            OpenApiParameter("study", str, required=True),
            OpenApiParameter("item", str, description="Its item_id; the study's first if left out."),
        ],
        responses=PreviewSerializer,
    )
    @action(detail=True)
    def preview(self, request: Request, content_hash: str) -> Response:  # noqa: ARG002
        """Preview what a model reads about an item of a study of yours, with an estimate of its tokens."""
        template = self.get_object()
        study = study_to_set_up(request, request.query_params.get("study"))
        named = request.query_params.get("item")
        items = items_to_preview(template).filter(study=study, **({"item_id": named} if named else {}))
        shown = preview(template, items.order_by("pk").first(), study)
        if "prompt" not in shown:
            raise ValidationError({"item": shown.get("refusal", "The study has no such item with a text.")})
        return Response(PreviewSerializer(shown).data)
