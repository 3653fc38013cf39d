"""Access to the bytes and lines of files, compressed or not."""
