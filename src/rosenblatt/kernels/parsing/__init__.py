"""Compiled parsers of decimal numbers, svmlight and Vowpal Wabbit text."""
