"""The numbers behind the pictures, beside their definitions."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from ilpinfer.comparison.curves import POINTS, anytime, gap_shares, thin, time_profiles, times_by_length
from ilpinfer.comparison.plots import MARKERS, picture, plot_lengths, plot_shares, styles

METHODS = ("auto", "one", "two")


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


def at(curve, x):
    """The value of a step curve at x."""
    place = np.searchsorted(curve.x, x, side="right") - 1
    return curve.y[place] if place >= 0 else 0.0


def test_shares_count_sequences_with_at_most_that_gap(frame):
    known = frame[~frame.sequence.isin([3, 4]) & (frame.error == "")]
    for curve in gap_shares(frame, METHODS):
        own = known[known.method == curve.method]
        for x in (0.0, 0.3, 0.5, 1.9, 2.0, 70.0, 100.0):
            assert at(curve, x) == pytest.approx((own.gap <= x).mean())
    assert at(gap_shares(frame, ["one"])[0], np.inf) < 1


def test_profiles_count_sequences_solved_within_multiples_of_the_best_time(frame):
    known = frame[~frame.sequence.isin([3, 4]) & (frame.error == "")]
    best = known[known.gap == 0].groupby("sequence").seconds.min()
    for curve in time_profiles(frame, METHODS):
        own = known[known.method == curve.method]
        for x in (1.0, 1.5, 3.0, 10.0, 1000.0):
            within = (own.gap == 0) & (own.seconds <= x * own.sequence.map(best) * (1 + 1e-12))
            assert at(curve, x) == pytest.approx(within.mean())


def test_no_method_that_solves_nothing_breaks_a_profile(frame):
    none = frame.assign(gap=np.where(frame.method == "one", np.nan, frame.gap))
    (curve,) = time_profiles(none, ["one"])
    assert len(curve.x) == len(curve.y) == 0
    assert time_profiles(frame, ["absent"]) == gap_shares(frame, ["absent"]) == []


def row(sequence, method, seconds, score, incumbents=()):
    names = ("sequence", "method", "seconds", "score", "incumbents")
    return dict(zip(names, (sequence, method, seconds, score, list(incumbents)), strict=True))


def test_curves_over_time_are_means_of_the_best_gap_so_far():
    random = np.random.default_rng(1)
    rows, optima = [], {}
    for sequence in range(30):
        optima[sequence] = float(random.uniform(-5, 5))
        times = sorted(random.uniform(0.001, 1.0, 4))
        scores = sorted(optima[sequence] - random.choice([0, 1, 4, 80], 3))
        record = [[t, s] for t, s in zip(times, scores, strict=False)]
        rows.append(row(sequence, "search", times[-1], scores[-1], [[times[0] / 2, None], *record]))
        rows.append(row(sequence, "once", times[0], scores[0] if sequence % 3 else None))
    rows += [row(99, "search", 0.1, 1.0), row(0, "given", None, 1.0)]
    failure = {**row(1, "search", 7.0, None), "error": "RuntimeError"}

    def best(each, x):
        reached = [s for t, s in each["incumbents"] if s is not None and t <= x]
        reached += [each["score"]] if each["score"] is not None and each["seconds"] <= x else []
        return min(optima[each["sequence"]] - s for s in reached) if reached else 50.0

    curves = anytime([*rows, failure], optima, 50.0, ["search", "once", "given"])
    assert [curve.method for curve in curves] == ["search", "once"]
    for curve in curves:
        own = [each for each in rows if each["method"] == curve.method and each["sequence"] < 99]
        for x, y in zip(curve.x, curve.y, strict=True):
            assert y == pytest.approx(np.mean([best(each, x) for each in own]), abs=1e-9)
        assert curve.x[-1] == max(each["seconds"] for each in own)


def test_medians_by_length_cover_all_lengths(frame):
    for curve in times_by_length(frame, METHODS):
        assert len(curve.x) == 8 and (np.diff(curve.x) > 0).all()
        own = frame[(frame.method == curve.method) & (frame.tokens < 10) & (frame.error == "")]
        assert curve.x[0] == own.tokens.median() and curve.y[0] == pytest.approx(own.seconds.median())
    same = frame.assign(tokens=7)
    assert [list(curve.x) for curve in times_by_length(same, METHODS)] == [[7.0]] * 3
    assert times_by_length(frame.assign(seconds=np.nan), METHODS) == []


def test_curves_of_many_sequences_stay_short():
    x = np.sort(np.random.default_rng(0).random(100_000))
    short, y = thin(x, np.arange(len(x)))
    assert len(short) == len(y) == POINTS and short[0] == x[0] and short[-1] == x[-1]
    rows = [row(i, "m", 0.001 + i, -1.0) for i in range(5000)]
    (curve,) = anytime(rows, dict.fromkeys(range(5000), 0.0), 50.0, ["m"])
    assert len(curve.x) <= POINTS


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


def test_plots_are_drawn_on_the_axes_that_are_given(frame):
    figure = Figure()
    shares, ratios, lengths = figure.subplots(1, 3)
    style = styles(METHODS)
    plot_shares(shares, gap_shares(frame, METHODS), style)
    plot_shares(ratios, time_profiles(frame, METHODS), style, ratio=True)
    plot_lengths(lengths, times_by_length(frame, METHODS), style)
    for ax in (shares, ratios, lengths):
        assert [line.get_label() for line in ax.lines] == list(METHODS)
        assert [line.get_color() for line in ax.lines] == [each["color"] for each in style.values()]
    (curve,) = gap_shares(frame, ["two"])
    assert shares.lines[2].get_ydata()[-1] == curve.y[-1], "to the right end of the axes"
