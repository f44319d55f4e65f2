"""Loads the fits that `cargo run -p sgmcmc-storage --example write_fit` wrote with the tools they are for.

Usage: files.py PROGRAM     (the example, built with all formats; it writes to a directory of its own)

Every number is compared with the same one computed here, bit for bit; mean, sd, effective sizes, R-hat and standard errors with
those that ArviZ computes from the loaded file, to 1e-6 relative. Then the program writes without end, is killed, and all draws it
had flushed must be there.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

import arviz
import cmdstanpy
import numpy as np
import pandas
import polars
import xarray

CHAINS, DRAWS = 4, 500
SHAPES = {"mu": (), "W": (2, 3), "layer.bias": (4,), "cube": (2, 1, 2)}
WIDTH = 15


def uniform(chain, draw, element):
    return ((chain * 7919 + draw * 104729 + element * 1299709 + draw * draw * 31 + chain * draw * 17) % 1000003) / 1000003


def recursion(draws):
    values = np.zeros((CHAINS, draws, WIDTH))
    for chain in range(CHAINS):
        state = [0.0] * WIDTH
        for draw in range(draws):
            state = [0.5 * x + uniform(chain, draw, element) for element, x in enumerate(state)]
            values[chain, draw] = state
    return values


def expected():
    values = recursion(DRAWS)
    parts, first = {}, 0
    for name, shape in SHAPES.items():
        width = int(np.prod(shape))
        parts[name] = values[:, :, first : first + width].reshape((CHAINS, DRAWS, *shape))
        first += width
    stats = {
        "alpha": np.array([[uniform(c, d, 100) for d in range(DRAWS)] for c in range(CHAINS)]),
        "lp": np.array([[uniform(c, d, 101) for d in range(DRAWS)] for c in range(CHAINS)]),
        "weight": np.full((CHAINS, DRAWS), 0.125),
        "iteration": np.tile(np.arange(11, 11 + DRAWS), (CHAINS, 1)),
    }
    return parts, stats


VALUES, STATS = expected()
CHECKS = 0


def same(found, wanted, what):
    global CHECKS
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, expected {wanted.shape}"
    assert np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f"), f"{what}: other numbers"
    CHECKS += 1


def check_tree(tree, what):
    for name, wanted in VALUES.items():
        same(tree["posterior"][name].values, wanted, f"{what}: {name}")
    for name, wanted in STATS.items():
        same(tree["sample_stats"][name].values, wanted, f"{what}: {name}")
    posterior = tree["posterior"]
    assert tuple(posterior["W"].dims)[:2] == ("chain", "draw"), what
    same(posterior["chain"].values, np.arange(CHAINS), f"{what}: chains")
    same(posterior["draw"].values, np.arange(DRAWS), f"{what}: draws")


def check_summary(tree, ours, what):
    """Compares with `arviz.summary`, whose rows are in the order of the variables."""
    theirs = arviz.summary(tree, var_names=list(VALUES), round_to="none")
    for column in ["mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"]:
        worst = 0.0
        for name, row in ours.iterrows():
            found = float(theirs.loc[name.replace(",", ", "), column])
            worst = max(worst, abs(found / row[column] - 1))
        assert worst <= 1e-6, f"{what}: {column} differs by {worst:.1e}"
        print(f"  {what}: {column:9} agrees to {worst:.1e}")


def check_loo(path):
    """Compares `arviz.loo` of the stored log-likelihoods with ours, which the program wrote."""
    with open(path("loo.json")) as file:
        ours = json.load(file)
    for name in ["fit.zarr", "fit.json", "fit.nc"]:
        if not name.endswith("json"):
            tree = arviz.from_zarr(path(name)) if name.endswith("zarr") else arviz.from_netcdf(path(name))
            assert "created_at" in tree["posterior"].attrs, "no creation time"
        else:
            with open(path(name)) as file:
                groups = json.load(file)
            tree = arviz.from_dict({group: {k: np.array(v) for k, v in content.items()} for group, content in groups.items()})
        same(tree["observed_data"]["y"].values, np.arange(5.0), f"{name}: observed_data")
        theirs = arviz.loo(tree, pointwise=True)
        for found, wanted, what in [
            (theirs.elpd, ours["elpd"], "elpd"),
            (theirs.se, ours["se"], "se"),
            (theirs.p, ours["p"], "p"),
            (theirs.pareto_k.values, ours["pareto_k"], "pareto_k"),
            (theirs.elpd_i.values, ours["elpd_i"], "elpd_i"),
        ]:
            worst = np.max(np.abs(np.asarray(found) / np.asarray(wanted) - 1))
            assert worst < 1e-8, f"{name}: {what} of arviz.loo differs by {worst:.1e}"
            print(f"  {name}: {what:9} of arviz.loo agrees to {worst:.1e}")


def documented(directory):
    """Runs the Python lines of the documentation on the files that the program wrote."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/python.md")
    with open(page) as file:
        blocks = [part.split("```")[0] for part in file.read().split("```python\n")[1:]]
    assert len(blocks) >= 2, "the page has no Python lines"
    before = os.getcwd()
    os.chdir(directory)
    try:
        for block in blocks:
            exec(compile(block, page, "exec"), {})  # noqa: S102
        for name, read in [("fit.parquet", polars.read_parquet), ("fit.arrow", polars.read_ipc)]:
            table = read(name).sort(["chain", "draw"])
            same(table["mu"].to_numpy().reshape(CHAINS, DRAWS), VALUES["mu"], f"{name} by polars")
            same(table["W[1,2]"].to_numpy().reshape(CHAINS, DRAWS), VALUES["W"][:, :, 1, 2], f"{name} by polars")
            same(table["iteration"].to_numpy().reshape(CHAINS, DRAWS), STATS["iteration"], f"{name} by polars")
        calls = documented_calls()
        assert any("help" in where for where in calls.values()), "the help of the program has no Python line"
        for call, where in calls.items():
            # The documentation of a format speaks of its `path`.
            path = "fit.nc" if "netcdf" in where else "fit.zarr"
            tree = eval(call, {"arviz": arviz, "xarray": xarray, "path": path})  # noqa: S307
            check_tree(tree, f"{call} of {where}")
    finally:
        os.chdir(before)
    print(f"{len(blocks)} blocks of docs/python.md and {len(calls)} calls of the help and of the documentation of formats run")


