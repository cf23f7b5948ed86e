"""What can go wrong while handouts are made; each error is one line that says what to do."""


class BuildError(Exception):
    """A source breaks a rule, or a lab does not run: exit status 1."""


class UsageError(Exception):
    """What was asked for is not there, or a package is missing: exit status 2."""
