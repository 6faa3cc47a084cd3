"""The pages of annotate."""
