"""What the studies of conditional random fields stand on: spans."""

from benchmarks.data.cross_validation import evaluate, percentages


def test_f1_of_exact_spans():
    spans = evaluate([(["B-x", "I-x", "O", "B-y"], ["B-x", "O", "O", "B-y"])], "bio").of_all()
    assert spans.tolist() == [2, 2, 1]
    assert percentages(spans).split() == ["50.00"] * 3
    assert percentages(evaluate([(["O"], ["O"])], "").of_all()).split() == ["0.00"] * 3
