"""Models as files: saved, loaded, and exported for other programs."""
