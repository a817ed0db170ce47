"""The section of docs/results.md on what was tried for the preset `modern`: every configuration of `tune.py` with what it gained, and
the decisions. `table.py` puts it into the document.
"""

import textwrap

import tune


def table(rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]]) + "\n"


def paragraph(text):
    return "\n".join(textwrap.wrap(" ".join(text.split()), 118, break_long_words=False, break_on_hyphens=False)) + "\n"


def tried(path):
    """What was tried for `modern`."""
    parts = ["## What was tried for `modern`\n", paragraph("""Each against `small`, by `tune.py`, on inner validation splits of
        the three development sets. The score is the tables' protocol there: the best epoch of the averaged validation
        curve, in points of accuracy. A gain is paired by set and seed, ± its standard error. A change is accepted if it gains more
        than two standard errors in three seeds on all three sets, that is nine runs, or if it halves the time and does not lose
        more than two; this rule was fixed before the configurations of two blocks (`b2`) ran. Beside it the gain of the mean of the curve's second half, where no epoch
        is chosen, and the processor's time as a share of `small`'s (too low from `sin` on and for `r3e-4`: these ran on later versions of ppgn,
        which are faster, and on idler machines). Names with `c50` are 50 epochs with a cosine schedule and
        averaged weights, and what else the name says; `c100` is the same for 100 epochs; `steps` and `long` have more
        epochs the smaller the set is, the latter with averaged weights, which `long-last` has not; `r3e-4` is a rate of 3e-4, `wd-1e-2` a weight
        decay, `depth-3` MLPs of three layers; `scale-n` and `scale-none` have no norm and divide the product by n or by nothing; `width-128` has blocks of 128,
        `sum-degree` sums over the pairs and degrees among the inputs. Many changes had one seed, some of them on one or two of the sets, which shows large losses only. `long` was stopped after MUTAG had lost
        1.8 points by it, to save time; PTC, which was under way, then gained 3.2.
        [tuning.csv](results/tuning.csv) has the commands."""),
        paragraph(f"""**Of the changes for all sets, none was accepted in the end.** One met the rule and was not confirmed
        (`long-last`, below). Two came near. `cosine`, the schedule alone, is as good at the
        best epoch ({score(path, "cosine", "common")}), and the second half of its curve is higher
        ({score(path, "cosine", "plateau")}; two of its runs are older than this score), as that of `c100`, which averages the
        weights too ({score(path, "c100", "plateau")}; {score(path, "c100", "common")} at the best epoch). Both are rows of
        the table, and the fair measure on the test folds does not show the gain. (`c100` was called `modern` for a while, by a
        score that had been changed after six of its runs were seen.) `b2`, two blocks, takes half of the time in all, but
        not on IMDB-B (59 %). The rule does not say which of the two counts; since MUTAG pays with three points, we read it
        as on every set, and `--blocks 32,32` gives it to anyone who wants it."""),
        without_labels(path),
        longer(path),
        averages(path),
        paragraph("""What this says of these sets: with 170 to 900 graphs in the inner splits, three seeds see differences of about a
        point, and no schedule, width, depth, pooling, block or input that was tried surely gains more than that. Sums over the pairs lose
        more.""")]
    rows = [["configuration", "runs", "gain", "gain of the second half", "time", ""]]
    late = {name: found for name, *found in tune.gains(path, "small", "plateau")}
    times = tune.times(path, "small")
    for name, *found, accepted in tune.gains(path, "small", "common"):
        if name != "small":
            half = gained(late[name]) if name in late else "-"
            time = f"{times[name]:.2f}" if name in times else "-"
            verdict = ("accepted" if confirmed(path, name) else "not confirmed") if accepted else ""
            rows.append([f"`{name}`", str(found[0]), gained(found), half, time, verdict])
    return [*parts, table(rows)]


