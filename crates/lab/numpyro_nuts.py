#!/usr/bin/env python3
"""NUTS of NumPyro on the workloads of `lab -- accuracy`, with the columns of its table.

Requires numpyro, which installs jax and numpy, and scipy, which jax installs.

    python3 -m venv numpyro && numpyro/bin/pip install numpyro
    cargo run --release -p lab -- accuracy covertype --export covertype.npz
    numpyro/bin/python crates/lab/numpyro_nuts.py covertype covertype.npz

The data are those of the Rust program, exported by `--export`, and the models and priors are the same. `--reference` compares with a
CSV that `lab -- accuracy WORKLOAD --write-reference FILE.csv` writes, and `--write-reference` writes one. The time includes compilation,
whose share is measured with a run of two iterations. Compare speeds only with those of a run of the Rust program on the same idle machine.
"""

import argparse
import csv
import math
import time

import numpy as np


def logistic_regression(dist, jnp, numpyro, data):
    x, y = data["x"], data["y"]
    bias = numpyro.sample("bias", dist.Laplace(0.0, 1.0))
    beta = numpyro.sample("beta", dist.Laplace(0.0, 1.0).expand([x.shape[1]]).to_event(1))
    numpyro.sample("y", dist.Bernoulli(logits=x @ beta + bias), obs=y)


def hierarchical(dist, jnp, numpyro, data):
    mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
    tau = numpyro.sample("tau", dist.HalfNormal(2.0))
    eta = numpyro.sample("eta", dist.Normal(0.0, 1.0).expand([40]).to_event(1))
    sigma = numpyro.sample("sigma", dist.HalfNormal(5.0))
    numpyro.sample("y", dist.Normal(mu + tau * eta[data["group"]], sigma), obs=data["y"])


def mixture(dist, jnp, numpyro, data):
    # The order of the means: N(0, 2) for both, restricted to μ₀ < μ₁. The constant of the restriction does not matter.
    mu = numpyro.sample("mu", dist.ImproperUniform(dist.constraints.ordered_vector, (), event_shape=(2,)))
    numpyro.factor("mu_prior", dist.Normal(0.0, 2.0).log_prob(mu).sum())
    sigma = numpyro.sample("sigma", dist.HalfNormal(2.0).expand([2]).to_event(1))
    theta = numpyro.sample("theta", dist.Beta(5.0, 5.0))
    y = data["y"][:, None]
    components = dist.Normal(mu, sigma).log_prob(y) + jnp.log(jnp.stack([theta, 1.0 - theta]))
    numpyro.factor("y", jnp.logaddexp(components[:, 0], components[:, 1]).sum())


def start(workload, data):
    """Returns the start of the Rust program."""
    if workload in ("quickstart", "covertype"):
        return {"bias": 0.0, "beta": np.zeros(data["x"].shape[1])}
    if workload == "hierarchical":
        return {"mu": 0.0, "tau": 1.0, "eta": np.zeros(40), "sigma": 1.0}
    return {"mu": np.array([-1.0, 1.0]), "sigma": np.ones(2), "theta": 0.5}


MODELS = {
    "quickstart": logistic_regression,
    "covertype": logistic_regression,
    "hierarchical": hierarchical,
    "mixture": mixture,
}


