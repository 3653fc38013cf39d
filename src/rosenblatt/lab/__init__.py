"""The lab: a page in the browser where a perceptron learns step by step. Only the command imports it, on use."""
