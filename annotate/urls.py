from django.urls import URLPattern, URLResolver, path

from annotate.views import studies, work

app_name = "annotate"

urlpatterns: list[URLPattern | URLResolver] = [
    path("work/", work.queue, name="queue"),
    path("work/next/<slug:name>/", work.next_assignment, name="next_assignment"),
    path("work/done/<slug:name>/", work.nothing_left, name="nothing_left"),
    path("work/<int:pk>/", work.assignment, name="assignment"),
    path("work/<int:pk>/choice/", work.choice, name="choice"),
    path("work/<int:pk>/submit/", work.submission, name="submission"),
    path("studies/", studies.studies, name="studies"),
    path("studies/new/", studies.study_new, name="study_new"),
    path("studies/preview/", studies.guidelines_preview, name="guidelines_preview"),
    path("studies/<slug:name>/", studies.study, name="study"),
    *(
        path(f"studies/<slug:name>/{move}/", studies.study_state, {"move": move}, name=f"study_{move}")
        for move in studies.MOVES
    ),
    path("studies/<slug:name>/guidelines/", studies.study_guidelines, name="study_guidelines"),
    path("studies/<slug:name>/people/", studies.study_people, name="study_people"),
    path("studies/<slug:name>/people/<str:username>/remove/", studies.study_remove, name="study_remove"),
    path("studies/<slug:name>/people/<str:username>/exclude/", studies.study_exclude, name="study_exclude"),
    path("studies/<slug:name>/people/<str:username>/include/", studies.study_include, name="study_include"),
]
