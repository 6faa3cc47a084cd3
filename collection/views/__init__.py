"""Pages of the collection, and those of every signed-in person."""
