"""Writes special.csv, densities.csv and matrices.csv, the values the tests of special functions, densities, functions of matrices and
kernels are compared with.

    pip install scipy mpmath numpy && python generate.py

The values are computed by mpmath with 60 digits from the definitions below, because SciPy itself is not accurate to 1e-10 everywhere (it
takes differences of log-gamma functions at large parameters, and the Laplace density underflows before its logarithm is taken). Each density is also computed by the SciPy call in the last
column, and the script stops if the two differ by more than 1e-8. Arguments are rounded to single precision first, so that one
table is used for both precisions.
"""

import itertools

import mpmath as mp
import numpy as np
from scipy import linalg as la
from scipy import special as sp
from scipy import stats as st

mp.mp.dps = 60
mpf = mp.mpf


def single(x):
    """x rounded to single precision, unless it is out of its range."""
    x = float(x)
    return float(np.float32(x)) if x == 0 or 1e-37 < abs(x) < 1e38 else x


def number(x):
    if x == -mp.inf:
        return "-inf"
    return repr(float(x))


# ---------------------------------------------------------------------------------------------- special functions

def log_cdf(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2) if x < 5 else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)


def big(f):
    """f with enough digits for cancellation in the far tails."""
    def g(*x):
        with mp.workdps(400):
            return f(*x)
    return g


powers = [10.0**e for e in range(-30, 31, 3)]
extremes = [1e-300, 1e-100, 1e100, 1e300]
line = [s * x for s in (-1, 1) for x in (1e-30, 1e-10, 1e-5, 0.01, 0.1, 0.34, 0.36, 0.5, 0.69, 0.7, 1, 1.5, 2, 3, 5, 8)] + [0.0]
positive = [0.1, 0.25, 0.5, 0.75, 0.9, 0.999, 1, 1.001, 1.25, 1.4616, 1.5, 1.75, 1.999, 2, 2.001, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 12, 20, 33.3, 100, 250]
pairs = [1e-10, 0.01, 0.5, 1, 1.5, 2, 3.25, 10, 77, 1e3, 1e6, 1e10]
FUNCTIONS = {
    "lgamma": (lambda x: mp.loggamma(x), [(x,) for x in powers + extremes + positive]),
    "digamma": (lambda x: mp.digamma(x), [(x,) for x in powers + [1e-100, 1e100] + positive]),
    "lbeta": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), itertools.product(pairs, pairs)),
    "log_bessel_i0": (lambda x: mp.log(mp.besseli(0, x)), [(x,) for x in [1e-8, 1e-4, 0.01, 0.3, 1, 2, 3.5, 5, 6.5, 7.5, 7.99, 8, 8.01, 8.5, 9, 10, 12.3, 16, 25, 60, 150, 1e3, 1e5, 1e8]]),
    "erf": (lambda x: mp.erf(x), [(x,) for x in line]),
    "erfc": (big(lambda x: mp.erfc(x)), [(x,) for x in line + [4.3, 6.1, 9.1, 9.3, 12.7, 20.2, 26.1]]),
    "normal_cdf": (big(lambda x: mp.erfc(-x / mp.sqrt(2)) / 2), [(x,) for x in line + [-37.2, -30, -20.3, -12.9, -10.1, 10, 37]]),
    "normal_log_cdf": (big(log_cdf), [(x,) for x in line + [-1e6, -1e4, -1000.1, -100, -37.2, -30, -20.3, -12.9, 10, 12.8, 20]]),
    "expm1": (lambda x: mp.expm1(x), [(x,) for x in line + [-40, -20, 20, 40, 80, 600]]),
    "log1mexp": (lambda x: mp.log1p(-mp.exp(x)), [(-abs(x),) for x in line + [12, 20, 80, 600] if 0 < abs(x)]),
    "log1pexp": (lambda x: mp.log1p(mp.exp(x)), [(x,) for x in line + [-600, -80, -40, 20, 40, 80, 600, 1e10]]),
    "logaddexp": (
        lambda a, b: max(a, b) + mp.log1p(mp.exp(min(a, b) - max(a, b))),
        itertools.product([-1e10, -700, -50, -1, 0, 0.5, 3, 100, 1e10], repeat=2),
    ),
    "xlogy": (lambda x, y: mpf(0) if x == 0 else x * mp.log(y), itertools.product([0, 1e-30, 0.5, 2, 1e6], [1e-30, 0.5, 1, 3, 1e10])),
    "xlog1py": (lambda x, y: mpf(0) if x == 0 else x * mp.log1p(y), itertools.product([0, 1e-30, 0.5, 2, 1e6], [-0.99, -0.5, -1e-10, 1e-10, 3, 1e10])),
}


def special_rows():
    for name, (function, grid) in FUNCTIONS.items():
        for arguments in grid:
            arguments = tuple(single(x) for x in arguments)
            value = function(*(mpf(x) for x in arguments))
            yield [name, " ".join(map(repr, arguments)), number(value)]
    yield ["xlogy", "0.0 0.0", "0.0"]
    yield ["xlog1py", "0.0 -1.0", "0.0"]


# ---------------------------------------------------------------------------------------------- densities

pi = mp.pi


def xlogy(x, y):
    return mpf(0) if x == 0 else (x * mp.log(y) if y > 0 else -mp.inf * x)


def sigmoid_log(z):
    return -mp.log1p(mp.exp(-z))


def log_normal_density(x, m, s):
    return -((x - m) / s) ** 2 / 2 - mp.log(s) - mp.log(2 * pi) / 2


def student(x, v, m, s):
    z = (x - m) / s
    return mp.loggamma((v + 1) / 2) - mp.loggamma(v / 2) - mp.log(v * pi) / 2 - mp.log(s) - (v + 1) / 2 * mp.log1p(z**2 / v)


