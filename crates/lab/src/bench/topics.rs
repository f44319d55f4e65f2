//! Topics of a corpus: held-out perplexity and speed, on the split of `bench/lda_peers.py`.
//!
//! Test documents are those with a number (from 1) divisible by 8. Of their tokens in the order of words, tokens 0, 10,
//! 20, … are held out. α = 0.1 and β = 0.01, as for the peers. The output is one line:
//!
//! ```text
//! sgmcmc K perplexity seconds tokens_per_second
//! ```
//!
//! Perplexity has the probabilities averaged over draws after a burn-in. Seconds are the time of the sampler and of
//! copying its draws, without the evaluation of perplexity. A pass visits every training token once: a sweep of a Gibbs
//! sampler, or as many minibatches as there are in the corpus. Sweeps within a minibatch do not count.

use std::time::Instant;

use sgmcmc::models::topics::{
    CompletionSplit, Lda, Method, PredictiveScore, StochasticSampler, TopicKernel, Topics, VarianceReduction, uci,
};

use crate::Result;

const USAGE: &str = "usage: lab topics CORPUS K [--passes P] [--burn-in P] [--every P] [--seed S] [--trace]
  [--method collapsed|gibbs|scir|sgrld|sgld] [--minibatch N] [--sweeps N] [--sweeps-burn-in N] [--step-size H]
  [--reduction none|control-variate|saga] [--keep-latents] [--beta B]
CORPUS is a UCI bag-of-words file, with or without gzip compression";

const ALPHA: f64 = 0.1;

/// The command line.
struct Arguments {
    corpus: String,
    topics: usize,
    passes: u64,
    burn_in: Option<u64>,
    every: Option<u64>,
    seed: u64,
    trace: bool,
    beta: f64,
    method: String,
    minibatch: usize,
    sweeps: usize,
    sweeps_burn_in: usize,
    step_size: Option<f64>,
    reduction: String,
    keep_latents: bool,
}

impl Arguments {
    fn parse(words: &[String]) -> Result<Self> {
        let [corpus, topics, rest @ ..] = words else { return Err(USAGE.into()) };
        let mut arguments = Self {
            corpus: corpus.clone(),
            topics: topics.parse().map_err(|_| format!("`{topics}` is not a number of topics\n{USAGE}"))?,
            passes: 1000,
            burn_in: None,
            every: None,
            seed: 1,
            trace: false,
            beta: 0.01,
            method: "collapsed".into(),
            minibatch: 100,
            sweeps: 10,
            sweeps_burn_in: 5,
            step_size: None,
            reduction: "none".into(),
            keep_latents: false,
        };
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value\n{USAGE}"));
            match word.as_str() {
                "--passes" => arguments.passes = value()?.parse()?,
                "--burn-in" => arguments.burn_in = Some(value()?.parse()?),
                "--every" => arguments.every = Some(value()?.parse()?),
                "--seed" => arguments.seed = value()?.parse()?,
                "--beta" => arguments.beta = value()?.parse()?,
                "--method" => arguments.method = value()?.clone(),
                "--minibatch" => arguments.minibatch = value()?.parse()?,
                "--sweeps" => arguments.sweeps = value()?.parse()?,
                "--sweeps-burn-in" => arguments.sweeps_burn_in = value()?.parse()?,
                "--step-size" => arguments.step_size = Some(value()?.parse()?),
                "--reduction" => arguments.reduction = value()?.clone(),
                "--keep-latents" => arguments.keep_latents = true,
                "--trace" => arguments.trace = true,
                _ => return Err(format!("unknown argument `{word}`\n{USAGE}").into()),
            }
        }
        Ok(arguments)
    }

    fn method(&self) -> Result<Method> {
        let kernel = match self.method.as_str() {
            "collapsed" => return Ok(Method::CollapsedGibbs),
            "gibbs" => return Ok(Method::Gibbs),
            "scir" => TopicKernel::Scir,
            "sgrld" => TopicKernel::Sgrld,
            "sgld" => TopicKernel::Sgld,
            other => return Err(format!("unknown method `{other}`\n{USAGE}").into()),
        };
        let reduction = match self.reduction.as_str() {
            "none" => VarianceReduction::None,
            "control-variate" => VarianceReduction::ControlVariate { after: 200 },
            "saga" => VarianceReduction::Saga,
            other => return Err(format!("unknown variance reduction `{other}`\n{USAGE}").into()),
        };
        let mut stochastic = StochasticSampler::new(kernel).minibatch(self.minibatch).variance_reduction(reduction);
        stochastic = stochastic.sweeps(self.sweeps, self.sweeps_burn_in);
        if let Some(h) = self.step_size {
            stochastic = stochastic.step_size(h);
        }
        Ok(if self.keep_latents { stochastic.keep_latents() } else { stochastic }.into())
    }
}

/// Runs the command.
///
/// # Errors
///
/// Returns an error if the arguments are wrong or the corpus cannot be read.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let arguments = Arguments::parse(words)?;
    let method = arguments.method()?;
    let corpus = uci(&arguments.corpus).allow_empty().read()?;
    let split = CompletionSplit::new(&corpus, 8, 10)?;
    let steps_per_pass = match &method {
        Method::Stochastic(_) => split.train.documents().div_ceil(arguments.minibatch.max(1)) as u64,
        _ => 1,
    };
    let lda = Lda::new(arguments.topics).alpha(ALPHA).beta(arguments.beta).method(method).seed(arguments.seed);
    let mut score = PredictiveScore::new(&split, &vec![ALPHA; arguments.topics])?;
    let passes = arguments.passes;
    let burn_in = arguments.burn_in.unwrap_or(passes / 5);
    let every = arguments.every.unwrap_or((passes / 100).clamp(1, 10));

    let start = Instant::now();
    let mut sampler = lda.sampler(&split.train)?;
    let mut seconds = start.elapsed().as_secs_f64();
    let tokens_per_second = |pass: u64, seconds: f64| (split.train.tokens() * pass) as f64 / seconds;
    for pass in 1..=passes {
        let start = Instant::now();
        for _ in 0..steps_per_pass {
            sampler.step()?;
        }
        let kept = pass == passes || (pass > burn_in && pass % every == 0);
        let topics: Option<Topics> = kept.then(|| sampler.topics());
        seconds += start.elapsed().as_secs_f64();
        if let Some(topics) = topics {
            let alone = score.add(&topics)?;
            if arguments.trace {
                let (mean, rate) = (score.perplexity(), tokens_per_second(pass, seconds));
                eprintln!("{pass} {alone:.1} {mean:.1} {seconds:.2} {rate:.0}");
            }
        }
    }
    println!(
        "sgmcmc {} {:.1} {seconds:.2} {:.0}",
        arguments.topics,
        score.perplexity(),
        tokens_per_second(passes, seconds)
    );
    Ok(())
}
