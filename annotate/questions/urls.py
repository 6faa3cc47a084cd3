from django.urls import URLPattern, path

from annotate.questions import views

urlpatterns: list[URLPattern] = [
    path("questions/", views.questions, name="questions"),
    path("questions/new/", views.question_new, name="question_new"),
    path("questions/<slug:name>/", views.question, name="question"),
    path("questions/<slug:name>/preview/", views.question_preview, name="question_preview"),
    path("questions/<slug:name>/withdraw/", views.question_withdraw, name="question_withdraw"),
]
