"""Failure drills: real processes under fire, with the real clock. Run by `make drills`."""
