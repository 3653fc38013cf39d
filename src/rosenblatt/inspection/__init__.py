"""What a trained model says: its weights, one prediction, its geometry."""
