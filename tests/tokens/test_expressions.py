"""Regular expressions over tokens: the syntax of `re`, and an end to every match."""

import multiprocessing
import random
import re
import threading
import warnings

import pytest

import ilpinfer
from formulations import Trellis, time_limits
from formulations import constraints as C
from formulations.tokens import regular_expressions as expressions
from formulations.tokens.regular_expressions import Expression, TooSlow
from ilpinfer.models.crf.templates import load_template

SLOW, TOKEN = "(?:a|a)*[bc]", "a" * 60 + "d"
PIECES = [
    *["a", "b", ".", "[ab]", "[^a]", "[]a]", r"\d", r"\w", r"\s", r"\b", "^", "$", "(?:b|a)", "(?=a)", "(?!b)", "(?<=a)"],
    *["{", "}", "a{e}", "{1", "x{,2}", "{e<=1}", r"\{", r"\.", "(?i:b)", "(|a)", "(?P<n>a)", "(?>a|ab)", "-", "é"],
]  # fmt: skip
REPEATS = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "{,2}", "*?", "??", "*+", "{0,2}?"]


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(expressions, "TIME_LIMIT", 0.05)


def drawn(rng: random.Random, depth: int = 3) -> str:
    text = ""
    for _ in range(rng.randint(1, 4)):
        group = f"({rng.choice(('', '', '', '?=', '?!'))}{drawn(rng, depth - 1)})" if depth else ""
        piece = group if group and rng.random() < 0.3 else rng.choice(PIECES)
        text += piece + rng.choice(REPEATS) + ("|" if rng.random() < 0.1 else "")
    return text


def test_the_syntax_is_that_of_python():
    rng, compared = random.Random(3), 0
    while compared < 3000:
        pattern, ignore_case = drawn(rng), rng.random() < 0.5
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                plain = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
        except (re.error, FutureWarning):
            with pytest.raises(ValueError, match="is not a regular expression"):
                Expression(pattern, ignore_case)
            continue
        token = "".join(rng.choice("aabbA1 -{}ex,2é.") for _ in range(rng.randint(0, 7)))
        assert Expression(pattern, ignore_case).matches(token) == (plain.fullmatch(token) is not None)
        compared += 1


@pytest.mark.parametrize(("pattern", "token"), [("((a*)*)*b", "a" * 14), ("(a+)+b", "a" * 60 + "c")])
def test_common_slow_patterns_are_quick(pattern, token):
    assert not Expression(pattern).matches(token)


def test_a_pattern_that_takes_for_ever_is_stopped(impatient):
    trellis = Trellis([0.0, 0.0], [], labels=["a", "b"], tokens=[TOKEN])
    for rule in (C.tag_at("a", pattern=SLOW), C.logic(f'forall t: token(t) matches "{SLOW}" -> a(t)')):
        with pytest.raises(ValueError, match=r"takes more than 0\.05 s on the token 'aaaa"):
            ilpinfer.decode(trellis, [rule])
    template = load_template({"features": ["slow"], "patterns": {"slow": SLOW}})
    with pytest.raises(TooSlow):
        template.words["slow"](TOKEN)
    assert C.tag_at("a", pattern="a+b", words=["x"]).violations(["b"], tokens=["a" * 60 + "b"]) == 1


def tried(result: list[str]) -> None:
    try:
        Expression(SLOW).matches(TOKEN)
    except TooSlow as error:
        result.append(str(error))


def tried_apart(sender) -> None:
    result: list[str] = []
    tried(result)
    sender.send(result)


def test_it_is_stopped_in_threads_and_in_other_processes(impatient):
    result: list[str] = []
    thread = threading.Thread(target=tried, args=(result,))
    thread.start()
    thread.join(60)
    assert len(result) == 1
    receiver, sender = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("spawn").Process(target=tried_apart, args=(sender,))
    process.start()
    assert receiver.poll(60) and len(receiver.recv()) == 1
    process.join(60)


def test_a_time_limit_ends_a_match(monkeypatch):
    monkeypatch.setattr(expressions, "TIME_LIMIT", 1000.0)
    trellis = Trellis([0.0, 0.0], [], labels=["a", "b"], tokens=[TOKEN])
    solution = ilpinfer.decode(trellis, [C.tag_at("a", pattern=SLOW)], time_limit=0.1)
    assert (solution.status, solution.has_labelling) == ("unknown", False)


@pytest.mark.parametrize("pace", [0.5, 1.0, 3.6, 20.0])
def test_a_busy_processor_does_not_delay_the_end_of_a_match(monkeypatch, pace):
    """A stand-in for the engine, which measures processor time; a second of it takes `pace` seconds here."""
    clock, attempts = [0.0], []

    class Engine:
        def fullmatch(self, token, timeout):
            attempts.append(timeout)
            clock[0] += pace * timeout
            raise TimeoutError

    monkeypatch.setattr(expressions.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(expressions, "TIME_LIMIT", 1000.0)
    expression = Expression(SLOW)
    expression.__dict__["_engine"] = Engine()
    with time_limits.time_limit(lambda: clock[0] >= 1.0, lambda: 1.0 - clock[0]):
        with pytest.raises(time_limits.OutOfTime):
            expression.matches(TOKEN)
        done = len(attempts)
        with pytest.raises(time_limits.OutOfTime):
            expression.matches("another")
    assert 1.0 <= clock[0] <= 1.0 + pace * expressions.LEAST_ATTEMPT
    assert len(attempts) == done
    assert max(attempts) >= min(0.2 / pace, expressions.FIRST_ATTEMPT)


def test_long_lists_of_alternatives_are_taken():
    assert Expression("|".join(f"word{i}" for i in range(3000))).matches("word77")


@pytest.mark.parametrize("token", ["हिन्दी", "²", "a\x1cb", "हिन्दी" * 50])
def test_all_expressions_have_one_engine(token):
    """Quick ones, slower ones, and long tokens agree on characters that `re` and `regex` read in two ways."""
    quick, slow = Expression(r"\w+"), Expression(r"(\w+)*")
    assert quick.quick_match and not slow.quick_match
    assert quick.matches(token) == slow.matches(token)
