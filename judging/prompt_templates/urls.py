from django.urls import URLPattern, path

from judging.prompt_templates import views

urlpatterns: list[URLPattern] = [
    path("judges/templates/", views.templates, name="templates"),
    path("judges/templates/new/", views.template_new, name="template_new"),
    path("judges/templates/<slug:name>/<int:version>/", views.template, name="template"),
    path(
        "judges/templates/<slug:name>/<int:version>/tokens/<int:item>/",
        views.template_tokens,
        name="template_tokens",
    ),
    path("judges/templates/<slug:name>/<int:version>/trial/", views.template_trial, name="template_trial"),
]
