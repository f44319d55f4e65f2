use sgmcmc::prelude::*;

fn needs_exact<G: sgmcmc::ExactGradient>(_: G) {}

fn main() {
    needs_exact(FullGradient);
    needs_exact(MinibatchGradient::new(WithoutReplacement::new(10)));
}
