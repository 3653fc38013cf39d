"""
How many passes?
================

Measure training and test error after each pass. Training error keeps falling; test error may rise again.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rosenblatt import ExactScaler, Perceptron
from rosenblatt.plots import plot_errors

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
scaler = ExactScaler().fit(X_train)

model = Perceptron(random_state=0, max_iter=40)
plot_errors(model, scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)