def documented_calls():
    """Returns the Python calls that the help of the program and the documentation of the formats mention, and where."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../crates")
    sources = {"cli/src/arguments.rs": "the help"}
    sources |= {f"storage/src/fits/{name}/mod.rs": name for name in ["zarr", "netcdf"]}
    calls = {}
    for source, where in sources.items():
        with open(os.path.join(root, source)) as file:
            text = file.read().replace('\\"', '"')
        for call in re.findall(r"(?:arviz|xarray)\.(?:from|open)_\w+\([^()]+\)", text):
            calls[call] = where
    return calls


def main(directory, summary):
    path = lambda name: os.path.join(directory, name)  # noqa: E731
    ours = pandas.read_csv(summary, index_col="name")
    assert len(ours) == WIDTH
    print("arviz", arviz.__version__, "xarray", xarray.__version__, "pandas", pandas.__version__, "cmdstanpy", cmdstanpy.__version__)

    for name in ["fit.json", "run.json"]:
        with open(path(name)) as file:
            groups = json.load(file)
        # ArviZ 1.x takes arrays, not lists.
        tree = arviz.from_dict({group: {k: np.array(v) for k, v in content.items()} for group, content in groups.items()})
        check_tree(tree, name)
        check_summary(tree, ours, name)

    for name in ["fit.zarr", "run.zarr"]:
        tree = arviz.from_zarr(path(name))
        check_tree(tree, name)
        check_summary(tree, ours, name)
        check_tree(xarray.open_datatree(path(name), engine="zarr"), name + " by xarray")
        assert tree.attrs["inference_library"] == "sgmcmc"
    pointwise = np.array([-uniform(i, 0, 0) for i in range(CHAINS * DRAWS * 3)]).reshape(CHAINS, DRAWS, 3)
    same(tree["log_likelihood"]["y"].values, pointwise, "log_likelihood")
    same(tree["observed_data"]["y"].values, [1.0, 2.5, np.nan], "observed_data")

    for engine in ["h5netcdf", "netcdf4"]:
        tree = xarray.open_datatree(path("fit.nc"), engine=engine)
        check_tree(tree, f"fit.nc by {engine}")
        assert list(tree.attrs["chain_outcomes"]) == ["complete"] * CHAINS, "chain_outcomes"
        same(tree["observed_data"]["y"].values, np.arange(5.0), f"fit.nc by {engine}: observed_data")
        flat = xarray.open_dataset(path("fit.nc"), group="posterior", engine=engine)
        same(flat["cube"].values, VALUES["cube"], f"fit.nc by {engine}: a group")
    tree = arviz.from_netcdf(path("fit.nc"))
    check_tree(tree, "fit.nc")
    check_summary(tree, ours, "fit.nc")

    # Names of dimensions and labels of positions.
    labeled = {
        "labeled.nc by h5netcdf": xarray.open_datatree(path("labeled.nc"), engine="h5netcdf"),
        "labeled.nc by netcdf4": xarray.open_datatree(path("labeled.nc"), engine="netcdf4"),
        "labeled.zarr": arviz.from_zarr(path("labeled.zarr")),
    }
    for name, tree in labeled.items():
        matrix = tree["posterior"]["W"]
        assert matrix.dims == ("chain", "draw", "county", "year"), f"{name}: {matrix.dims}"
        assert list(matrix["county"].values) == ["Aitkin", "Koöchiching"], f"{name}: {matrix['county'].values}"
        same(matrix.sel(county="Koöchiching", year=2).values, VALUES["W"][:, :, 1, 2], name)
        assert "W[Koöchiching, 2]" in arviz.summary(tree).index, f"{name}: {arviz.summary(tree).index}"

    for name in ["fit.parquet", "run.parquet"]:
        table = pandas.read_parquet(path(name))
        assert list(table.columns[:6]) == ["chain", "draw", "iteration", "weight", "lp", "alpha"], name
        table = table.sort_values(["chain", "draw"])
        same(table["W[1,2]"].values.reshape(CHAINS, DRAWS), VALUES["W"][:, :, 1, 2], name)
        same(table["layer.bias[3]"].values.reshape(CHAINS, DRAWS), VALUES["layer.bias"][:, :, 3], name)
        same(table["cube[1,0,1]"].values.reshape(CHAINS, DRAWS), VALUES["cube"][:, :, 1, 0, 1], name)
        same(table["mu"].values.reshape(CHAINS, DRAWS), VALUES["mu"], name)
        for stat, wanted in STATS.items():
            same(table[stat].values.reshape(CHAINS, DRAWS), wanted, f"{name}: {stat}")

    for name in ["fit.csv", "run.csv"]:
        files = [os.path.join(path(name), f"chain-{chain}.csv") for chain in range(CHAINS)]
        fit = cmdstanpy.from_csv(files)
        for variable, wanted in VALUES.items():
            found = fit.stan_variable(variable.replace(".", "_"))
            same(found.reshape((CHAINS, DRAWS) + wanted.shape[2:]), wanted, f"{name}: {variable}")
        for variable, wanted in {"lp__": "lp", "alpha__": "alpha", "stepsize__": "weight", "iteration__": "iteration"}.items():
            same(fit.method_variables()[variable].T, STATS[wanted], f"{name}: {variable}")
        tree = arviz.from_cmdstanpy(fit)
        same(tree["posterior"]["W"].values, VALUES["W"], f"{name}: from_cmdstanpy")
    check_loo(path)
    print(f"{CHECKS} arrays have the numbers they should")


def killed(program, directory):
    run = subprocess.Popen([program, directory, "endless"])
    time.sleep(1.5)
    while not os.path.exists(os.path.join(directory, "flushed")):
        assert run.poll() is None, "the writer failed"
        time.sleep(0.05)
    run.kill()
    run.wait()
    with open(os.path.join(directory, "flushed")) as file:
        flushed = int(file.read())
    # cmdstanpy wants chains of one length: one at a time.
    stan = [cmdstanpy.from_csv([os.path.join(directory, f"run.csv/chain-{c}.csv")]).stan_variable("W") for c in range(CHAINS)]
    tree = arviz.from_zarr(os.path.join(directory, "run.zarr"))
    zarr = tree["posterior"]["W"].values
    table = pandas.read_parquet(os.path.join(directory, "run.parquet"))
    wanted = recursion(max(*map(len, stan), zarr.shape[1], int(table["draw"].max()) + 1))[:, :, 1:7]
    for chain in range(CHAINS):
        assert len(stan[chain]) >= flushed, "killed run.csv"
        same(stan[chain].reshape(-1, 6), wanted[chain, : len(stan[chain])], "killed run.csv")
        draws = tree["sample_stats"]["iteration"].values[chain].astype(bool).sum()
        assert draws >= flushed, "killed run.zarr"
        same(zarr[chain, :draws].reshape(-1, 6), wanted[chain, :draws], "killed run.zarr")
        rows = table[table["chain"] == chain].sort_values("draw")
        assert len(rows) >= flushed, "killed run.parquet"
        same(rows["W[1,2]"].values, wanted[chain, : len(rows), 5], "killed run.parquet")
    print(f"killed after {flushed} draws of each chain were flushed: all there")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as cut:
        printed = os.path.join(whole, "summary.csv")
        with open(printed, "w") as file:
            subprocess.run([sys.argv[1], whole], stdout=file, check=True)
        main(whole, printed)
        documented(whole)
        killed(sys.argv[1], cut)
