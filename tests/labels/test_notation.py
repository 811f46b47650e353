"""Schemes in the spellings that people write, and names that only look like one."""

import pytest

from formulations import LabelSet, RuleSet
from formulations import constraints as C
from formulations.labels import schemes
from formulations.problem.compiled_rules import notices
from ilpinfer.corpus.conversion import convert, convert_all

READ = [
    # names, notation, fields
    ("O B-PER I-PER", "bio", "O PER"),
    ("O PER-B PER-I", "bio x-B", "O PER"),
    ("O B:PER I:PER", "bio B:x", "O PER"),
    ("O PER:B PER:I", "bio x:B", "O PER"),
    ("O B_PER I_PER B_LOC", "bio B_x", "O PER LOC"),
    ("O PER_B PER_I", "bio x_B", "O PER"),
    (("O", "B PER", "I PER"), "bio B x", "O PER"),
    (("O", "PER B", "PER I"), "bio x B", "O PER"),
    ("o b-per i-per", "bio b-x", "O per"),
    ("O b-per i-per", "bio b-x", "O per"),
    ("o b_per i_per", "bio b_x", "O per"),
    ("o per-b per-i", "bio x-b", "O per"),
    ("o B-PER I-PER", "bio", "O PER"),
    ("O B_x I_x E_x S_x", "iobes B_x", "O x"),
    ("O x-B x-I x-L x-U", "bilou x-B", "O x"),
    ("o b-x m-x e-x s-x", "bmes b-x", "O x"),
    ("O B-x M-x E-x W-x", "bmewo", "O x"),
    ("O B_x M_x E_x W_x", "bmewo B_x", "O x"),
    ("O BOS_O O_EOS O_x x_O B_x M_x E_x W_x", "bmewo+ B_x", "O x"),
    ("B-B B-I O", "bio", "B I O"),
    ("O e_mail-B e_mail-I e_mail-E e_mail-S", "iobes x-B", "O e_mail"),
    ("O B-first-name I-first-name", "bio", "O first-name"),
    ("O B_first_name I_first_name", "bio B_x", "O first_name"),
    ("O first_name_B first_name_I", "bio x_B", "O first_name"),
    ("O I-X I-Y", "io", "O X Y"),
    ("B-v/I-p I-v/I-p O", "paths", "v v/p O"),
]
PLAIN = [
    "I_think b_tree O",
    "title-b title-c O",
    "title-b O",
    "e-mail s-bahn u-bahn O",
    "e_mail name O",
    "i_phone i_pad O",
    ("Street Name", "House No", "O"),
    ("B Street", "O"),
    "O B I",
    "o b i",
    "b_tree i_node O",
    "grade_b grade_i",  # no label for what is outside
    "O o B-x I-x",
    "O B-PER I_PER",
    "O B-PER PER-I",
    "O B-PER I-PER [PAD]",
    "O B_PER I:PER",
    "O b-per I-per",
    "NN NNS VB B I-think",
    "a b c",
]


def split(names):
    return tuple(names.split()) if isinstance(names, str) else names


@pytest.mark.parametrize(("names", "notation", "fields"), READ)
def test_spellings_of_schemes(names, notation, fields):
    labels = LabelSet(split(names))
    assert (labels.notation, " ".join(labels.fields)) == (notation, fields)
    assert labels.scheme == notation.partition(" ")[0]
    assert LabelSet(split(names), labels.notation) == labels, "what is written down is read again"
    assert LabelSet(split(names), labels.scheme).notation == notation, "the form is that of the names"


@pytest.mark.parametrize("names", PLAIN)
def test_names_that_only_look_like_a_scheme(names):
    labels = LabelSet(split(names))
    assert labels.notation == "plain" and list(labels.fields) == list(split(names))
    assert labels.nothing_to_keep
    with pytest.raises(ValueError, match="valid_scheme"):
        C.valid_scheme().violations(split(names), labels=labels)
    assert C.valid_scheme(penalty=1.0).violations(split(names), labels=labels) == 0


@pytest.mark.parametrize("names", [read[0] for read in READ if read[1] not in ("io", "paths")])
def test_a_scheme_is_kept_in_any_spelling(names):
    labels = LabelSet(split(names))
    rule, inside = C.valid_scheme(), [n for n in labels if labels.levels(n)[-1][1] == "I"]
    begins = [n for n in labels if labels.levels(n)[-1][1] == "B"]
    if inside:
        assert rule.violations([labels.outside or begins[0], inside[0]], labels=labels) > 0
        assert labels.invalid[0][0, labels.names.index(inside[0])]
    assert not labels.invalid[0][0, labels.names.index(begins[0])]


