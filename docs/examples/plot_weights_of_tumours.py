"""
Which measurements speak for a tumour
=====================================

Scale the features, average the weights of the run, and draw the largest and smallest of them. Accuracy is measured on
rows that the model has not seen.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from rosenblatt import AveragedPerceptron, ExactScaler
from rosenblatt.plots import plot_weights

tumours = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(tumours.data, tumours.target_names[tumours.target], random_state=0)

model = make_pipeline(ExactScaler(), AveragedPerceptron(random_state=0)).fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.1%} of the unseen rows are right")
plot_weights(model)
