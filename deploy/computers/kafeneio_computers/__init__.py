"""Plays for the seats that computers have: a client of `rules` like any other."""
