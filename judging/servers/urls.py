from django.urls import URLPattern, path

from judging.servers import views

urlpatterns: list[URLPattern] = [
    path("judges/servers/", views.model_servers, name="model_servers"),
    path("judges/servers/new/", views.model_server_new, name="model_server_new"),
    path("judges/servers/server/<slug:name>/", views.model_server, name="model_server"),
    path("judges/servers/server/<slug:name>/change/", views.model_server_change, name="model_server_change"),
]
