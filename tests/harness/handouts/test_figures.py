"""The labs' figures and tables."""

import io

import numpy as np
import pytest
from matplotlib import image

from handouts.labs import figures


def test_one_figure_has_one_axes_and_several_columns_an_array() -> None:
    _, axes = figures.figure()
    _, two = figures.figure(columns=2)
    axes.set_xlabel("step")
    assert isinstance(two, np.ndarray)
    assert two.shape == (2,)


def test_a_figure_is_as_many_pixels_as_its_inches_times_100() -> None:
    fig, axes = figures.figure(width=4.0, height=2.0)
    axes.plot([0, 1], [0, 1])
    assert image.imread(io.BytesIO(figures.png(fig))).shape[:2] == (200, 400)


def test_the_same_figure_has_the_same_bytes() -> None:
    def drawn() -> bytes:
        fig, axes = figures.figure()
        axes.plot([1, 2, 3], [3, 1, 2], label="loss (nats)")
        axes.legend()
        return figures.png(fig)

    assert drawn() == drawn()


def test_a_plain_script_shows_nothing_but_meets_the_errors_of_drawing() -> None:
    fig, axes = figures.figure()
    figures.show(fig)
    axes.set_xlabel("$\\undefinedcommand$")
    with pytest.raises(ValueError, match="Unknown symbol"):
        figures.show(fig)


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    assert figures.table(["part", "FLOPs", "share"], [["QK^T", "1,024", "7.5%"], ["projections", "16", "-"]]) == (
        "part         FLOPs  share\n-----------  -----  -----\nQK^T         1,024   7.5%\nprojections     16      -"
    )


def test_a_table_without_rows_is_its_heading() -> None:
    assert figures.table(["a", "bc"], []) == "a  bc\n-  --"


def test_a_row_with_a_cell_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="a row has 1 cells, but there are 2 headings"):
        figures.table(["a", "b"], [["1"]])
