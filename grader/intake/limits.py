"""How much of a delivery is looked at. A right submission is a hundred times below every one of these."""

from grader.submission import MAX_SOURCE_BYTES

KIB, MIB = 1 << 10, 1 << 20

SOURCE_BYTES = MAX_SOURCE_BYTES  # one .py file
NOTEBOOK_BYTES = 4 * MIB  # one .ipynb: its outputs hold pictures
FORMS = 8  # an exercises.yaml in so many folders; one is used
KEPT_BYTES = 16 * MIB  # all sources and notebooks of one delivery together
ENTRIES = 10_000  # names in one folder tree or archive
NAME_BYTES = 255  # one part of a path: what file systems allow
PATH_BYTES = 1024
DEPTH = 32  # folders inside folders

ARCHIVE_BYTES = 256 * MIB  # the archive as delivered
UNPACKED_BYTES = 256 * MIB  # what it claims to, or does, unpack to; read as a stream and thrown away
RATIO = 200  # unpacked to packed; text reaches 20, a bomb 1000
RATIO_FROM = MIB  # below this, a high ratio harms nobody
READ_BYTES = MIB  # one read that the archive's own headers may ask for
