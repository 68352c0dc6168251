"""The rules of every game of the house: pure, standard library only.

`game` says what a game is, `match` what is played for one stake, `play` folds a log into a state,
`registry` names what can be built, `record` verifies a finished game, `chance` derives the dice.
"""