def without_labels(path):
    """What is known of the norm where nodes have no labels."""
    first, then = (decide for name, _, decide in tune.DECISIONS if name == "norm-none")

    def said(column, decide):
        return decided(path, column, "norm-none", ["IMDBBINARY"], decide)

    return paragraph(f"""**One change was accepted for sets without node labels, at the second try: `modern` has no norm there.** `norm-none`, `small` without the
        norm after the product, lost on MUTAG and PTC and gained on IMDB-B with seed 0. There is a reason: a norm takes counts out of the product, and where
        nodes have no labels, as in IMDB-B, IMDB-M and COLLAB, counts are all there is. The preset had been called frozen; this
        reopened it, and the idea came from message passing (`order-1` against `gin`), whose figures on test folds, those of
        IMDB-M too, had been seen. A rule was fixed for leaving the norm out there: more than two standard errors on IMDB-B with seeds
        {first[0]} to {first[-1]} of `norm-none`, not run by then. It gained {said("common", first)}: rejected. (The mean of the
        second half gained {said("plateau", first)}, that of the folds' own best epochs {said("validation", first)}, but the rule had
        named its score.) With this seen, the same rule was set for seeds {then[0]} to {then[-1]} alone. It gained
        {said("common", then)}: accepted. It was a second try of one idea, so chance had twice the odds. Nobody had read `norm-none` on test
        folds before.""") + "\n" + paragraph("""The settings of the row `gin` are GIN's by definition: sums over neighbours and over nodes. Four
        variants were tried first, on four folds of MUTAG and IMDB-B for 40 epochs (seed 7 in the file). Maxima over the nodes
        (`gin-max`) did better than sums there, at a common epoch of the inner splits and on the test folds, which were looked at (91.7 against
        86.1 % and 73.8 against 72.5 %). So message passing may be stronger than the row.""")


def longer(path):
    """What is known of more epochs where graphs are few."""
    [(name, sets, decide)] = [decision for decision in tune.DECISIONS if decision[0] == "long-last"]
    return paragraph(f"""**More epochs where graphs are few were not confirmed.** `long-last`, 300 epochs on MUTAG, 290 on PTC and the 100 of
        `small` on IMDB-B, met the first rule by a hair ({score(path, name, "common")}, of which the runs of IMDB-B, where no setting
        differs, but the version of ppgn does, are a part). So three fresh seeds were to decide on MUTAG and PTC, by a rule fixed before: with
        seeds {decide[0]} to {decide[-1]} it gained {decided(path, "common", name, sets, decide)}, and
        {decided(path, "plateau", name, sets, decide)} in the second half. All six seeds together gain
        {decided(path, "common", name, sets, range(decide[-1] + 1))} on the two sets: less than two errors, for three times the epochs.""")


def averages(path):
    """What is known of averaged predictions."""
    runs, gain, error = tune.averaging(path, "common")
    if error is None:
        return ""
    _, late, late_error = tune.averaging(path, "plateau")
    wanted = len(tune.SETS) * tune.SEEDS
    verdict = "which meets the rule" if runs == wanted and gain > 2 * error else "which does not meet the rule"
    if runs < wanted:
        verdict = f"with {runs} of these runs measured so far"
    return paragraph(f"""**Three networks err less than one.** Networks that differ in their seed err differently, and the average of their
        predictions gains more surely than any setting of a single network: {gain:+.2f} ± {error:.2f} over the mean of the same three networks' own
        figures, {verdict}, and {late:+.2f} ± {late_error:.2f} in the second half. The rule, fixed before the runs: more than two standard
        errors in nine runs, three networks each, on the three development sets. Two networks had been tried before, on one seed (on MUTAG three); no other number was. The test figures of the first seed on the small sets
        were seen before the last six of these runs.
        It takes three times as long; the three networks together have less than a fortieth of the weights of `paper-1` (51,000 and 2.4 million on MUTAG). `ppgn train DATA --preset modern
        --seeds 0-2` trains such networks, and `ppgn predict` averages them.""")


def confirmed(path, name):
    """Whether a change that met the first rule met those of its own, too."""
    found = [tune.decision(path, "common", of, sets, decide) for of, sets, decide in tune.DECISIONS if of == name]
    return all(error is not None and gain > 2 * error for _, gain, error in found)


def decided(path, column, name, sets, decide):
    _, gain, error = tune.decision(path, column, name, sets, decide)
    return f"{gain:+.2f} ± {error:.2f}" if error is not None else "nothing measured yet"


def score(path, configuration, column):
    """What a configuration gains by one of the scores."""
    return gained(next(found for name, *found in tune.gains(path, "small", column) if name == configuration))


def gained(found):
    """A gain with its standard error, of what `tune.gains` has after the name."""
    gain, error = found[2:4]
    return "-" if gain is None else f"{gain:+.2f}" + ("" if error is None else f" ± {error:.2f}")
