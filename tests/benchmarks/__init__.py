"""How fast and how large things are, as ratios measured side by side: `python -m tests.benchmarks [--only F1,F9]`."""
