//! Benchmarks, slow statistical suites and paper replications of `sgmcmc`, in one unpublished program.
//!
//! ```text
//! cargo run --release -p lab -- steps
//! cargo run --release -p lab --features nuts -- posteriors
//! cargo run --release -p lab -- qnhmc-gaussian --help
//! ```
//!
//! | group | module | output |
//! |---|---|---|
//! | benchmarks | [`mod@bench`] | timings; `docs/performance.md` explains how to read them |
//! | suites | [`suites`] | every number that is judged, with its criterion |
//! | papers | [`papers`] | the claims of a paper, each with `pass` or `FAIL`, and a figure in `target/` |
//!
//! The exit code is 0 on success, 1 if a criterion or claim fails or an error occurs, and 2 if the command is unknown.
//! A suite whose data are missing prints a message and exits with 0.

mod allocator;
mod bench;
mod papers;
mod ranks;
mod suites;

use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run --release -p lab -- <command> [arguments]

benchmarks, each with [--engine compiled|eager|analytic] [workload…]:
  steps      µs per SGLD step; with `--engine analytic` also of a hand-written loop
  by-hand    µs per SGLD step and per step of a hand-written loop, measured in alternation
  profile    the time of a step, split into its phases
  allocs     allocations per step; fails if the compiled or the analytic engine allocates
  chains     draws per second of one chain and of two
  build      ms to create an evaluator
  rows       log-likelihoods and gradients of single observations, relative to the gradient of their sum
  explain    the description of each compiled workload
  workloads: gauss2, logistic_small, logistic, mixture, bnn, pmf
             (the analytic engine, for steps and allocs only, and by-hand have the first three)
benchmarks without these options:
  deep       µs per operation to compile closures of 1 000, 10 000 and 100 000 operations
  sequences  gradients of a GARCH and a hidden Markov model, relative to loops written by hand; ms to create an evaluator
  overhead   gradients of the eager engine, relative to a plain Burn loop
  diagnostics-speed [CHAINS DRAWS VALUES]
             seconds to summarize draws; 4 chains of 10 000 draws of 1 000 values by default
  topics CORPUS K [--passes P] [--method collapsed|gibbs|scir|sgrld|sgld] [--trace] […]
             held-out perplexity, seconds and tokens per second of a topic model of a UCI bag-of-words file

  communication [--page FILE]
             latency and bandwidth between ranks, nanoseconds of gradients, and the speed-up that follows for 4 to 1024
             ranks; writes a section of docs/scaling.md, which explains the model, or of FILE

suites:
  accuracy [quickstart|covertype|hierarchical|mixture…] [--seed S] [--observations N] [--nuts-draws D] [--nuts-warm-up W]
           [--grid-steps K] [--whiten-nuts true] [--plain-nuts-draws D] [--plain-nuts-warm-up W]
           [--reference CSV] [--write-reference CSV] [--export NPZ]
                             `auto` against SGLD tuned by hand, the Laplace approximation and NUTS: cost and errors;
                             all workloads by default; needs --features nuts, or a reference
  accuracy scaling [--max N] gradients of `auto` per effective draw as the data grow, up to N = 1e6 by default
  accuracy posteriordb [NAME…] [--seeds K] [--page FILE]
                             `auto` against the reference draws of posteriordb; writes a section of docs/accuracy.md, or
                             FILE; with names, only these posteriors and no page
  posteriors [--page FILE]   every algorithm against the reference draws of posteriordb; writes docs/accuracy.md, or FILE
  posteriors NAME            the same for one posterior, without writing a page
  sbc [--page FILE]          simulation-based calibration of every preset and of the models of the gallery; writes
                             target/sbc.html, or FILE
  sbc gallery [NAME…]        the same of the models of the gallery whose names contain a NAME, or of all
  figure-4-2-1               time per iteration and divergence from the posterior of a normal mean, as N grows
  figure-5-2-1               a probability close to zero: quantiles of exact draws, SCIR and SGRLD
  figure-5-3-1               KS distances of SCIR and SGRLD on sparse and dense Dirichlet posteriors
  variances                  the variance of every algorithm on a normal posterior with the full gradient
  mcse                       reported Monte Carlo errors against the spread of the means of replicated runs
  large-fit                  seconds to open, summarize and report a fit of 301 parameters and 40 000 draws; the cost of a
                             checkpoint as draws accumulate
  kills [--count N]          runs killed at N random moments and resumed, compared with uninterrupted runs
  files [--count N] [--seed S]
                             N damaged files of every format: errors, not panics, within limits of memory and time
  closures --count N --seed S
                             random closures, the compiled engine against the eager one
  browser-pages DIRECTORY    writes the report, a comparison and a fit under way, which tests/browser looks at
  report-sixty FILE [PARAMETERS]
                             writes the report of a simulated fit of 60 parameters

papers, each with --help:
  qnhmc-gaussian             Fu, Luo & Zhang (2016), §5.1: quasi-Newton HMC on a Gaussian
  qnhmc-mnist                Fu, Luo & Zhang (2016), §5.2: quasi-Newton HMC on two digits; not all claims hold
  hamcmc-linear-gaussian     Şimşekli et al. (2016): HAMCMC on linear Gaussian models
  sgld-mixture               Welling & Teh (2011), §5.1: SGLD on a mixture with two modes
  sgld-a9a                   Welling & Teh (2011), §5.2: SGLD on a logistic regression
  ica                        Welling & Teh (2011), §5.3: independent component analysis
  bpmf                       Baker (2019), §3.5.2: matrix factorization of ratings, kernels beside the Gibbs sampler
  alpha-stable               Şimşekli et al. (2016), §4.2: α-stable factorization, kernels beside the Gibbs sampler
  msweb                      Baker (2019), §5.5.2: SCIR and SGRLD on a Dirichlet-process mixture
  movielens                  Şimşekli et al. (2016), §4.3: matrix factorization on several ranks
  divide-and-conquer         Baker (2019), §2.4.2: consensus, KDEMC and Weierstrass beside SGLD and SGHMC

features: `--features nuts` adds the no-U-turn sampler to accuracy, posteriors, mcse, qnhmc-gaussian, qnhmc-mnist and
          divide-and-conquer;
          `--features mpi` adds MPI to communication and movielens, whose ranks are threads without it";

/// The result of a command.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((command, rest)) => run(command, rest),
        None => print_usage(),
    }
}

/// Runs `command` with its arguments.
fn run(command: &str, arguments: &[String]) -> ExitCode {
    if matches!(command, "help" | "--help" | "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    if command == ranks::COMMAND {
        return exit_code(ranks::run_rank(arguments));
    }
    let found = bench::run(command, arguments).or_else(|| papers::run(command, arguments)).map(exit_code);
    found.or_else(|| suites::run(command, arguments)).unwrap_or_else(print_usage)
}

/// Prints the error of a command that failed. Returns its exit code.
fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the usage to standard error and returns the exit code of an unknown command.
fn print_usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
