"""Imports: files become rows, all or nothing, and the same file twice changes nothing."""
