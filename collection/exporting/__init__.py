"""Exports: written line by line, so that a collection of any size needs little memory."""
