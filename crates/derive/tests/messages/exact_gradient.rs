use sgmcmc::prelude::*;
use sgmcmc::gradient::{FullGradient, MinibatchGradient};
use sgmcmc::minibatch::WithoutReplacement;

fn needs_exact<G: sgmcmc::gradient::ExactGradient>(_: G) {}

fn main() {
    needs_exact(FullGradient);
    needs_exact(MinibatchGradient::new(WithoutReplacement::new(10)));
}
