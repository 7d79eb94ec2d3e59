# SPDX-License-Identifier: Apache-2.0
"""What all pictures of the commands share."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from opspace_ctrl.commands._figure import histogram, new_figure


@pytest.mark.parametrize(
    ("least", "most"),
    [(280.0, 8200.0), (300.0, 390.0), (0.02, 3000.0), (280.0, 208461.0), (2100.0, 208461.0)],
)
def test_the_labels_of_a_histogram_do_not_overlap(least, most):
    figure = new_figure(5.0, 4.0)
    axes = figure.subplots()
    histogram(axes, np.geomspace(least, most, 1000), "us")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    labels = [*axes.get_xticklabels(), *axes.get_xticklabels(minor=True)]
    boxes = [
        label.get_window_extent(canvas.get_renderer())
        for label in labels
        if label.get_text() and least <= label.get_position()[0] <= most
    ]
    boxes.sort(key=lambda box: box.x0)
    assert len(boxes) > 1
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
