"""The seven lecture labs: their sources (`NN_name.py`), the small modules they import, and what is built of them."""
