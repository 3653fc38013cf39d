"""What pickles of version 0.1 ask for: they cannot be read, and this says what to do."""

raise ImportError(
    "this pickle was written by rosenblatt 0.1, and pickles are not promised across versions: load it with that "
    "version, write the model with rosenblatt.save, and read that file with rosenblatt.load, as later versions can."
)
