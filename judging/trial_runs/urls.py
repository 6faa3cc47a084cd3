from django.urls import URLPattern, path

from judging.trial_runs import views

urlpatterns: list[URLPattern] = [
    path("judges/judge/<slug:name>/trial/", views.judge_trial, name="judge_trial"),
    path("judges/trials/<int:pk>/", views.trial, name="trial"),
]
