"""Speed, each figure beside a bare baseline of the same run. Not part of the tests."""