def gen_gamma(x, a, c, s):
    return mp.log(c / s) + xlogy(c * a - 1, x / s) - (x / s) ** c - mp.loggamma(a)


def gamma(x, a, b):
    return a * mp.log(b) + xlogy(a - 1, x) - b * x - mp.loggamma(a)


def choose(n, k):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def poisson(x, rate):
    return xlogy(x, rate) - rate - mp.loggamma(x + 1)


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def beta_binomial(x, n, a, b):
    return choose(n, x) + log_beta(x + a, n - x + b) - log_beta(a, b)


def skew_normal(x, m, s, shape):
    return mp.log(2) + log_normal_density(x, m, s) + mp.log(mp.erfc(-shape * (x - m) / s / mp.sqrt(2)) / 2)


def ordered_logistic(x, eta, cuts):
    above = lambda k: mpf(1) if k < 0 else (mpf(0) if k >= len(cuts) else 1 / (1 + mp.exp(cuts[k] - eta[0])))
    k = int(x[0])
    return mp.log(above(k - 1) - above(k))


def zero_inflated(x, logits, rate):
    zero = 1 / (1 + mp.exp(-logits[0]))
    return mp.log((zero if x[0] == 0 else 0) + (1 - zero) * mp.exp(poisson(x[0], rate[0])))


def scipy_ordered(x, eta, cuts):
    above = np.concatenate([[1.0], sp.expit(eta[0] - cuts), [0.0]])
    return np.log(above[int(x[0])] - above[int(x[0]) + 1])


def scipy_inflated(x, logits, rate):
    additional = sp.log_expit(logits[0]) if x[0] == 0 else -np.inf
    return np.logaddexp(additional, sp.log_expit(-logits[0]) + st.poisson.logpmf(x[0], rate[0]))


def von_mises(x, m, c):
    return c * (mp.cos(x - m) - 1) - mp.log(2 * pi) - mp.log(mp.besseli(0, c)) + c


def full(lower, rows=None):
    """The symmetric matrix with the lower triangle of a list of entries."""
    rows = rows or int(round(len(lower) ** 0.5))
    return mp.matrix(rows, rows) + mp.matrix([[lower[max(i, j) * rows + min(i, j)] for j in range(rows)] for i in range(rows)])


def from_triangle(entries):
    """The symmetric matrix with the entries on and below the diagonal, row by row."""
    rows = int((1 + 8 * len(entries)) ** 0.5 - 1) // 2
    at = lambda i, j: entries[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)]
    return mp.matrix([[at(i, j) for j in range(rows)] for i in range(rows)])


