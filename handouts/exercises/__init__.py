"""The lecture's exercises and quiz: `exercises.yaml` and `answers.yaml`, and the pages and forms made from them."""
