"""Paid visits from crowd sites: what was done in them, what was offered for it, and how they end."""
