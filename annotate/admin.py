"""What administrators do about people: they can close accounts of those who ask for it by mail."""

from __future__ import annotations

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.timezone import now

from annotate.crowd.privacy import StillResearches, close_account
from collection.admin import UserAdmin
from collection.models import User

admin.site.unregister(User)


@admin.register(User)
class PeopleAdmin(UserAdmin):
    actions = ("close_accounts",)

    @admin.action(description="Close the selected accounts permanently", permissions=["delete"])
    def close_accounts(self, request: HttpRequest, selected: QuerySet[User]) -> HttpResponse | None:
        """Ask whether they are meant; then close each that can be closed, and say why another cannot."""
        if "confirmed" not in request.POST:
            context = {**self.admin_site.each_context(request), "people": selected, "box": ACTION_CHECKBOX_NAME}
            return render(request, "annotate/close_accounts.html", context)
        closed = 0
        for user in selected:
            if user == request.user:
                self.message_user(request, "Close your own account under Account.", messages.ERROR)
                continue
            try:
                close_account(user=user, at=now())
            except StillResearches as refused:
                self.message_user(request, f"{user}: {refused}", messages.ERROR)
            else:
                closed += 1
        if closed:
            self.message_user(request, f"{closed} {'account is' if closed == 1 else 'accounts are'} closed.")
        return None
