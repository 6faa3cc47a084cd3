from django.urls import URLPattern, URLResolver, include, path

from evaluation.agreement import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:name>/agreement/items/<int:pk>/", views.item, name="item"),
    path("", include("evaluation.agreement.errors.urls")),
    path("", include("evaluation.agreement.nuggets.urls")),
]
