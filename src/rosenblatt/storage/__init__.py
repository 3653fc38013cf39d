"""Files that are safe to read and replaced as a whole; nothing here is about perceptrons."""
