"""Readers of svmlight and Vowpal Wabbit text."""