def test_helper_labels_do_not_hide_the_scheme():
    for names, notation in (
        ("O B-PER I-PER [PAD]", "bio"),
        ("O PER-B PER-I X [CLS]", "bio x-B"),
        ("o b-per i-per <unk>", "bio b-x"),
    ):
        names = split(names)
        never = [name for name in names if name[0] in "[X<"]
        said = LabelSet(names).notice
        assert "never=[" in said and never[0] in said and notation.partition(" ")[0] in said
        labels = LabelSet(names, never=frozenset(never))
        assert (labels.notation, labels.notice) == (notation, "")
        assert not set(labels.fields) & set(never) and set(labels.never_ids) == {*map(names.index, never)}
        assert LabelSet(names).with_never(never) == labels
        assert LabelSet(names, labels.notation, never=frozenset(never)) == labels


def test_a_plain_scheme_that_was_asked_for_stays():
    labels = LabelSet(("O", "B-x", "I-x", "[PAD]"), "plain").with_never(["[PAD]"])
    assert labels.scheme == "plain" and list(labels.fields) == ["O", "B-x", "I-x"]


@pytest.mark.parametrize(
    ("never", "said"),
    [
        (["PAD"], r"never: no label 'PAD'; did you mean \"\[PAD\]\"\?"),
        (["O", "B-x", "[PAD]"], "every label is named"),
        ("[PAD]", "expected a list of names"),
    ],
)
def test_never_is_checked(never, said):
    with pytest.raises(ValueError, match=said):
        LabelSet(("O", "B-x", "[PAD]"), never=never)


def test_marks_alone_are_read_where_the_scheme_is_named():
    labels = LabelSet(("B", "I", "O"), "bio")
    assert list(labels.fields) == ["_", "O"] and labels.invalid[0][0].tolist() == [False, True, False]
    assert "prefixes without a field" in LabelSet(("B", "I", "O")).notice
    assert schemes.bare_scheme(["I", "O"]) == "io B" and not schemes.bare_scheme(["B", "X", "O"])


def test_conversions_keep_the_form_of_the_labels():
    labels = [("PER-B", "PER-I", "O"), ("PER-B", "O", "O")]
    assert convert_all(labels, "iobes") == [("PER-B", "PER-E", "O"), ("PER-S", "O", "O")]
    assert convert_all(labels, "plain") == [("PER", "PER", "O"), ("PER", "O", "O")]
    assert convert(labels[0], "bio x-B", "bio") == ("B-PER", "I-PER", "O")
    assert convert(("b-x", "i-x", "o"), "bio b-x", "bilou x:B") == ("x:B", "x:L", "O")


def test_bmewo_plus_names_what_stands_beside():
    labels = LabelSet(split("O BOS_O O_EOS O_x x_O B_x M_x E_x W_x"))
    rule = C.valid_scheme()
    for right in ("BOS_O O_x W_x x_O O_EOS", "B_x M_x E_x x_O O", "O O_x B_x E_x"):
        assert rule.violations(right.split(), labels=labels) == 0, right
    for wrong in ("O_x O", "O x_O", "O_x", "O BOS_O", "O_EOS O", "B_x x_O", "O_x M_x"):
        assert rule.violations(wrong.split(), labels=labels) > 0, wrong


def test_a_bound_on_the_runs_of_a_label_with_a_mark_is_told():
    labels = LabelSet(("O", "B-PER", "I-PER"))
    found = notices(
        RuleSet((C.at_most_runs("B-PER", 1), C.at_most_runs("PER", 1), C.at_most_tokens("B-PER", 1))), labels
    )
    assert found == [
        "rule \"at_most_runs(B-PER, 1)\": 'B-PER' is a label, and its runs are not the runs of the field 'PER'"
    ]


def test_the_runs_of_a_label_that_is_a_field_too_are_no_notice():
    nested = LabelSet(("B-x", "B-B-x", "I-B-x", "O"), "bio")
    assert "B-x" in nested.fields
    assert notices(RuleSet((C.at_most_runs("B-x", 1),)), nested) == []