def split(chains):
    """Splits every chain in half."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def rank_normalized(chains):
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = rankdata(chains, method="average").reshape(chains.shape)
    return ndtri((ranks - 0.375) / (chains.size + 0.25))


def describe(chains):
    """Returns the columns of a summary (Vehtari et al. 2021) of one value, an array of chains × draws."""
    from numpyro.diagnostics import effective_sample_size, gelman_rubin

    chains = np.asarray(chains, dtype=np.float64)
    halves = split(chains)
    folded = np.abs(halves - np.median(halves))
    tails = [(halves <= np.quantile(chains, q)).astype(np.float64) for q in (0.05, 0.95)]
    mean, sd = chains.mean(), chains.std(ddof=1)
    # The error of the standard deviation by the delta method, from the error of the mean of the squared deviations.
    squares = (halves - halves.mean()) ** 2
    mcse_mean = sd / math.sqrt(effective_sample_size(halves))
    variance_of_squares = squares.var(ddof=1) / effective_sample_size(squares)
    return {
        "mean": mean,
        "sd": sd,
        "ess_bulk": float(effective_sample_size(rank_normalized(halves))),
        "ess_tail": float(min(effective_sample_size(tail) for tail in tails)),
        "r_hat": float(max(gelman_rubin(rank_normalized(halves)), gelman_rubin(rank_normalized(folded)))),
        "mcse_mean": float(mcse_mean),
        "mcse_sd": float(math.sqrt(variance_of_squares) / (2.0 * sd)),
    }


def summary(samples):
    """Returns the columns of all values, by the names of the Rust program."""
    values = {}
    for name, draws in samples.items():
        draws = np.asarray(draws)
        if draws.ndim == 2:
            values[name] = describe(draws)
        else:
            values |= {f"{name}[{k}]": describe(draws[:, :, k]) for k in range(draws.shape[2])}
    return values


def read_reference(path):
    with open(path, encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["name"]: {key: float(value) for key, value in row.items() if key != "name"} for row in rows}


def errors(values, reference):
    """Returns the largest errors of a mean and of a standard deviation, each with its Monte Carlo error."""
    largest = {"mean": (-1.0, 0.0), "sd": (-1.0, 0.0)}
    for name, expected in reference.items():
        for moment in ("mean", "sd"):
            error = abs(values[name][moment] - expected[moment]) / expected["sd"]
            noise = math.hypot(values[name]["mcse_" + moment], expected.get("mcse_" + moment, 0.0)) / expected["sd"]
            largest[moment] = max(largest[moment], (error, noise))
    return largest["mean"], largest["sd"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=MODELS)
    parser.add_argument("data", help="archive of `lab -- accuracy WORKLOAD --export FILE.npz`")
    parser.add_argument("--warm-up", type=int, default=300)
    parser.add_argument("--draws", type=int, default=200, help="draws per chain")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--x64", action="store_true", help="double precision")
    parser.add_argument("--reference", help="CSV with name,mean,sd")
    parser.add_argument("--write-reference", help="CSV to write")
    arguments = parser.parse_args()

    import numpyro

    numpyro.set_host_device_count(arguments.chains)
    if arguments.x64:
        numpyro.enable_x64()
    import jax
    import jax.numpy as jnp
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS, init_to_value

    with np.load(arguments.data) as archive:
        host = {name: archive[name] for name in archive.files}
    data = {name: jnp.asarray(column) for name, column in host.items()}
    observations = len(host["y"])

    def model(*columns):
        MODELS[arguments.workload](dist, jnp, numpyro, dict(zip(data, columns)))

    def run(warm_up, draws, max_tree_depth=10):
        """Returns the draws, the number of gradients and the time."""
        begin = time.perf_counter()
        initial = init_to_value(values=start(arguments.workload, host))
        mcmc = MCMC(
            NUTS(model, init_strategy=initial, max_tree_depth=max_tree_depth),
            num_warmup=warm_up,
            num_samples=draws,
            num_chains=arguments.chains,
            chain_method="parallel",
            progress_bar=False,
        )
        columns, extra = list(data.values()), ("num_steps",)
        mcmc.warmup(jax.random.PRNGKey(arguments.seed), *columns, extra_fields=extra, collect_warmup=True)
        gradients = int(np.asarray(mcmc.get_extra_fields()["num_steps"]).sum())
        mcmc.run(mcmc.post_warmup_state.rng_key, *columns, extra_fields=extra)
        gradients += int(np.asarray(mcmc.get_extra_fields()["num_steps"]).sum())
        samples = jax.device_get(mcmc.get_samples(group_by_chain=True))
        return samples, gradients, time.perf_counter() - begin

    _, _, compilation = run(1, 1, max_tree_depth=1)
    samples, gradients, seconds = run(arguments.warm_up, arguments.draws)

    values = summary(samples)
    ess = min(min(row["ess_bulk"], row["ess_tail"]) for row in values.values())
    r_hat = max(row["r_hat"] for row in values.values())
    mean, sd = "–", "–"
    if arguments.reference:
        mean, sd = (f"{error:.3f} ± {noise:.3f}" for error, noise in errors(values, read_reference(arguments.reference)))
    if arguments.write_reference:
        columns = ("mean", "sd", "mcse_mean", "mcse_sd")
        with open(arguments.write_reference, "w", encoding="utf-8") as file:
            file.write(",".join(("name", *columns)) + "\n")
            for name, row in values.items():
                file.write(",".join([name, *(repr(float(row[column])) for column in columns)]) + "\n")
    print(f"{arguments.workload}; N = {observations}; NumPyro {numpyro.__version__}; about {compilation:.1f} s are compilation")
    header = f"{'method':<48} {'seconds':>9} {'tuning':>9} {'sampling':>9} {'ESS':>7} {'R-hat':>6} {'ESS/s':>9}"
    print(f"{header} {'|Δmean|/sd':>15} {'|Δsd|/sd':>15}")
    method = f"NumPyro NUTS, warm-up {arguments.warm_up}, {arguments.draws} draws per chain"
    row_gradients = float(gradients) * observations
    print(
        f"{method:<48} {seconds:>9.2f} {0.0:>9.1e} {row_gradients:>9.1e} {ess:>7.0f} {r_hat:>6.3f} {ess / seconds:>9.2f} "
        f"{mean:>15} {sd:>15}"
    )


if __name__ == "__main__":
    main()
