"""The command `kafeneio`: one file for each group of commands."""
