from django.urls import URLPattern, URLResolver, path

from annotate.crowd.urls import urlpatterns as crowd_urlpatterns
from annotate.quality.urls import urlpatterns as quality_urlpatterns
from annotate.views import pace, preview, review, steps, studies, work

app_name = "annotate"

urlpatterns: list[URLPattern | URLResolver] = [
    path("work/", work.queue, name="queue"),
    path("work/next/<slug:name>/", work.next_assignment, name="next_assignment"),
    path("work/done/<slug:name>/", work.nothing_left, name="nothing_left"),
    path("work/<int:pk>/", work.assignment, name="assignment"),
    path("work/<int:pk>/choice/", work.choice, name="choice"),
    path("work/<int:pk>/reveal/", steps.reveal, name="reveal"),
    path("work/<int:pk>/ahead/", pace.ahead, name="ahead"),
    path("work/<int:pk>/skip/", pace.skip, name="skip"),
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
    path("studies/<slug:name>/preview/<slug:task_type>/", preview.preview, name="preview"),
    path("studies/<slug:name>/batch/", review.batch_release, name="batch_release"),
    path("studies/<slug:name>/disagreements/", review.disagreement_list, name="disagreements"),
    path("studies/<slug:name>/disagreements/<int:item>/<slug:criterion>/", review.adjudication, name="adjudication"),
    path("studies/<slug:name>/people/<str:username>/adjudicates/", review.adjudicator, name="adjudicator"),
    path("studies/<slug:name>/spot-checks/", review.spot_checks, name="spot_checks"),
    path("studies/<slug:name>/spot-checks/draw/<int:rater>/", review.spot_checks_draw, name="spot_checks_draw"),
    path("studies/<slug:name>/spot-checks/<int:pk>/", review.spot_check, name="spot_check"),
    *quality_urlpatterns,
    *crowd_urlpatterns,
]
