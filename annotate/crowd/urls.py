"""Addresses of people from outside and of the researcher's page about them, in the namespace `annotate`."""

from django.urls import URLPattern, path, re_path

from annotate.crowd import closing_views, entry_views, people_views, views

SITE = "(?P<site>prolific|mturk)"
STUDY = r"^studies/(?P<name>[-a-zA-Z0-9_]+)/crowd"

urlpatterns: list[URLPattern] = [
    path("account/close/", closing_views.account_close, name="account_close"),
    path("p/<str:token>/", entry_views.prolific_entry, name="prolific_entry"),
    path("m/<str:token>/", entry_views.mturk_entry, name="mturk_entry"),
    path("m/<str:token>/start/", entry_views.mturk_start, name="mturk_start"),
    path("m/<str:token>/state/", entry_views.mturk_state, name="mturk_state"),
    path("i/<str:token>/", entry_views.invitation, name="invitation"),
    path("back/<str:token>/", entry_views.come_back, name="come_back"),
    path("work/finished/<slug:name>/", entry_views.crowd_end, name="crowd_end"),
    path("studies/<slug:name>/crowd/", views.crowd, name="crowd"),
    re_path(rf"{STUDY}/{SITE}/$", views.crowd_entry, name="crowd_entry"),
    re_path(rf"{STUDY}/{SITE}/top-ups.csv$", views.crowd_top_ups, name="crowd_top_ups"),
    re_path(rf"{STUDY}/{SITE}/top-ups/paid/$", views.crowd_top_ups_paid, name="crowd_top_ups_paid"),
    path("studies/<slug:name>/crowd/statuses/", views.crowd_statuses, name="crowd_statuses"),
    path("studies/<slug:name>/crowd/sessions/<int:pk>/return/", views.crowd_return, name="crowd_return"),
    path("studies/<slug:name>/crowd/sessions/<int:pk>/undo-return/", views.crowd_undo_return, name="crowd_undo_return"),
    path("studies/<slug:name>/crowd/invitations/", people_views.invitation_new, name="invitation_new"),
    path(
        "studies/<slug:name>/crowd/invitations/<int:pk>/revoke/",
        people_views.invitation_revoke,
        name="invitation_revoke",
    ),
    path("studies/<slug:name>/crowd/people/", people_views.crowd_find, name="crowd_find"),
    path("studies/<slug:name>/crowd/people/<str:username>/", people_views.crowd_person, name="crowd_person"),
    path("studies/<slug:name>/crowd/people/<str:username>/erase/", people_views.crowd_erase, name="crowd_erase"),
    path("studies/<slug:name>/crowd/people/<str:username>/link/", people_views.invitation_link, name="invitation_link"),
    *(
        path(
            f"studies/<slug:name>/crowd/judgments.{table}",
            people_views.crowd_judgments,
            {"table": table},
            name=f"crowd_judgments_{table}",
        )
        for table in ("csv", "jsonl")
    ),
]
