from django.urls import URLPattern, path

from annotate.work import choice_views, comment_views, gate_views, pace_views, preview_views, queue_views, views

urlpatterns: list[URLPattern] = [
    path("work/", queue_views.queue, name="queue"),
    path("work/page_worker.js", choice_views.page_worker, name="page_worker"),
    path("work/next/<slug:name>/", queue_views.next_assignment, name="next_assignment"),
    path("work/done/<slug:name>/", queue_views.nothing_left, name="nothing_left"),
    path("work/<int:pk>/", views.assignment, name="assignment"),
    path("work/<int:pk>/choice/", choice_views.choice, name="choice"),
    path("work/<int:pk>/reveal/", views.reveal, name="reveal"),
    path("work/<int:pk>/ahead/", pace_views.ahead, name="ahead"),
    path("work/<int:pk>/later/", pace_views.later, name="later"),
    path("work/<int:pk>/skip/", pace_views.skip, name="skip"),
    path("work/<int:pk>/skip/undo/", pace_views.skip_undo, name="skip_undo"),
    path("work/<int:pk>/guidelines/", views.guidelines_read, name="guidelines_read"),
    path("work/<int:pk>/keep/", views.keep_earlier, name="keep_earlier"),
    path("work/<int:pk>/submit/", views.submission, name="submission"),
    path("work/consent/<slug:name>/", gate_views.consent, name="consent"),
    path("work/questions/<slug:name>/", gate_views.questionnaire, name="questionnaire"),
    path("work/training/<slug:name>/", gate_views.training, name="training"),
    path("work/attention/<slug:name>/", gate_views.attention, name="attention"),
    path("work/end/<slug:name>/", gate_views.screened_out, name="screened_out"),
    path("work/<int:pk>/comment/", comment_views.comment, name="comment"),
    path("work/comments/<int:pk>/reply/", comment_views.comment_reply, name="comment_reply"),
    path("work/comments/<int:pk>/read/", comment_views.comment_read, name="comment_read"),
    path("studies/<slug:name>/preview/<slug:task_type>/", preview_views.preview, name="preview"),
]
