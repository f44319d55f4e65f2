"""References of crates/diagnostics, by ArviZ 1.x, SciPy and NumPy.

    diagnostics.py generate DIR         writes chains.json, loo.json, stein.json and distances.json
    diagnostics.py compare DIR DIR      fails where two such directories differ by more than rounding
    diagnostics.py speed BINARY         prints our time (BINARY: the program `lab`) and ArviZ's on the same

The files in crates/diagnostics/tests/references were written by the first; the Rust tests read them.
"""

import json
import math
import pathlib
import subprocess
import sys
import time
import warnings

import numpy as np
from arviz_stats.base import array_stats
from scipy import special, stats

warnings.filterwarnings("ignore")
np.seterr(all="ignore")


def plain(value):
    """Lists and numbers only; what JSON has no number for becomes a word."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) > 0:
        return [plain(entry) for entry in value]
    if isinstance(value, (str, bool, int)):
        return value
    value = float(value)
    return value if math.isfinite(value) else str(value)


def short(values):
    """Draws with few digits, to keep the files small."""
    return np.array([[float(f"{x:.7g}") for x in row] for row in np.atleast_2d(values)])


def autoregression(rng, rho, chains, draws):
    x = rng.normal(size=chains)
    path = []
    for _ in range(draws):
        x = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=chains)
        path.append(x)
    return np.array(path).T


def sets():
    rng = np.random.default_rng(20240607)
    for rho in (-0.9, -0.5, 0.0, 0.3, 0.6, 0.9, 0.97, 0.995):
        yield f"autoregression {rho}", autoregression(rng, rho, 4, 150)
    for rho in (0.0, 0.8):
        yield f"odd length, autoregression {rho}", autoregression(rng, rho, 3, 101)
        yield f"one chain, autoregression {rho}", autoregression(rng, rho, 1, 201)
        yield f"two chains, autoregression {rho}", autoregression(rng, rho, 2, 100)
    yield "long memory beyond the direct lags", autoregression(rng, 0.99, 2, 600)
    yield "heavy tails: Cauchy", rng.standard_cauchy(size=(4, 120))
    yield "heavy tails: t with 2 degrees", rng.standard_t(2, size=(4, 120))
    yield "skewed: lognormal", np.exp(1.5 * autoregression(rng, 0.5, 4, 120))
    yield "uniform", rng.uniform(size=(4, 100))
    yield "bimodal", np.where(rng.uniform(size=(4, 100)) < 0.5, -5, 5) + rng.normal(size=(4, 100))
    stuck = rng.normal(size=(4, 100))
    stuck[1] = stuck[1, 0]
    yield "one chain stuck", stuck
    stuck = rng.normal(size=(4, 100))
    stuck[2, 40:] = stuck[2, 40]
    yield "one chain stuck half-way", stuck
    held = np.repeat(rng.normal(size=(4, 20)), 5, axis=1)
    yield "rejections: each draw five times", held
    yield "different means", rng.normal(size=(4, 100)) + np.array([[0], [1], [2], [3]])
    yield "separated chains", rng.normal(size=(4, 100)) + np.array([[0], [100], [200], [300]])
    yield "sixteen separated chains", rng.normal(size=(16, 30)) + 50 * np.arange(16)[:, None]
    yield "different spreads", rng.normal(size=(4, 100)) * np.array([[1], [1], [1], [5]])
    yield "a trend", rng.normal(size=(4, 100)) + np.linspace(0, 4, 100)
    yield "constant chains, all alike", np.full((4, 50), 3.25)
    yield "constant chains, each at its value", np.repeat([[1.0], [2.0], [3.5], [7.0]], 64, axis=1)
    yield "two constant chains", np.repeat([[1.0], [2.0]], 16, axis=1)
    yield "one constant chain", np.full((1, 40), -2.0)
    yield "all zero", np.zeros((2, 20))
    for draws in (1, 2, 3, 4, 5, 6, 7, 8):
        yield f"length {draws}", rng.normal(size=(4, draws))
    yield "one chain of length 4", rng.normal(size=(1, 4))
    yield "one chain of length 5", rng.normal(size=(1, 5))
    broken = rng.normal(size=(4, 50))
    broken[2, 17] = np.nan
    yield "one NaN", broken
    yield "only NaN", np.full((2, 20), np.nan)
    broken = rng.normal(size=(4, 50))
    broken[0, 3] = np.inf
    yield "one infinity", broken
    broken = rng.normal(size=(4, 50))
    broken[0, 3], broken[3, 30] = np.inf, -np.inf
    yield "both infinities", broken
    yield "ties: Poisson", rng.poisson(2.0, size=(4, 100)).astype(float)
    yield "ties: coins", rng.integers(0, 2, size=(4, 100)).astype(float)
    yield "ties: rare events", (rng.uniform(size=(4, 100)) < 0.02).astype(float)
    yield "ties, odd length", rng.integers(0, 5, size=(3, 51)).astype(float)
    yield "large offset", 1e6 + rng.normal(size=(4, 100))
    yield "tiny scale", 1e-20 * rng.normal(size=(4, 100))
    yield "large scale", 1e60 * rng.normal(size=(4, 100))
    yield "many short chains", rng.normal(size=(20, 10))


def chains():
    found = []
    for name, draws in sets():
        draws = short(draws)
        a = array_stats
        answers = {
            "mean": np.mean(draws),
            "sd": np.std(draws, ddof=1),
            "eti89_lb": a.eti(draws, 0.89, axis=None)[0],
            "eti89_ub": a.eti(draws, 0.89, axis=None)[1],
            "r_hat": a.rhat(draws),
            "r_hat_split": a.rhat(draws, method="split"),
            "ess_bulk": a.ess(draws, method="bulk"),
            "ess_tail": a.ess(draws, method="tail", prob=0.89),
            "ess_mean": a.ess(draws, method="mean"),
            "ess_sd": a.ess(draws, method="sd"),
            "mcse_mean": a.mcse(draws, method="mean"),
            "mcse_sd": a.mcse(draws, method="sd"),
        }
        for p in (0.05, 0.3, 0.5, 0.95):
            answers[f"ess_quantile {p}"] = a.ess(draws, method="quantile", prob=p)
            answers[f"mcse_quantile {p}"] = a.mcse(draws, method="quantile", prob=p)
        found.append({"name": name, "chains": draws, "answers": answers})
    return found


def autocorrelations():
    draws = short(autoregression(np.random.default_rng(3), 0.7, 1, 57))[0]
    return {"draws": draws, "autocorrelation": array_stats.autocorr(draws)}


def loo():
    """Pointwise log-likelihoods of a normal and of one with outliers, [draw][observation]."""
    found = []
    for name, draws, scale, r_eff in (("tame", 400, 0.3, 1.0), ("wild", 200, 1.2, 0.7), ("short", 60, 0.5, 1.0)):
        rng = np.random.default_rng(11)
        y = rng.standard_t(2, size=12)
        mu = scale * rng.normal(size=draws)
        matrix = short(stats.norm.logpdf(y[None, :], mu[:, None], 0.8))
        weights, k = zip(*(array_stats._psislw(column, r_eff) for column in matrix.T))
        elpd_i, k_loo, p_i = zip(*(array_stats._loo(column, r_eff) for column in matrix.T))
        elpd, se, p, _ = array_stats._summary(elpd_i, p_i)
        good_k = min(1 - 1 / np.log10(draws), 0.7)
        # WAIC is not in ArviZ 1.x: by its formula (Watanabe 2010; Vehtari, Gelman & Gabry 2017, eqs. (11)-(13)).
        lppd_i = special.logsumexp(matrix, axis=0) - np.log(draws)
        p_waic_i = np.var(matrix, axis=0, ddof=1)
        waic_i = lppd_i - p_waic_i
        found.append({
            "name": name, "observations": len(y), "r_eff": r_eff, "log_likelihood": matrix.ravel(),
            "pareto_k": k, "log_weights": weights[0], "elpd_i": elpd_i, "elpd": elpd, "se": se, "p": p,
            "above": int(np.sum(np.array(k_loo) > good_k)), "good_k": good_k,
            "waic": {"elpd": waic_i.sum(), "se": np.sqrt(len(y) * np.var(waic_i, ddof=1)), "p": p_waic_i.sum(),
                     "above": int(np.sum(p_waic_i > 0.4))},
        })
    return found


def stein_kernel(x, s, c, beta):
    """The matrix of Stein kernel values, term by term."""
    n, d = x.shape
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            delta = x[i] - x[j]
            base = c**2 + delta @ delta
            kernel = base**beta
            slope = 2 * beta * base ** (beta - 1) * delta
            trace = -2 * beta * d * base ** (beta - 1) - 4 * beta * (beta - 1) * (delta @ delta) * base ** (beta - 2)
            matrix[i, j] = s[i] @ s[j] * kernel + s[i] @ -slope + s[j] @ slope + trace
    return matrix


def finite_set(x, s, locations, kernel):
    """The features of FSSD, [draw][location][dimension] / sqrt(d J)."""
    n, d = x.shape
    features = np.zeros((n, len(locations), d))
    for i in range(n):
        for j, v in enumerate(locations):
            delta = x[i] - v
            square = delta @ delta
            if kernel == "gauss":
                value = np.exp(-square / (2 * 1.3**2))
                slope = -delta / 1.3**2 * value
            else:
                value = (1 + square) ** -0.5
                slope = -((1 + square) ** -1.5) * delta
            features[i, j] = s[i] * value + slope
    return features.reshape(n, -1) / np.sqrt(d * len(locations))


def stein():
    rng = np.random.default_rng(5)
    n, d = 70, 3
    x = short(rng.normal(size=(n, d)) * [1, 2, 0.5] + [0.3, 0, 1])
    s = short(-(x - [0, 0, 1]) / np.array([1, 4, 0.3]) + 0.1 * rng.normal(size=(n, d)))
    w = short(rng.uniform(0.2, 2.0, size=n))[0]
    found = []
    for c, beta in ((1.0, -0.5), (0.7, -0.3), (2.0, -0.9)):
        for weights, columns in ((None, [0, 1, 2]), (w, [0, 1, 2]), (None, [0, 2])):
            matrix = stein_kernel(x[:, columns], s[:, columns], c, beta)
            u = np.ones(n) if weights is None else weights
            v = u @ matrix @ u
            found.append({
                "c": c, "beta": beta, "weighted": weights is not None, "columns": columns,
                "v": v / u.sum() ** 2,
                "u": (v - np.sum(u**2 * np.diag(matrix))) / (u.sum() ** 2 - np.sum(u**2)),
            })
    locations = short(rng.normal(size=(4, d)))
    sets = []
    for kernel in ("imq", "gauss"):
        tau = finite_set(x, s, locations, kernel)
        total = tau.sum(axis=0)
        sets.append({"kernel": kernel, "v": total @ total / n**2,
                     "u": (total @ total - np.sum(tau**2)) / (n * (n - 1))})
    return {"dimension": d, "draws": x.ravel(), "scores": s.ravel(), "weights": w, "ksd": found,
            "locations": locations.ravel(), "fssd": sets}


def distances():
    rng = np.random.default_rng(8)
    n, m, d, k = 80, 110, 2, 3
    x = short(rng.normal(size=(n, d)))
    y = short(rng.normal(size=(m, d)) * [1.5, 0.8] + [0.4, 0])
    rho = [np.sort(np.linalg.norm(np.delete(x, i, 0) - x[i], axis=1))[k - 1] for i in range(n)]
    nu = [np.sort(np.linalg.norm(y - x[i], axis=1))[k - 1] for i in range(n)]
    kl = d * np.mean(np.log(np.array(nu) / np.array(rho))) + np.log(m / (n - 1))
    mean, covariance = np.array([0.2, -0.1]), np.array([[1.2, 0.5], [0.5, 0.9]])
    uniform = stats.norm.cdf(np.linalg.solve(np.linalg.cholesky(covariance), (x - mean).T)).T
    # The asymptotic law needs a long sample to agree with the exact one.
    long = short(rng.normal(size=400))[0]
    sizes = {"statistic": [0.02, 0.04, 0.06, 0.08], "exact": [stats.kstwo.sf(t, 400) for t in (0.02, 0.04, 0.06, 0.08)]}
    return {
        "dimension": d, "neighbors": k, "draws": x.ravel(), "reference": y.ravel(), "kl": kl,
        "wasserstein_1": [stats.wasserstein_distance(x[:, j], y[:, j]) for j in range(d)],
        "ks_two": [stats.ks_2samp(x[:, j], y[:, j]).statistic for j in range(d)],
        "mean": mean, "covariance": covariance.ravel(), "rosenblatt": uniform.ravel(),
        "rosenblatt_ks": np.mean([stats.kstest(uniform[:, j], "uniform").statistic for j in range(d)]),
        "long": long, "ks_one": stats.kstest(long, "norm").statistic, "ks_size": 400, "ks": sizes,
    }


FILES = {
    "chains.json": lambda: {"sets": chains(), "autocorrelation": autocorrelations()},
    "loo.json": loo,
    "stein.json": stein,
    "distances.json": distances,
}


def generate(directory):
    for name, make in FILES.items():
        (directory / name).write_text(json.dumps(plain(make()), separators=(",", ":")) + "\n")


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [found for key in a for found in differences(a[key], b[key], f"{path}/{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [found for index in range(len(a)) for found in differences(a[index], b[index], f"{path}/{index}")]
    number = isinstance(a, (int, float)) and isinstance(b, (int, float))
    return [] if a == b or number and math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-300) else [f"{path}: {a} and {b}"]


def compare(one, other):
    found = [line for name in FILES for line in
             differences(json.loads((one / name).read_text()), json.loads((other / name).read_text()), name)]
    print("\n".join(found[:20]) or "the references are those the Python packages give")
    return 1 if found else 0


def speed(binary, chains=4, draws=10_000, values=1_000):
    print("ours:", flush=True)
    subprocess.run([binary, "diagnostics-speed", str(chains), str(draws), str(values)], check=True)
    # ArviZ takes its time: a part of the values, scaled up.
    part = max(1, values // 50)
    rng = np.random.default_rng(1)
    for rho in (0.0, 0.9):
        tables = np.stack([autoregression(rng, rho, chains, draws) for _ in range(part)])
        start = time.perf_counter()
        for table in tables:
            np.mean(table), np.std(table, ddof=1), array_stats.eti(table, 0.89, axis=None)
            array_stats.rhat(table), array_stats.ess(table), array_stats.ess(table, method="tail", prob=0.89)
            array_stats.mcse(table), array_stats.mcse(table, method="sd")
        seconds = (time.perf_counter() - start) * values / part
        print(f"ArviZ: {chains} x {draws} draws x {values} values, autocorrelation {rho}: {seconds:.2f} s"
              f" (from {part} values)", flush=True)
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["generate", directory]:
            generate(pathlib.Path(directory))
        case ["compare", one, other]:
            sys.exit(compare(pathlib.Path(one), pathlib.Path(other)))
        case ["speed", binary]:
            sys.exit(speed(binary))
        case _:
            sys.exit(__doc__)
