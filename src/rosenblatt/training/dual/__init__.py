"""The perceptron in its dual form: sums of kernel values over the rows that it made mistakes on."""
