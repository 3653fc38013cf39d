"""File formats that are safe to read and written atomically; they do not depend on the learners."""
