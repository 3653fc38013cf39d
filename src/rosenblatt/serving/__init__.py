"""A server that predicts and learns over HTTP, and keeps every row that it has acknowledged."""
