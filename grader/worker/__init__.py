"""What runs beside student code in the sandbox: the standard library and NumPy only, nothing of `grader`.

The folder is bound into the sandbox as it stands, as the package `worker`. `main` starts a fork server (`server`) that
never runs student code; each request gets a child (`child`) that gives up its rights (`lockdown`) before it loads any.
"""
