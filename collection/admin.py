"""The administrators' view of the shared tables. What is judged and what was judged can be read, not changed:
texts carry highlights, and judgments change through the service, which keeps the earlier ones.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin

from collection.models import (
    Collection,
    Criterion,
    EarlierJudgment,
    Exclusion,
    Guideline,
    Highlight,
    Item,
    Judgment,
    Passage,
    Rater,
    Report,
    RubricElement,
    Run,
    Scale,
    Study,
    System,
    Topic,
    User,
)


class ReadOnly:
    """Rows that are made and changed by services alone."""

    def has_add_permission(self, *_args: Any, **_kwargs: Any) -> bool:
        return False

    def has_change_permission(self, *_args: Any, **_kwargs: Any) -> bool:
        return False

    def has_delete_permission(self, *_args: Any, **_kwargs: Any) -> bool:
        return False


class LargeTable(admin.ModelAdmin[Any]):
    """A table of perhaps millions of rows: never counted, never offered in a drop-down."""

    show_full_result_count = False
    list_per_page = 50


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User]):
    list_display = ("username", "first_name", "last_name", "is_researcher", "is_staff", "is_active", "last_login")
    list_filter = ("is_researcher", "is_staff", "is_active")
    fieldsets = (
        *(DjangoUserAdmin.fieldsets or ()),
        ("Role", {"fields": ("is_researcher", "is_demonstration", "made_for")}),
    )
    autocomplete_fields = ("made_for",)
    add_fieldsets = (*DjangoUserAdmin.add_fieldsets, ("Role", {"fields": ("is_researcher",)}))


@admin.register(Rater)
class RaterAdmin(ReadOnly, LargeTable):
    list_display = ("name", "kind", "origin", "user", "collection", "created_at")
    list_filter = ("kind", "origin")
    list_select_related = ("user", "collection")
    search_fields = ("name", "content_hash")


@admin.register(Collection)
class CollectionAdmin(admin.ModelAdmin[Collection]):
    list_display = ("name", "title", "owner", "licence", "created_at")
    list_select_related = ("owner",)
    search_fields = ("name", "title")
    autocomplete_fields = ("owner", "researchers")


@admin.register(Topic)
class TopicAdmin(LargeTable):
    list_display = ("topic_id", "title", "collection")
    list_filter = ("collection",)
    list_select_related = ("collection",)
    search_fields = ("topic_id", "title")
    autocomplete_fields = ("collection",)


@admin.register(RubricElement)
class RubricElementAdmin(LargeTable):
    list_display = ("element_id", "kind", "text", "masked", "topic")
    list_filter = ("kind", "masked")
    list_select_related = ("topic",)
    search_fields = ("element_id", "text")
    autocomplete_fields = ("topic",)


@admin.register(Passage)
class PassageAdmin(ReadOnly, LargeTable):
    list_display = ("passage_id", "title", "collection", "document_id")
    list_select_related = ("collection",)
    search_fields = ("passage_id",)


@admin.register(System)
class SystemAdmin(admin.ModelAdmin[System]):
    list_display = ("name", "family", "collection")
    list_select_related = ("collection",)
    search_fields = ("name",)
    autocomplete_fields = ("collection",)


@admin.register(Run)
class RunAdmin(ReadOnly, LargeTable):
    list_display = ("name", "system", "collection")
    list_select_related = ("system", "collection")
    search_fields = ("name",)


@admin.register(Report)
class ReportAdmin(ReadOnly, LargeTable):
    list_display = ("run", "topic", "text_sha256")
    list_select_related = ("run", "topic")
    search_fields = ("run__name", "topic__topic_id")


@admin.register(Scale)
class ScaleAdmin(ReadOnly, admin.ModelAdmin[Scale]):
    list_display = ("name", "level", "values", "content_hash")


class GuidelineInline(ReadOnly, admin.TabularInline[Guideline, Study]):
    model = Guideline
    fields = ("version", "markdown", "created_by", "created_at")
    extra = 0


class CriterionInline(ReadOnly, admin.TabularInline[Criterion, Study]):
    model = Criterion
    fields = ("name", "task_type", "question", "scale", "threshold")
    extra = 0


@admin.register(Study)
class StudyAdmin(ReadOnly, admin.ModelAdmin[Study]):
    list_display = ("name", "title", "collection", "state", "overlap", "created_by", "created_at")
    list_filter = ("state",)
    list_select_related = ("collection", "created_by")
    search_fields = ("name", "title")
    inlines = (CriterionInline, GuidelineInline)


@admin.register(Item)
class ItemAdmin(ReadOnly, LargeTable):
    list_display = ("item_id", "task_type", "study", "topic")
    list_filter = ("task_type", "study")
    list_select_related = ("study", "topic")
    search_fields = ("item_id",)


class HighlightInline(ReadOnly, admin.TabularInline[Highlight, Judgment]):
    model = Highlight
    fields = ("purpose", "start", "end", "quote")
    extra = 0


@admin.register(Judgment)
class JudgmentAdmin(ReadOnly, LargeTable):
    list_display = ("item", "criterion", "rater", "grade", "ungraded", "judged_at")
    list_filter = ("ungraded", "rater__kind", "rater__origin")
    list_select_related = ("item", "criterion", "rater")
    search_fields = ("item__item_id", "rater__name")
    inlines = (HighlightInline,)


@admin.register(EarlierJudgment)
class EarlierJudgmentAdmin(ReadOnly, LargeTable):
    list_display = ("item", "criterion", "rater", "grade", "ungraded", "judged_at", "replaced_at", "reason")
    list_select_related = ("item", "criterion", "rater")
    search_fields = ("item__item_id", "rater__name")


@admin.register(Exclusion)
class ExclusionAdmin(ReadOnly, admin.ModelAdmin[Exclusion]):
    list_display = ("rater", "study", "reason", "excluded_by", "excluded_at", "lifted_at")
    list_select_related = ("rater", "study", "excluded_by")
