"""What makes the handouts: `python -m handouts.build`."""
