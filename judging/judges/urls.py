from django.urls import URLPattern, path

from judging.judges import ensemble_views, views

urlpatterns: list[URLPattern] = [
    path("judges/", views.judges, name="judges"),
    path("judges/new/", views.judge_new, name="judge_new"),
    path("judges/server/", views.server, name="server"),
    path("judges/ensembles/new/", ensemble_views.ensemble_new, name="ensemble_new"),
    path("judges/judge/<slug:name>/", views.judge, name="judge"),
    path("judges/judge/<slug:name>/combine/", ensemble_views.ensemble_combine, name="ensemble_combine"),
    path("judges/judge/<slug:name>/probe/", views.judge_probe, name="judge_probe"),
]
