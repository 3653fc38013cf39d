"""
Probabilities that can be trusted
=================================

Fit probabilities to rows that the model has not seen, and compare them with what happened on others.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from rosenblatt import AveragedPerceptron, ExactScaler, calibrated
from rosenblatt.plots import plot_reliability

X, y = load_breast_cancer(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.6, random_state=0)
X_unseen, X_test, y_unseen, y_test = train_test_split(X_rest, y_rest, random_state=0)

model = make_pipeline(ExactScaler(), AveragedPerceptron(random_state=0)).fit(X_train, y_train)
model = calibrated(model, X_unseen, y_unseen)
plot_reliability(model, X_test, y_test)
