from django.urls import URLPattern, path

from annotate.studies import criterion_views, edit_views, frame_views, suggestion_views, views

urlpatterns: list[URLPattern] = [
    path("studies/", views.studies, name="studies"),
    path("studies/new/", views.study_new, name="study_new"),
    path("studies/new/criteria/", criterion_views.study_criteria, name="study_criteria"),
    path("studies/preview/", views.guidelines_preview, name="guidelines_preview"),
    path("studies/frame/", frame_views.study_frame_fields, name="study_frame_fields"),
    path("studies/<slug:name>/", views.study, name="study"),
    *(
        path(f"studies/<slug:name>/{move}/", views.study_state, {"move": move}, name=f"study_{move}")
        for move in views.MOVES
    ),
    path("studies/<slug:name>/edit/", edit_views.study_edit, name="study_edit"),
    path("studies/<slug:name>/frame/", frame_views.study_frame, name="study_frame"),
    path("studies/<slug:name>/copy/", edit_views.study_copy, name="study_copy"),
    path("studies/<slug:name>/delete/", views.study_delete, name="study_delete"),
    path("studies/<slug:name>/guidelines/", views.study_guidelines, name="study_guidelines"),
    path("studies/<slug:name>/criteria/<slug:criterion>/threshold/", criterion_views.threshold, name="threshold"),
    path("studies/<slug:name>/suggestions/", suggestion_views.suggestions, name="suggestions"),
    path("studies/<slug:name>/suggestions/end/", suggestion_views.suggestions_end, name="suggestions_end"),
    path("studies/<slug:name>/people/", views.study_people, name="study_people"),
    path("studies/<slug:name>/people/<str:username>/remove/", views.study_remove, name="study_remove"),
    path("studies/<slug:name>/people/<str:username>/exclude/", views.study_exclude, name="study_exclude"),
    path("studies/<slug:name>/people/<str:username>/include/", views.study_include, name="study_include"),
]
