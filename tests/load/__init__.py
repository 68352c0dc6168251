"""Load: scripted players on a running house. Run by `make load`; the drills use its players."""
