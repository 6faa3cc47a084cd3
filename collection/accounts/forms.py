"""Forms about one's mail address and what comes to it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy

from collection.models import User


class ForgottenForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("Mail address"), max_length=254, widget=forms.EmailInput({"autocomplete": "email"})
    )


class NoticesForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ["mails_notices"]


class AddressForm(forms.Form):
    """A new address, or none, with the password of whoever has one."""

    email = forms.EmailField(
        label=gettext_lazy("New mail address"),
        required=False,
        max_length=254,
        help_text=gettext_lazy("Leave it empty to remove your address."),
        widget=forms.EmailInput({"autocomplete": "email"}),
    )
    address_password = forms.CharField(
        label=gettext_lazy("Password"),
        required=False,
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )

    def __init__(self, data: Any = None, *, user: User, knows_password: bool = True) -> None:
        super().__init__(data)
        self.knows_password = knows_password
        if not user.has_usable_password():
            del self.fields["address_password"]

    def clean_address_password(self) -> str:
        if not self.knows_password:
            raise ValidationError(gettext("This is not your password."))
        return str(self.cleaned_data["address_password"])
