"""The perceptron in its dual form: sums of kernel values over the rows on which it made mistakes."""
