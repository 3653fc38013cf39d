"""Bytes and lines of files, whatever their compression."""
