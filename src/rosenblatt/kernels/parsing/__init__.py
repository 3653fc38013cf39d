"""Compiled parsers for decimal numbers, svmlight text and Vowpal Wabbit text."""
