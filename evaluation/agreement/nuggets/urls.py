from django.urls import URLPattern, path

from evaluation.agreement.nuggets import views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/nugget-agreement/", views.nugget_agreement, name="nugget_agreement"),
    path("collections/<slug:name>/nugget-agreement/list/", views.nuggets_as_reports, name="nuggets_as_reports"),
]
