"""The administrators' view of what researchers may use, and used, of the operator's key."""

from __future__ import annotations

from django.contrib import admin

from collection.admin import LargeTable, ReadOnly
from judging.models import TokenQuota, TokenUse


@admin.register(TokenQuota)
class TokenQuotaAdmin(admin.ModelAdmin[TokenQuota]):
    list_display = ("researcher", "tokens", "note")
    list_select_related = ("researcher",)
    search_fields = ("researcher__username",)
    autocomplete_fields = ("researcher",)


@admin.register(TokenUse)
class TokenUseAdmin(ReadOnly, LargeTable):
    list_display = ("researcher", "used_for", "prompt_tokens", "completion_tokens", "used_at")
    list_filter = ("used_for",)
    list_select_related = ("researcher",)
    search_fields = ("researcher__username",)
