"""The lab: a web page that shows a perceptron learning step by step. Only ``rosenblatt lab`` imports this package."""
