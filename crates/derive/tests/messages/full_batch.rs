use sgmcmc::prelude::*;
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::minibatch::WithoutReplacement;

fn main() {
    let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| x - theta);
    let data = Dataset::new(zeros([100])).unwrap();
    let run = hmc(&model, &data, 1e-3).gradient(MinibatchGradient::new(WithoutReplacement::new(10)));
    let fit = run.sample(&zeros([1]), 100);
}
