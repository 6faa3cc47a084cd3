"""The pages of model servers: all of them, a new one, one."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from collection.accounts.access import refuse_unless_researcher
from collection.accounts.views import SignedInRequest
from collection.models import User
from judging.engines.servers import roots_of
from judging.models import ModelServer
from judging.servers.changes import look, may_change, save_server, switch, visible_to
from judging.servers.forms import ModelServerForm


@require_safe
@login_required
def model_servers(request: SignedInRequest) -> HttpResponse:
    """The servers that the user may use or change."""
    refuse_unless_researcher(request.user)
    rows = [(server, roots_of(server), len(server.serves) - 1) for server in visible_to(request.user)]
    return render(request, "judging/model_servers.html", {"rows": rows})


@sensitive_post_parameters("key")
@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def model_server_new(request: SignedInRequest) -> HttpResponse:
    """A form; posting it adds a server and asks it which models it has."""
    refuse_unless_researcher(request.user)
    form = ModelServerForm(request.POST or None, user=request.user)
    if saved := _saved(request, form):
        return redirect("judging:model_server", saved.name)
    return render(request, "judging/model_server.html", {"form": form}, status=422 if form.errors else 200)


@sensitive_post_parameters("key")
@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def model_server(request: SignedInRequest, name: str) -> HttpResponse:
    """One server, with a form for who may change it."""
    server = _visible(request.user, name)
    form = None
    if may_change(server, request.user):
        form = ModelServerForm(request.POST or None, user=request.user, server=server)
        if saved := _saved(request, form):
            return redirect("judging:model_server", saved.name)
    elif request.method == "POST":
        raise Http404
    context = {"server": server, "roots": roots_of(server), "form": form}
    return render(request, "judging/model_server.html", context, status=422 if form and form.errors else 200)


@require_POST
@login_required
def model_server_change(request: SignedInRequest, name: str) -> HttpResponse:
    """Ask the server what it has, switch it off or on, or remove it with its key."""
    server = _visible(request.user, name)
    action = request.POST.get("action", "")
    removing = action == "remove" and not server.from_variables
    if not may_change(server, request.user) or not (removing or action in ("look", "off", "on")):
        raise Http404
    if removing:
        server.delete()
        messages.success(request, f"The server “{name}” is removed, and its key with it.")
        return redirect("judging:model_servers")
    if action == "look":
        look(server, at=now())
    else:
        switch(server, active=action == "on", at=now())
    return redirect("judging:model_server", name)


def _visible(user: User, name: str) -> ModelServer:
    """Return a server that the user may use or change; else answer 404."""
    refuse_unless_researcher(user)
    for server in visible_to(user):
        if server.name == name:
            return server
    raise Http404


def _saved(request: SignedInRequest, form: ModelServerForm) -> ModelServer | None:
    """Return the server as the form has it, or None with the form's errors where there are any."""
    if not form.is_valid():
        return None
    try:
        saved = save_server(form.sent, server=form.server, by=request.user, at=now())
    except ValidationError as invalid:
        form.add_errors(invalid)
        return None
    messages.success(request, f"The server “{saved}” is saved.")
    return saved
