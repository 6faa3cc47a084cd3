"""What makes people's work good and shows how good it is: gates before it, checks within it, pages after it."""
