"""The figures behind the plots, beside their definitions; plots on axes, and as files for papers."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from support.comparisons import ordinary

from ilpinfer.comparison import plots
from ilpinfer.comparison.plots import (
    MARKERS,
    gap_values,
    mean_gaps,
    picture,
    styles,
    time_ratios,
    times_by_length,
)

METHODS = ("auto", "one", "two")
CAP = 50.0


@pytest.fixture
def frame():
    """Rows of three methods on 40 sequences; some without a labelling, one sequence infeasible, one with unknown optimum."""
    random = np.random.default_rng(0)
    lines = []
    for sequence in range(40):
        for method in METHODS:
            for seed in (0.0, 1.0) if method == "two" else (np.nan,):
                gap = 0.0 if method == "auto" else random.choice([0.0, 0.5, 2.0, 70.0, np.nan])
                lines.append((sequence, method, seed, random.uniform(0.001, 0.1), 5 + sequence, gap))
    made = pd.DataFrame(lines, columns=["sequence", "method", "seed", "seconds", "tokens", "gap"])
    made["optimum"] = np.where(made.sequence == 3, np.nan, 1.0)
    made.loc[made.sequence == 3, "gap"] = np.nan
    made["infeasible"] = made.sequence == 4
    made["error"] = np.where((made.method == "one") & (made.sequence % 7 == 1), "RuntimeError", "")
    return made


def test_gaps_are_those_with_a_known_optimum(frame):
    known = frame[~frame.sequence.isin([3, 4]) & (frame.error == "")]
    for method, values in gap_values(frame, CAP).items():
        own = known.gap[known.method == method]
        for x in (0.0, 0.3, 0.5, 1.9, 2.0, 70.0, 100.0):
            assert (values <= x).mean() == pytest.approx((own <= x).mean())
    assert np.isinf(gap_values(frame, CAP)["one"]).any(), "missing labellings"


def test_ratios_are_multiples_of_the_best_time_that_reaches_the_optimum(frame):
    known = frame[~frame.sequence.isin([3, 4]) & (frame.error == "")]
    best = known[known.gap == 0].groupby("sequence").seconds.min()
    for method, ratios in time_ratios(frame, CAP).items():
        own = known[known.method == method]
        for x in (1.0, 1.5, 3.0, 10.0, 1000.0):
            within = (own.gap == 0) & (own.seconds <= x * own.sequence.map(best) * (1 + 1e-12))
            assert (ratios <= x * (1 + 1e-12)).mean() == pytest.approx(within.mean())
    unsolved = frame.assign(gap=np.nan)
    assert all(np.isinf(ratios).all() for ratios in time_ratios(unsolved, CAP).values())


def test_means_over_time_are_of_the_best_gap_so_far():
    random = np.random.default_rng(1)
    lines = []
    for sequence in range(30):
        optimum = float(random.uniform(-5, 5))
        times = sorted(random.uniform(0.001, 1.0, 4))
        scores = sorted(optimum - random.choice([0, 1, 4, 80], 3))
        record = [[times[0] / 2, None], *([t, s] for t, s in zip(times, scores, strict=False))]
        lines.append((sequence, "search", times[-1], scores[-1], record, optimum, ""))
        lines.append((sequence, "once", times[0], scores[0] if sequence % 3 else None, [], optimum, ""))
    lines += [(99, "search", 0.1, 1.0, [], None, ""), (0, "given", None, 1.0, [], 1.0, "")]
    lines.append((1, "search", 7.0, None, [], 1.0, "RuntimeError"))
    names = ["sequence", "method", "seconds", "score", "incumbents", "optimum", "error"]
    frame = pd.DataFrame(lines, columns=names).assign(infeasible=False)
    curves = mean_gaps(frame.astype({"seconds": float, "score": float, "optimum": float}), CAP)
    assert list(curves) == ["search", "once"]
    for method, (x, y) in curves.items():
        own = [line for line in lines if line[1] == method and line[5] is not None and not line[6]]
        for at in (0.0005, 0.1, 0.5, 2.0):
            gaps = []
            for _, _, seconds, score, record, optimum, _ in own:
                found = [s for t, s in [*record, (seconds, score)] if s is not None and t <= at]
                gaps.append(optimum - max(found) if found else CAP)
            place = np.searchsorted(x, at, side="right") - 1
            assert (y[place] if place >= 0 else CAP) == pytest.approx(np.mean(gaps)), (method, at)


def test_times_by_length_are_medians_of_bins(frame):
    curves = times_by_length(frame, CAP)
    for method, (tokens, ms) in curves.items():
        own = frame[(frame.method == method) & (frame.error == "")]
        assert len(tokens) == plots.BINS and (np.diff(tokens) > 0).all()
        first = own[own.sequence < 5]
        assert (tokens[0], ms[0]) == (first.tokens.median(), pytest.approx(1000 * first.seconds.median()))
    assert times_by_length(frame.assign(seconds=np.nan), CAP) == {}


def test_curves_differ_in_colour_and_dash():
    made = styles([str(i) for i in range(44)]).values()
    assert len({(style["color"], style["linestyle"]) for style in made}) == 44
    assert len({style["color"] for style in list(made)[:11]}) == 11
    assert len({style["marker"] for style in made}) == len(MARKERS)


def test_axes_keep_their_size_under_a_long_legend():
    heights = []
    for count in (2, 28):
        axes = []

        def draw(ax, axes=axes, count=count):
            axes.append(ax)
            for number in range(count):
                ax.plot([0, 1], label=str(number))

        picture(draw)
        heights.append(axes[0].get_window_extent().height)
    assert heights[1] > 0.9 * heights[0]


def test_plots_are_drawn_on_the_axes_that_are_given():
    comparison = ordinary(methods=["auto", "viterbi"])
    for name in plots.PLOTS:
        ax = Figure().subplots()
        assert comparison.plot(name, ax) is ax
        assert re.search(r"\((nats|s|multiple of the best|tokens)\)", ax.get_xlabel()), "a unit"
        assert re.search(r"\((%|nats|ms)\)", ax.get_ylabel()), "a unit"
        assert [line.get_label() for line in ax.lines][:2] == ["auto", "viterbi"]
    gaps = Figure().subplots()
    comparison.plot("gaps", gaps)
    auto, viterbi, _ = gaps.lines
    assert (auto.get_ydata()[1:] == 1).all() or auto.get_ydata()[-1] == 1
    inside = viterbi.get_ydata()[viterbi.get_xdata() < gaps.get_xlim()[1]]
    assert inside.max(initial=0.0) == 0, "no labelling, no gap"


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (1.0, 5.5, 6, [1, 2, 3, 4, 5]),
        (0.9, 60.0, 6, [1, 2, 5, 10, 20, 50]),
        (0.1, 130.0, 5, [0.1, 1, 10, 100]),
        (1e-6, 10.0, 5, [1e-6, 1e-4, 1e-2, 1.0]),
        (0.9, 5.0, 6, [1, 2, 3, 4, 5]),
    ],
)
def test_ticks_are_few_and_round(low, high, most, ticks):
    assert plots._ticks(low, high, most) == pytest.approx(ticks)


@pytest.mark.parametrize("name", plots.PLOTS)
def test_numbers_on_axes_of_a_narrow_figure_do_not_touch(name):
    """Drawn as for a column of a paper, 3.3 inches wide."""
    drawn = []

    def draw(ax):
        ordinary(methods=["auto", "viterbi", "beam:width=1"]).plot(name, ax)
        drawn.append(ax)

    plots.plot(draw, "svg", (3.3, 2.0))
    (ax,) = drawn
    for axis, side in ((ax.xaxis, 0), (ax.yaxis, 1)):
        low, high = sorted(axis.get_view_interval())
        boxes = [
            tick.label1.get_window_extent().extents.reshape(2, 2)[:, side]
            for tick in axis.get_major_ticks()
            if low <= tick.get_loc() <= high
        ]
        assert len(boxes) > 1
        ordered = sorted(map(list, boxes))
        assert all(one[1] < other[0] for one, other in itertools.pairwise(ordered)), ordered


def test_files_have_the_width_that_is_given_and_truetype_fonts(tmp_path):
    comparison = ordinary(methods=["auto", "viterbi"])
    (file,) = comparison.write_plots(tmp_path, "pdf", width=3.3, only=["gaps"])
    content = file.read_bytes()
    (box,) = re.findall(rb"/MediaBox \[ 0 0 ([0-9.]+) ", content)
    assert file.name == "gaps.pdf" and float(box) == pytest.approx(3.3 * 72)
    assert b"/FontType 42" in content or b"/CIDFontType2" in content
    assert b"/Type3" not in content
    (svg,) = comparison.write_plots(tmp_path, "svg", width=7.0, only=["lengths"])
    assert 'width="504pt"' in svg.read_text()
