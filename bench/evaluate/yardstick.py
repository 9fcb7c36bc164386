"""The usual pandas implementation of the published comparison, written from the specification.

It is the yardstick for speed and memory, and a second opinion on small files:

    python3 yardstick.py compare CONFIG.json     one comparison, timed
    python3 yardstick.py serve                   one JSON request a line on stdin, one JSON answer a line on stdout

A request holds truth, output (paths), keys, columns and tolerance (a map). The answer holds either `error` or the
counts of every column.
"""

import json
import re
import resource
import sys
import time
import warnings

import pandas as pd

warnings.simplefilter("ignore")

HINT = re.compile(r"\d{4}-\d{2}-\d{2}|T\d{2}:|\d{1,2}:\d{2}")


def read(path):
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def normal_key(column):
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.notna().all():
        return numbers
    times = pd.to_datetime(column, errors="coerce")
    if times.notna().all():
        return times
    return column.map(lambda value: None if pd.isna(value) else str(value))


def as_text(column):
    return column.map(lambda value: None if pd.isna(value) else str(value))


def matches(truth, output, tolerance):
    """(matches, kind) of one column over the joined rows, whole-column rules."""
    both = truth.notna() & output.notna()
    truth_numbers = pd.to_numeric(truth, errors="coerce")
    output_numbers = pd.to_numeric(output, errors="coerce")
    if truth_numbers[truth.notna()].notna().all() and output_numbers[both].notna().all():
        return ((truth_numbers - output_numbers).abs() <= tolerance) & both, "numeric"
    sample = as_text(truth[truth.notna()].head(50))
    if any(HINT.search(text) for text in sample):
        truth_times = pd.to_datetime(truth[truth.notna()], errors="coerce")
        output_times = pd.to_datetime(output[both], errors="coerce")
        if truth_times.notna().all() and output_times.notna().all():
            seconds = (truth_times[both[truth.notna()]] - output_times).abs()
            near = pd.Series(False, index=truth.index)
            near.loc[seconds.index] = seconds <= pd.Timedelta(seconds=tolerance)
            return near, "temporal"
    return (as_text(truth) == as_text(output)) & both, "text"


def compare(truth_path, output_path, keys, columns, tolerance):
    truth, output = read(truth_path), read(output_path)
    for name in keys + columns:
        if name not in truth.columns:
            raise KeyError(name)
    for name in keys:
        if name not in output.columns:
            raise KeyError(name)
    if truth.duplicated(keys).any():
        raise ValueError("truth repeats keys")
    for name in columns:
        if f"{name}_truth" in output.columns:
            raise ValueError("name clash")
    rows = len(output)
    for name in keys:
        truth[name] = normal_key(truth[name])
        output[name] = normal_key(output[name])
    output = output.drop_duplicates(keys, keep="first")
    duplicates = rows - len(output)
    truth_keys = set(truth[keys].itertuples(index=False, name=None))
    output_keys = set(output[keys].itertuples(index=False, name=None))
    in_truth = len(truth_keys & output_keys)
    extra = len(output_keys) - in_truth
    present = [name for name in columns if name in output.columns]
    joined = truth[keys + columns].merge(
        output[keys + present], on=keys, how="left", suffixes=("_truth", "_agent"), indicator=True
    )
    partner = joined["_merge"] == "both"
    total = len(truth) + extra + duplicates
    result = {}
    for name in columns:
        if name not in present:
            result[name] = {"matched": 0, "total": total}
            continue
        t, a = joined[f"{name}_truth"], joined[f"{name}_agent"]
        good, kind = matches(t, a, tolerance.get(name) or 0)
        good = good | (t.isna() & a.isna() & partner)
        result[name] = {"matched": int(good.sum()), "total": total, "kind": kind}
    return {
        "columns": result,
        "extra": extra,
        "duplicates": duplicates,
        "unique": len(output_keys),
        "missing": int((~partner).sum()),
        "rows": rows,
    }


def answer(request):
    try:
        return compare(
            request["truth"], request["output"], request["keys"], request["columns"], request.get("tolerance", {})
        )
    except Exception as error:  # any failure of the reader or the join is the published "error" outcome
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def main():
    if sys.argv[1] == "serve":
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), flush=True)
        return
    with open(sys.argv[2], encoding="utf-8") as handle:
        request = json.load(handle)
    started = time.monotonic()
    result = answer(request)
    seconds = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    peak = used.ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "cpuSeconds": cpu, "peakBytes": peak, "result": result}))


if __name__ == "__main__":
    main()
