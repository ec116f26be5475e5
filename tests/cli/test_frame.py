"""The frame of the command line: help, version, exit statuses, and words for every mistake."""
import pytest
from program import sluice


def test_version():
    run = sluice("--version")
    assert run.status == 0
    assert run.out.startswith("sluice ")


def test_without_arguments_prints_help_and_is_wrong_usage():
    run = sluice()
    assert run.status == 2
    assert "usage" in run.err.lower()


@pytest.mark.parametrize("line", [["--help"], ["tax", "--help"]])
def test_help_is_not_a_failure(line):
    run = sluice(*line)
    assert run.status == 0
    assert "Usage: sluice" in run.out
    assert run.err == ""


@pytest.mark.parametrize("words", [[], ["payout"], ["payout", "close"], ["tax"]])
def test_help_prints_the_help_of_a_command(words):
    run = sluice("help", *words)
    assert (run.status, run.err) == (0, "")
    assert run.out == sluice(*words, "--help").out


def test_a_command_that_is_declared_alone_is_the_same_as_among_all(tmp_path):
    """An option before the command makes the program declare every command."""
    listed = sluice("--help").out.split("Subcommands:\n")[1]
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]
    assert len(names) > 40
    for name in names:
        alone = sluice(name, "--help")
        assert (alone.status, alone.err) == (0, ""), name
        assert alone.out == sluice("--store", str(tmp_path), name, "--help").out, name


@pytest.mark.parametrize(
    "line, expected",
    [
        (["bogus"], "'bogus' is not a command; expected one of: "),
        (["payot"], "'payot' is not a command; did you mean 'payout'? Expected one of: "),
        (["payout", "clsoe"], "'clsoe' is not a command; did you mean 'close'? Expected one of: "),
        (["help", "payout", "prev"], "'prev' is not a command; did you mean 'preview'?"),
        (["help", "tax", "more"], "'tax' has no command 'more'"),
        (["tax"], "AMOUNT is required"),
        (["tax", "1.00"], "RATE is required"),
        (["tax", "1.00", "0.2", "more"], "more"),
        (["tax", "1,00", "0.2"], "AMOUNT: expected a decimal such as 120.00 or 0.2"),
        (["tax", "1.00", "0.2", "--bogus"], "--bogus"),
        (["--store", "", "tax", "1.00", "0.2"], "expected a directory"),
    ],
)
def test_a_wrong_command_line_names_the_expected_value(line, expected):
    run = sluice(*line)
    assert run.status == 2
    assert expected in run.err
    assert "usage: sluice" in run.err
    assert run.out == ""


@pytest.mark.parametrize(
    "amount, rate, tax", [("120.00", "0.2", "20.00"), ("99.99", "0.19", "15.96"), ("0.01", "1", "0.00")]
)
def test_tax_is_rounded_half_to_even(amount, rate, tax):
    run = sluice("tax", amount, rate)
    assert (run.status, run.out) == (0, tax + "\n")


@pytest.mark.parametrize("line", [["--store", "/nowhere", "tax", "1", "1"], ["tax", "1", "1", "--store", "/nowhere"]])
def test_store_is_accepted_before_or_after_the_subcommand(line):
    assert sluice(*line).status == 0


def test_the_help_has_an_option_that_is_called_like_a_global_one():
    assert "[--version V]" in sluice("help", "order", "reset").out
    assert "--store" not in sluice("help", "order", "reset").out


def test_output_that_cannot_be_written_is_a_failure():
    with open("/dev/full", "w") as full:
        run = sluice("tax", "1", "1", stdout=full)
    assert run.status == 1
    assert "could not be written" in run.err
