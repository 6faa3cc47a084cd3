"""The site for others, without the demonstration, checked for deployment first."""

from __future__ import annotations

from config.management.commands import up


class Command(up.Command):
    help = "Set up and start the site for others, without the demonstration study."
    for_others = True
