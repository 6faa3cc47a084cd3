from django.urls import URLPattern, path, re_path

from judging.jobs import start_views, views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/judging/", views.jobs, name="jobs"),
    path("studies/<slug:name>/judging/<int:pk>/", views.job, name="job"),
    path("studies/<slug:name>/judging/<int:pk>/again/", views.job_again, name="job_again"),
    path("studies/<slug:name>/judging/<int:pk>/replies/", views.job_replies, name="job_replies"),
    re_path(
        r"^studies/(?P<name>[-\w]+)/judging/(?P<pk>\d+)/(?P<move>pause|resume|cancel)/$",
        views.job_move,
        name="job_move",
    ),
    path("studies/<slug:name>/judging/estimate/", start_views.job_estimate, name="job_estimate"),
    path("studies/<slug:name>/judging/start/", start_views.job_start, name="job_start"),
    path(
        "studies/<slug:name>/judging/<int:pk>/batch/requests/",
        views.job_batch_requests,
        name="job_batch_requests",
    ),
    path("studies/<slug:name>/judging/<int:pk>/batch/replies/", views.job_batch_replies, name="job_batch_replies"),
]
