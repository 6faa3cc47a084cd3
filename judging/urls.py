from django.urls import URLPattern, URLResolver, path, re_path

from judging.views import jobs, judges, templates

app_name = "judging"

urlpatterns: list[URLPattern | URLResolver] = [
    path("judges/", judges.judges, name="judges"),
    path("judges/new/", judges.judge_new, name="judge_new"),
    path("judges/server/", judges.server, name="server"),
    path("judges/templates/", templates.templates, name="templates"),
    path("judges/templates/new/", templates.template_new, name="template_new"),
    path("judges/templates/<slug:name>/<int:version>/", templates.template, name="template"),
    path("judges/judge/<slug:name>/", judges.judge, name="judge"),
    path("studies/<slug:name>/judging/", jobs.jobs, name="jobs"),
    path("studies/<slug:name>/judging/estimate/", jobs.job_estimate, name="job_estimate"),
    path("studies/<slug:name>/judging/start/", jobs.job_start, name="job_start"),
    path("studies/<slug:name>/judging/<int:pk>/", jobs.job, name="job"),
    path("studies/<slug:name>/judging/<int:pk>/again/", jobs.job_again, name="job_again"),
    path("studies/<slug:name>/judging/<int:pk>/replies/", jobs.replies, name="replies"),
    re_path(
        r"^studies/(?P<name>[-\w]+)/judging/(?P<pk>\d+)/(?P<move>pause|resume|cancel)/$", jobs.job_move, name="job_move"
    ),
]
