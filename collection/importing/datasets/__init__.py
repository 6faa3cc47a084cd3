"""Data sets whose files have a format of their own: each with its reader in `collection.formats`."""
