from django.urls import path

from collection.languages import views

urlpatterns = [path("language/", views.language, name="language")]