def correlations(entries):
    """The correlation matrix with the entries below the diagonal, row by row."""
    rows = (1 + int((1 + 8 * len(entries)) ** 0.5)) // 2
    at = lambda i, j: 1 if i == j else entries[max(i, j) * (max(i, j) - 1) // 2 + min(i, j)]
    return mp.matrix([[at(i, j) for j in range(rows)] for i in range(rows)])


def pivots(entries):
    """The diagonal of the factor of a correlation matrix with the entries below the diagonal, without the first."""
    rows = (1 + int((1 + 8 * len(entries)) ** 0.5)) // 2
    return [mp.sqrt(1 - sum(v**2 for v in entries[i * (i - 1) // 2 : i * (i + 1) // 2])) for i in range(1, rows)]


def distance(x, m, inverse):
    z = mp.matrix([a - b for a, b in zip(x, m)])
    return (z.T * inverse * z)[0]


def mvn_covariance(x, m, c):
    c = full(c)
    return -distance(x, m, c**-1) / 2 - mp.log(mp.det(c)) / 2 - mpf(len(x)) / 2 * mp.log(2 * pi)


def mvn_precision(x, m, p):
    p = full(p)
    return -distance(x, m, p) / 2 + mp.log(mp.det(p)) / 2 - mpf(len(x)) / 2 * mp.log(2 * pi)


def multivariate_t(x, v, m, c):
    v, c, d = v[0], full(c), mpf(len(x))
    constant = mp.loggamma((v + d) / 2) - mp.loggamma(v / 2) - d / 2 * mp.log(pi * v) - mp.log(mp.det(c)) / 2
    return constant - (v + d) / 2 * mp.log1p(distance(x, m, c**-1) / v)


def multigamma(a, d):
    return mpf(d * (d - 1)) / 4 * mp.log(pi) + sum(mp.loggamma(a - mpf(j) / 2) for j in range(d))


def trace(m):
    return sum(m[i, i] for i in range(m.rows))


def wishart(x, v, s):
    v, x, s = v[0], from_triangle(x), full(s)
    d = x.rows
    constant = v * d / 2 * mp.log(2) + v / 2 * mp.log(mp.det(s)) + multigamma(v / 2, d)
    return (v - d - 1) / 2 * mp.log(mp.det(x)) - trace(s**-1 * x) / 2 - constant


def inverse_wishart(x, v, s):
    v, x, s = v[0], from_triangle(x), full(s)
    d = x.rows
    constant = v * d / 2 * mp.log(2) - v / 2 * mp.log(mp.det(s)) + multigamma(v / 2, d)
    return -(v + d + 1) / 2 * mp.log(mp.det(x)) - trace(s * x**-1) / 2 - constant


def lkj_constant(eta, d):
    """Lewandowski, Kurowicka & Joe (2009), equation 16."""
    beta = lambda k: log_beta(eta + mpf(d - k - 1) / 2, eta + mpf(d - k - 1) / 2)
    return sum((2 * eta - 2 + d - k) * (d - k) * mp.log(2) + (d - k) * beta(k) for k in range(1, d))


def lkj(x, eta):
    r = correlations(x)
    return (eta[0] - 1) * mp.log(mp.det(r)) - lkj_constant(eta[0], r.rows)


def lkj_cholesky(x, eta):
    diagonal = pivots(x)
    d = len(diagonal) + 1
    return sum((d - k + 2 * eta[0] - 2) * mp.log(v) for k, v in enumerate(diagonal, 2)) - lkj_constant(eta[0], d)


def stan_lkj_constant(eta, d):
    """The same constant as Stan computes it."""
    return sum(k / 2 * np.log(np.pi) + sp.gammaln(eta + (d - 1 - k) / 2) - sp.gammaln(eta + (d - 1) / 2) for k in range(1, d))


def scipy_lkj(x, eta):
    r = np.array(correlations(list(map(float, x))).tolist(), dtype=float)
    return (eta[0] - 1) * np.linalg.slogdet(r)[1] - stan_lkj_constant(eta[0], len(r))


def scipy_lkj_cholesky(x, eta):
    diagonal = [float(v) for v in pivots(list(map(mpf, x)))]
    d = len(diagonal) + 1
    powers = [d - k + 2 * eta[0] - 2 for k in range(2, d + 1)]
    return np.dot(powers, np.log(diagonal)) - stan_lkj_constant(eta[0], d)


def matrix_normal(x, m, u, v):
    u, v = full(u), full(v)
    r, c = u.rows, v.rows
    z = mp.matrix([[x[i * c + j] - m[i * c + j] for j in range(c)] for i in range(r)])
    determinants = c * mp.log(mp.det(u)) + r * mp.log(mp.det(v))
    return -trace(v**-1 * z.T * u**-1 * z) / 2 - determinants / 2 - mpf(r * c) / 2 * mp.log(2 * pi)


def numbers(lower):
    """The symmetric matrix with the lower triangle of an array of entries."""
    d = int(round(len(lower) ** 0.5))
    lower = np.tril(np.reshape(lower, (d, d)))
    return lower + np.tril(lower, -1).T


def triangle(entries):
    d = int((1 + 8 * len(entries)) ** 0.5 - 1) // 2
    lower = np.zeros((d, d))
    lower[np.tril_indices(d)] = entries
    return lower + np.tril(lower, -1).T


def laplace_cdf(z):
    return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2


# Distributions on the line for truncation and censoring: density, distribution function and survival function.
CUMULATIVE = {
    "": (log_normal_density, lambda x, m, s: mp.erfc((m - x) / s / mp.sqrt(2)) / 2, lambda x, m, s: mp.erfc((x - m) / s / mp.sqrt(2)) / 2, lambda m, s: st.norm(m, s), [(0.3, 1.7), (6, 0.8), (-20, 1)]),
    ".exponential": (lambda x, r: mp.log(r) - r * x, lambda x, r: -mp.expm1(-r * x), lambda x, r: mp.exp(-r * x), lambda r: st.expon(0, 1 / r), [(1.3,), (0.01,), (20,)]),
    ".weibull": (lambda x, k, s: gen_gamma(x, mpf(1), k, s), lambda x, k, s: -mp.expm1(-((x / s) ** k)), lambda x, k, s: mp.exp(-((x / s) ** k)), lambda k, s: st.weibull_min(k, 0, s), [(1.7, 1.3), (0.3, 20), (3, 0.75)]),
    ".log_normal": (lambda x, m, s: log_normal_density(mp.log(x), m, s) - mp.log(x), lambda x, m, s: mp.erfc((m - mp.log(x)) / s / mp.sqrt(2)) / 2, lambda x, m, s: mp.erfc((mp.log(x) - m) / s / mp.sqrt(2)) / 2, lambda m, s: st.lognorm(s, 0, np.exp(m)), [(0.3, 0.8), (4, 0.5), (-5, 1)]),
    ".logistic": (lambda x, m, s: sigmoid_log((x - m) / s) + sigmoid_log(-(x - m) / s) - mp.log(s), lambda x, m, s: 1 / (1 + mp.exp((m - x) / s)), lambda x, m, s: 1 / (1 + mp.exp((x - m) / s)), lambda m, s: st.logistic(m, s), [(0.3, 0.8), (-3, 0.4), (20, 1)]),
    ".laplace": (lambda x, m, s: -abs(x - m) / s - mp.log(2 * s), lambda x, m, s: laplace_cdf((x - m) / s), lambda x, m, s: laplace_cdf((m - x) / s), lambda m, s: st.laplace(m, s), [(0.3, 0.8), (-3, 0.4), (20, 1)]),
    ".cauchy": (lambda x, m, s: -mp.log(pi * s) - mp.log1p(((x - m) / s) ** 2), lambda x, m, s: mp.atan2(1, (m - x) / s) / pi, lambda x, m, s: mp.atan2(1, (x - m) / s) / pi, lambda m, s: st.cauchy(m, s), [(0.3, 0.8), (-30, 0.4), (20, 1)]),
}


def truncated(density, cdf, survival):
    def log_prob(x, *params):
        params = [p[0] for p in params]
        low, high = params[-2:]
        return density(x[0], *params[:-2]) - mp.log(cdf(high, *params[:-2]) - cdf(low, *params[:-2]))
    return log_prob


def censored(density, cdf, survival):
    def log_prob(x, *params):
        params = [p[0] for p in params]
        low, high = params[-2:]
        if x[0] <= low:
            return mp.log(cdf(low, *params[:-2]))
        return mp.log(survival(high, *params[:-2])) if x[0] >= high else density(x[0], *params[:-2])
    return log_prob


def scipy_truncated(frozen):
    def log_prob(x, *params):
        params = [p[0] for p in params]
        f, (low, high) = frozen(*params[:-2]), params[-2:]
        upper = f.cdf(low) > 0.5
        a, b = (f.logsf(low), f.logsf(high)) if upper else (f.logcdf(high), f.logcdf(low))
        return f.logpdf(x[0]) - (a + np.log1p(-np.exp(b - a)))
    return log_prob


def scipy_censored(frozen):
    def log_prob(x, *params):
        params = [p[0] for p in params]
        f, (low, high) = frozen(*params[:-2]), params[-2:]
        return f.logcdf(low) if x[0] <= low else (f.logsf(high) if x[0] >= high else f.logpdf(x[0]))
    return log_prob


real = [-1e10, -1e3, -30.5, -3, -0.5, 0, 1e-5, 0.7, 1.25, 4, 40, 1e4, 1e8]
above = [1e-20, 1e-6, 0.01, 0.3, 1, 1.7, 5, 23, 100]
unit = [1e-20, 1e-5, 0.02, 0.3, 0.5, 0.77, 0.999]
counts = [0, 1, 2, 3, 7, 20, 150, 1000]
LOCSCALE = [(0, 1), (0.3, 1.7), (-20, 0.01), (5, 1000)]
# name: (definition, parameters, values, SciPy's log density, the call as text)
DENSITIES = {
    "Normal": (log_normal_density, LOCSCALE, real, st.norm.logpdf, "norm.logpdf(x, loc, scale)"),
    "Laplace": (lambda x, m, s: -abs(x - m) / s - mp.log(2 * s), LOCSCALE, real, st.laplace.logpdf, "laplace.logpdf(x, loc, scale)"),
    "Cauchy": (lambda x, m, s: -mp.log(pi * s) - mp.log1p(((x - m) / s) ** 2), LOCSCALE, real, st.cauchy.logpdf, "cauchy.logpdf(x, loc, scale)"),
    "Logistic": (lambda x, m, s: sigmoid_log((x - m) / s) + sigmoid_log(-(x - m) / s) - mp.log(s), LOCSCALE, real[2:-2], st.logistic.logpdf, "logistic.logpdf(x, loc, scale)"),
    "StudentT": (student, [(0.3, 0, 1), (1, 1, 2), (4.5, -1, 0.3), (30, 0, 1), (1e6, 0, 1), (1e10, 0.5, 2)], real, lambda x, v, m, s: st.t.logpdf(x, v, m, s), "t.logpdf(x, df, loc, scale)"),
    "HalfNormal": (lambda x, s: log_normal_density(x, mpf(0), s) + mp.log(2), [(1,), (0.03,), (50,)], above + [0], lambda x, s: st.halfnorm.logpdf(x, 0, s), "halfnorm.logpdf(x, 0, scale)"),
    "HalfCauchy": (lambda x, s: mp.log(2 / (pi * s)) - mp.log1p((x / s) ** 2), [(1,), (0.03,), (50,)], above + [0], lambda x, s: st.halfcauchy.logpdf(x, 0, s), "halfcauchy.logpdf(x, 0, scale)"),
    "LogNormal": (lambda x, m, s: log_normal_density(mp.log(x), m, s) - mp.log(x), [(0, 1), (1.5, 0.2), (-2, 3)], above + [1e10], lambda x, m, s: st.lognorm.logpdf(x, s, 0, np.exp(m)), "lognorm.logpdf(x, scale, 0, exp(loc))"),
    "Gamma": (gamma, [(1, 1), (0.2, 3), (2.5, 0.01), (40, 7), (1000, 900), (1e-3, 1)], above + [0], lambda x, a, b: st.gamma.logpdf(x, a, 0, 1 / b), "gamma.logpdf(x, shape, 0, 1/rate)"),
    "InverseGamma": (lambda x, a, b: a * mp.log(b) - (a + 1) * mp.log(x) - b / x - mp.loggamma(a), [(1, 1), (0.2, 3), (2.5, 0.01), (40, 70)], above[1:] + [1e8], lambda x, a, b: st.invgamma.logpdf(x, a, 0, b), "invgamma.logpdf(x, shape, 0, scale)"),
    "GeneralizedGamma": (gen_gamma, [(1, 1, 1), (0.5, 2, 1.5), (3, 0.5, 0.1), (2.2, 1.3, 10)], above + [0], lambda x, a, c, s: st.gengamma.logpdf(x, a, c, 0, s), "gengamma.logpdf(x, shape, power, 0, scale)"),
    "Exponential": (lambda x, r: mp.log(r) - r * x, [(1,), (0.01,), (30,)], above + [0], lambda x, r: st.expon.logpdf(x, 0, 1 / r), "expon.logpdf(x, 0, 1/rate)"),
    "Weibull": (lambda x, k, s: gen_gamma(x, mpf(1), k, s), [(1, 1), (0.3, 2), (2.5, 0.4), (1.5, 20)], above + [0], lambda x, k, s: st.weibull_min.logpdf(x, k, 0, s), "weibull_min.logpdf(x, shape, 0, scale)"),
    "Beta": (lambda x, a, b: xlogy(a - 1, x) + xlogy(b - 1, 1 - x) - (mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)), [(1, 1), (0.5, 0.5), (2, 7.5), (300, 200), (0.01, 3), (1e5, 1)], unit + [0, 1], st.beta.logpdf, "beta.logpdf(x, a, b)"),
    "Uniform": (lambda x, a, b: -mp.log(b - a), [(-1, 30), (-100, 200)], [-1, 0, 0.1, 29], lambda x, a, b: st.uniform.logpdf(x, a, b - a), "uniform.logpdf(x, low, high - low)"),
    "Bernoulli": (lambda x, p: xlogy(x, p) + xlogy(1 - x, 1 - p), [(0.3,), (1e-10,), (0.999,), (0.5,)], [0, 1], st.bernoulli.logpmf, "bernoulli.logpmf(x, probs)"),
    "BernoulliLogits": (lambda x, z: sigmoid_log((2 * x - 1) * z), [(0,), (1.5,), (-3,), (30,), (-100,), (100,)], [0, 1], lambda x, z: np.log(sp.expit((2 * x - 1) * z)), "log(expit((2*x - 1)*logits))"),
    "BinomialLogits": (lambda x, n, z: choose(n, x) + x * sigmoid_log(z) + (n - x) * sigmoid_log(-z), [(1000, 0.5), (2000, -6), (1000, 30)], counts, lambda x, n, z: sp.gammaln(n + 1) - sp.gammaln(x + 1) - sp.gammaln(n - x + 1) - x * np.logaddexp(0, -z) - (n - x) * np.logaddexp(0, z), "binom.logpmf(x, total, expit(logits)), by gammaln"),
    "BetaBinomial": (beta_binomial, [(1000, 1, 1), (2000, 0.5, 30), (1000, 250, 700)], counts, lambda x, n, a, b: sp.gammaln(n + 1) - sp.gammaln(x + 1) - sp.gammaln(n - x + 1) + sp.betaln(x + a, n - x + b) - sp.betaln(a, b), "betabinom.logpmf(x, total, a, b), by betaln"),
    "SkewNormal": (skew_normal, [(0, 1, 2), (0.3, 1.7, -4), (5, 1000, 0.5)], real[3:-3], lambda x, m, s, a: np.log(2) + st.norm.logpdf(x, m, s) + sp.log_ndtr(a * (x - m) / s), "skewnorm.logpdf(x, shape, loc, scale), by log_ndtr"),
    "VonMises": (von_mises, [(0, 1), (0.3, 0.001), (-2, 12.5), (1, 7.75), (3, 1000), (0.5, 1e5)], [-3, -0.5, 0, 0.3125, 1.25, 3.125, 40], lambda x, m, c: st.vonmises.logpdf(x, c, m), "vonmises.logpdf(x, concentration, loc)"),
    "Poisson": (poisson, [(1,), (0.001,), (12.5,), (900,), (1e5,)], counts + [1e5], st.poisson.logpmf, "poisson.logpmf(x, rate)"),
    "PoissonLogRate": (lambda x, e: poisson(x, mp.exp(e)), [(0,), (-10,), (2.5,), (6.8,)], counts, lambda x, e: st.poisson.logpmf(x, np.exp(e)), "poisson.logpmf(x, exp(log_rate))"),
    "NegativeBinomial": (lambda x, m, d: mp.loggamma(x + d) - mp.loggamma(x + 1) - mp.loggamma(d) + x * mp.log(m / (m + d)) + d * mp.log(d / (m + d)), [(1, 1), (0.01, 3), (30, 0.2), (500, 50), (5, 1e6)], counts, lambda x, m, d: sp.gammaln(x + d) - sp.gammaln(x + 1) - sp.gammaln(d) - x * np.log1p(d / m) - d * np.log1p(m / d), "nbinom.logpmf(x, dispersion, dispersion/(dispersion + mean)), by gammaln"),
}


def mvn(x, m, rows):
    d = len(x)
    lower = mp.matrix(d, d)
    for i in range(d):
        for j in range(i + 1):
            lower[i, j] = rows[i * d + j]
    z = mp.lu_solve(lower, mp.matrix([a - b for a, b in zip(x, m)]))
    return -sum(v**2 for v in z) / 2 - sum(mp.log(lower[i, i]) for i in range(d)) - mpf(d) / 2 * mp.log(2 * pi)


def diagonal(x, m, s):
    return sum(log_normal_density(*row) for row in zip(x, m, s))


def dirichlet(x, a):
    return sum(xlogy(aj - 1, xj) for aj, xj in zip(a, x)) + mp.loggamma(sum(a)) - sum(mp.loggamma(aj) for aj in a)


def multinomial(x, p):
    return mp.loggamma(sum(x) + 1) - sum(mp.loggamma(v + 1) for v in x) + sum(xlogy(v, q) for v, q in zip(x, p))


def softmax(z):
    e = [mp.exp(v) for v in z]
    return [v / sum(e) for v in e]


LOWER = [1.5, 0, 0, -0.75, 0.5, 0, 0.25, 2, 0.125]
ROWS3 = [[0, 0, 0], [1, -2, 0.5], [100, 3, -40], [1e-5, 1, 1e6]]
PROPORTIONS = [[0.25, 0.25, 0.5], [0.0078125, 0.9765625, 0.015625], [0.5, 0.4990234375, 0.0009765625]]
COVARIANCE = [2.25, 0, 0, -1.125, 0.8125, 0, 0.375, 0.8125, 4.078125]
PAIR = [0.75, 0, -0.5, 1.25]
DEFINITE2 = [[1, 0, 1], [1, 0.25, 2], [0.03125, -0.0625, 0.5], [30, -12, 9]]
DEFINITE3 = [[1, 0, 1, 0, 0, 1], [2, 0.5, 1, -0.25, 0.75, 3], [100, -3, 0.5, 2, 0.125, 0.25]]
CORRELATIONS3 = [[0, 0, 0], [0.5, -0.25, 0.125], [0.9375, 0.5, 0.25]]
CORRELATIONS4 = [[0.5, -0.25, 0.125, 0, 0.375, -0.5]]
INTERVAL = [[0.5], [0.53125], [1], [2], [2.5]]
ROWS = {
    "MultivariateNormal.covariance": (mvn_covariance, [([0, 0, 0], COVARIANCE), ([1, -1, 3], COVARIANCE)], ROWS3, lambda x, m, c: st.multivariate_normal.logpdf(x, m, numbers(c)), "multivariate_normal.logpdf(x, loc, covariance)"),
    "MultivariateNormal.precision": (mvn_precision, [([0, 0, 0], COVARIANCE), ([1, -1, 3], COVARIANCE)], ROWS3, lambda x, m, p: st.multivariate_normal.logpdf(x, m, np.linalg.inv(numbers(p))), "multivariate_normal.logpdf(x, loc, inv(precision))"),
    "MultivariateStudentT": (multivariate_t, [([3], [0, 0, 0], COVARIANCE), ([0.5], [1, -1, 3], COVARIANCE), ([1e6], [1, -1, 3], COVARIANCE)], ROWS3, lambda x, v, m, c: st.multivariate_t.logpdf(x, m, numbers(c), v[0]), "multivariate_t.logpdf(x, loc, scale, df)"),
    "Wishart": (wishart, [([2.5], PAIR), ([30], PAIR)], DEFINITE2, lambda x, v, s: st.wishart.logpdf(triangle(x), v[0], numbers(s)), "wishart.logpdf(x, df, scale)"),
    "Wishart ": (wishart, [([4.5], COVARIANCE)], DEFINITE3, lambda x, v, s: st.wishart.logpdf(triangle(x), v[0], numbers(s)), "wishart.logpdf(x, df, scale)"),
    "InverseWishart": (inverse_wishart, [([2.5], PAIR), ([30], PAIR)], DEFINITE2, lambda x, v, s: st.invwishart.logpdf(triangle(x), v[0], numbers(s)), "invwishart.logpdf(x, df, scale)"),
    "InverseWishart ": (inverse_wishart, [([4.5], COVARIANCE)], DEFINITE3, lambda x, v, s: st.invwishart.logpdf(triangle(x), v[0], numbers(s)), "invwishart.logpdf(x, df, scale)"),
    "Lkj": (lkj, [([1],), ([0.75],), ([20],)], CORRELATIONS3, scipy_lkj, "log of det(x)**(eta - 1), with Stan's constant"),
    "Lkj ": (lkj, [([1],), ([2.5],)], CORRELATIONS4, scipy_lkj, "log of det(x)**(eta - 1), with Stan's constant"),
    "LkjCholesky": (lkj_cholesky, [([1],), ([0.75],), ([20],)], CORRELATIONS3, scipy_lkj_cholesky, "log of the powers of diag(x), with Stan's constant"),
    "LkjCholesky ": (lkj_cholesky, [([1],), ([2.5],)], CORRELATIONS4, scipy_lkj_cholesky, "log of the powers of diag(x), with Stan's constant"),
    "MatrixNormal": (matrix_normal, [([0, 0, 0, 1, 2, 3], PAIR, COVARIANCE), ([0] * 6, PAIR, [1, 0, 0, 0, 1, 0, 0, 0, 1])], [[0, 0, 0, 0, 0, 0], [1, -2, 0.5, 3, 0, -1], [100, 3, -40, 5, 1e4, 2]], lambda x, m, u, v: st.matrix_normal.logpdf(np.reshape(x, (2, 3)), np.reshape(m, (2, 3)), numbers(u), numbers(v)), "matrix_normal.logpdf(x, loc, rows, columns)"),
    **{"Truncated" + name: (truncated(f, c, s), [(*[[v] for v in p], [0.5], [2.5]) for p in params], INTERVAL, scipy_truncated(frozen), "logpdf(x) - log(cdf(high) - cdf(low))") for name, (f, c, s, frozen, params) in CUMULATIVE.items()},
    **{"Censored" + name: (censored(f, c, s), [(*[[v] for v in p], [0.5], [2.5]) for p in params], INTERVAL, scipy_censored(frozen), "logpdf(x), logcdf(low) or logsf(high)") for name, (f, c, s, frozen, params) in CUMULATIVE.items()},
    "MultivariateNormal.diagonal": (diagonal, [([0, 0, 0], [1, 1, 1]), ([1, -1, 3], [0.5, 2, 30])], ROWS3, lambda x, m, s: st.norm.logpdf(x, m, s).sum(), "norm.logpdf(x, loc, scale).sum()"),
    "MultivariateNormal.cholesky": (mvn, [([0, 0, 0], LOWER), ([1, -1, 3], LOWER)], ROWS3, lambda x, m, f: st.multivariate_normal.logpdf(x, m, np.reshape(f, (3, 3)) @ np.reshape(f, (3, 3)).T), "multivariate_normal.logpdf(x, loc, factor @ factor.T)"),
    "Dirichlet": (dirichlet, [([1, 1, 1],), ([0.5, 2, 30],), ([200, 300, 0.1],)], PROPORTIONS, lambda x, a: st.dirichlet.logpdf(x, a), "dirichlet.logpdf(x, concentration)"),
    "Multinomial": (multinomial, [([0.25, 0.25, 0.5],), ([0.0078125, 0.9765625, 0.015625],)], [[0, 0, 0], [1, 2, 3], [0, 30, 500]], lambda x, p: st.multinomial.logpmf(x, int(np.sum(x)), p), "multinomial.logpmf(x, x.sum(), probs)"),
    "Multinomial.from_logits": (lambda x, z: multinomial(x, softmax(z)), [([0, 0, 0],), ([3, -2, 50],)], [[0, 0, 0], [1, 2, 3], [0, 30, 500]], lambda x, z: st.multinomial.logpmf(x, int(np.sum(x)), sp.softmax(z)), "multinomial.logpmf(x, x.sum(), softmax(logits))"),
    "CategoricalLogits": (lambda x, z: mp.log(softmax(z)[int(x[0])]), [([0, 0, 0],), ([3, -2, 50],), ([-100, 100, 0],)], [[0], [1], [2]], lambda x, z: sp.log_softmax(z)[int(x[0])], "log_softmax(logits)[x]"),
    "OrderedLogistic": (ordered_logistic, [([0.5], [-1, 0.25, 2]), ([-3], [-4, -2, 8]), ([6], [-1, 0, 1])], [[0], [1], [2], [3]], scipy_ordered, "log of differences of expit(eta - cutpoints)"),
    "ZeroInflated": (zero_inflated, [([0], [1]), ([-3], [12.5]), ([4], [0.001])], [[0], [1], [2], [7], [20]], scipy_inflated, "logaddexp(log_expit(logits), log_expit(-logits) + poisson.logpmf(x, rate)) at 0"),
    "Mixture": (lambda x, z, a, b: mp.log(sum(w * mp.exp(l) for w, l in zip(softmax(z), [log_normal_density(x[0], *a), student(x[0], *b)]))), [([0.5, -0.5], [0, 1], [3, 1, 10]), ([30, 0], [-2, 0.1], [3, 1, 10])], [[0], [1.5], [-40], [1e4]], lambda x, z, a, b: sp.logsumexp(sp.log_softmax(z) + [st.norm.logpdf(x[0], *a), st.t.logpdf(x[0], *b)]), "logsumexp(log_softmax(logits) + [norm.logpdf(x, loc, scale), t.logpdf(x, df, loc, scale)])"),
}


def checked(name, exact, scipy, at):
    exact, scipy = float(exact), float(scipy)
    if np.isfinite(exact) and abs(exact - scipy) > 1e-8 * max(1, abs(exact)):
        if name in INACCURATE:
            return " (SciPy is off here)"
        raise SystemExit(f"{name} at {at}: {exact} by definition, {scipy} by SciPy")
    return ""


# Where SciPy's own error exceeds 1e-8: it takes the logarithm of a Laplace density that underflowed.
INACCURATE = {"Laplace"}


def density_rows():
    for name, (definition, parameters, values, scipy, call) in DENSITIES.items():
        for params, x in itertools.product(parameters, values):
            params, x = tuple(map(single, params)), single(x)
            exact = big(definition)(mpf(x), *map(mpf, params))
            if exact == mp.inf:
                continue
            with np.errstate(all="ignore"):
                note = checked(name, exact, scipy(x, *params), (params, x))
            yield [name, " ; ".join(map(repr, params)), repr(x), number(exact), call + note]
    join = lambda row: " ".join(map(repr, row))
    for name, (definition, parameters, values, scipy, call) in ROWS.items():
        for params, x in itertools.product(parameters, values):
            params, x = [[single(v) for v in p] for p in params], [single(v) for v in x]
            exact = big(definition)([mpf(v) for v in x], *[[mpf(v) for v in p] for p in params])
            note = checked(name, exact, scipy(np.array(x), *map(np.array, params)), (params, x))
            yield [name.strip(), " ; ".join(map(join, params)), join(x), number(exact), call + note]


# ---------------------------------------------------------------------------------------------- matrices and kernels

AUTOREGRESSIVE = [0.875 ** abs(i - j) for i in range(8) for j in range(8)]
HILBERT = [1 / (1 + i + j) for i in range(4) for j in range(4)]
SQUARES = [[6.25], PAIR, COVARIANCE, HILBERT, AUTOREGRESSIVE]
POINTS = [0, 0, 0.5, -0.25, -1.5, 2, 3, 0.75, 3, 0.8125]
HYPERPARAMETERS = [[1, 1, 1], [0.25, 2.5, 0.75], [3, 0.375, 4]]


def matrix(values):
    size = round(len(values) ** 0.5)
    return mp.matrix([[mpf(v) for v in values[i * size : (i + 1) * size]] for i in range(size)])


def covariance_of(values):
    """The symmetric matrix whose lower triangle is given."""
    a = matrix(values)
    return mp.matrix([[a[max(i, j), min(i, j)] for j in range(a.rows)] for i in range(a.rows)])


def factor_of(values):
    """The triangular matrix that is given with numbers above the diagonal."""
    a = matrix(values)
    return mp.matrix([[a[i, j] if j <= i else mpf(0) for j in range(a.rows)] for i in range(a.rows)])


def right_hand_side(rows):
    return [single((7 * i % 11 - 5) / 4) for i in range(rows * 3)]


def solve(a, b):
    """The solution of a x = b for all columns of b, where a is of mpmath and b has the elements by rows."""
    columns = [mp.lu_solve(a, mp.matrix([mpf(b[3 * i + k]) for i in range(a.rows)])) for k in range(3)]
    return [columns[k][i] for i in range(a.rows) for k in range(3)]


def entries(a):
    return [a[i, j] for i in range(a.rows) for j in range(a.cols)]


def lower(a):
    return np.tril(np.reshape(a, (round(len(a) ** 0.5),) * 2))


def whole(a):
    return lower(a) + np.tril(lower(a), -1).T


def columns(b):
    return np.reshape(b, (-1, 3))


MATRICES = {
    "cholesky": (lambda a: entries(mp.cholesky(covariance_of(a))), 1, lambda a: la.cholesky(whole(a), lower=True), "cholesky(a, lower=True)"),
    "log_determinant": (lambda a: [2 * sum(mp.log(matrix(a)[i, i]) for i in range(matrix(a).rows))], 1, lambda a: np.linalg.slogdet(lower(a) @ lower(a).T)[1], "slogdet(a @ a.T)"),
    "solve_lower": (lambda a, b: solve(factor_of(a), b), 2, lambda a, b: la.solve_triangular(lower(a), columns(b), lower=True), "solve_triangular(a, b, lower=True)"),
    "solve_lower_transposed": (lambda a, b: solve(factor_of(a).T, b), 2, lambda a, b: la.solve_triangular(lower(a), columns(b), lower=True, trans=1), "solve_triangular(a, b, lower=True, trans=1)"),
    "solve_upper": (lambda a, b: solve(factor_of(a).T, b), 2, lambda a, b: la.solve_triangular(lower(a).T, columns(b)), "solve_triangular(a.T, b)"),
    "solve_upper_transposed": (lambda a, b: solve(factor_of(a), b), 2, lambda a, b: la.solve_triangular(lower(a).T, columns(b), trans=1), "solve_triangular(a.T, b, trans=1)"),
    "solve_factored": (lambda a, b: solve(factor_of(a) * factor_of(a).T, b), 2, lambda a, b: la.cho_solve((lower(a), True), columns(b)), "cho_solve((a, True), b)"),
    "solve_positive_definite": (lambda a, b: solve(covariance_of(a), b), 2, lambda a, b: la.solve(whole(a), columns(b), assume_a="pos"), 'solve(a, b, assume_a="pos")'),
}


def of_points(value):
    """The covariances of all pairs of points, without noise."""
    def covariances(p, x):
        points = [[mpf(v) for v in x[2 * i : 2 * i + 2]] for i in range(len(x) // 2)]
        return [value([mpf(v) for v in p], a, b) for a in points for b in points]
    return covariances


def euclidean(a, b):
    return mp.sqrt(sum((u - v) ** 2 for u, v in zip(a, b)))


def matern(order):
    """The definition by the modified Bessel function."""
    def value(p, a, b):
        r = mp.sqrt(2 * mpf(order)) * euclidean(a, b) / p[1]
        return p[0] ** 2 * (1 if r == 0 else 2 ** (1 - mpf(order)) / mp.gamma(order) * r ** mpf(order) * mp.besselk(order, r))
    return value


def distances(x):
    points = np.reshape(x, (-1, 2))
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


def periodic(p, a, b):
    return p[0] ** 2 * mp.exp(-2 * sum((mp.sin(mp.pi * (u - v) / p[2]) / p[1]) ** 2 for u, v in zip(a, b)))


def scipy_periodic(p, x):
    points = np.reshape(x, (-1, 2))
    waves = np.sin(np.pi * (points[:, None] - points[None]) / p[2]) / p[1]
    return p[0] ** 2 * np.exp(-2 * (waves**2).sum(-1))


KERNELS = {
    "SquaredExponential": (lambda p, a, b: p[0] ** 2 * mp.exp(-((euclidean(a, b) / p[1]) ** 2) / 2), lambda p, x: p[0] ** 2 * np.exp(-((distances(x) / p[1]) ** 2) / 2), "exp(-d**2 / 2), d = distance / length"),
    "Matern.half": (matern(0.5), lambda p, x: p[0] ** 2 * np.exp(-distances(x) / p[1]), "exp(-d), d = distance / length"),
    "Matern.three_halves": (matern(1.5), lambda p, x: p[0] ** 2 * (1 + 3**0.5 * distances(x) / p[1]) * np.exp(-(3**0.5) * distances(x) / p[1]), "(1 + sqrt(3) d) exp(-sqrt(3) d)"),
    "Matern.five_halves": (matern(2.5), lambda p, x: p[0] ** 2 * (1 + 5**0.5 * distances(x) / p[1] + 5 / 3 * (distances(x) / p[1]) ** 2) * np.exp(-(5**0.5) * distances(x) / p[1]), "(1 + sqrt(5) d + 5/3 d**2) exp(-sqrt(5) d)"),
    "Periodic": (periodic, scipy_periodic, "exp(-2 sum(sin(pi d / period)**2) / length**2)"),
    "Linear": (lambda p, a, b: p[0] ** 2 * sum((u - p[1]) * (v - p[1]) for u, v in zip(a, b)), lambda p, x: p[0] ** 2 * (np.reshape(x, (-1, 2)) - p[1]) @ (np.reshape(x, (-1, 2)) - p[1]).T, "(x - center) @ (x - center).T"),
}


def matrix_rows():
    join = lambda row: " ".join(map(repr, row))
    numbers = lambda values: " ".join(map(number, values))
    def row(name, exact, scipy, arguments, call):
        for a, b in zip(exact, np.ravel(scipy)):
            checked(name, a, b, arguments)
        return [name, " ; ".join(map(join, arguments)), numbers(exact), call]
    for name, (definition, count, scipy, call) in MATRICES.items():
        for a in SQUARES:
            a = [single(v) for v in a]
            arguments = [a, right_hand_side(round(len(a) ** 0.5))][:count]
            yield row(name, definition(*arguments), scipy(*map(np.array, arguments)), arguments, call)
    for name, (value, scipy, call) in KERNELS.items():
        for p in HYPERPARAMETERS:
            arguments = [[single(v) for v in p], POINTS]
            yield row(name, of_points(value)(*arguments), scipy(*map(np.array, arguments)), arguments, call)


def write(path, header, rows):
    with open(path, "w") as file:
        file.write("|".join(header) + "\n")
        for row in rows:
            file.write("|".join(row) + "\n")


if __name__ == "__main__":
    write("special.csv", ["function", "arguments", "value"], special_rows())
    write("densities.csv", ["distribution", "parameters", "value", "log density", "SciPy call"], density_rows())
    write("matrices.csv", ["function", "arguments", "values", "SciPy call"], matrix_rows())
