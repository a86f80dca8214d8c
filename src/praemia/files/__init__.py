"""Task and machine files: load them, with the place of every mistake, save them, and point out what seems odd."""
