from django.urls import URLPattern, path

from judging.imported import views

urlpatterns: list[URLPattern] = [
    path("studies/<slug:name>/judging/imported/", views.imported_grades, name="imported_grades"),
    path("studies/<slug:name>/judging/imported/<int:pk>/", views.imported_judge, name="imported_judge"),
]
