"""Steps of pipelines as plain data: one small codec for each class that is known."""
