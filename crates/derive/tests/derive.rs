//! The code that `#[derive(TensorTree)]` generates, and its error messages.

use sgmcmc::data::Rows;
use sgmcmc::default_device;
use sgmcmc::prelude::*;
use sgmcmc::{Layout, TreeLayout, burn};

#[derive(TensorTree)]
struct Layer {
    weight: Tensor<2>,
    #[tree(rename = "b")]
    bias: Tensor<1>,
}

#[derive(TensorTree)]
struct Pair<T>(T, Tensor<1>);

#[derive(TensorTree)]
struct Network<const L: usize> {
    layers: [Layer; L],
    pair: Pair<Tensor<1>>,
    #[tree(skip)]
    name: String,
    r#type: Tensor<1>,
}

#[derive(TensorTree)]
struct Everything {
    float: Tensor<3>,
    integer: Tensor<1, burn::Int>,
    boolean: Tensor<1, burn::Bool>,
    many: Vec<Tensor<1>>,
}

fn network() -> Network<2> {
    let layer = || Layer { weight: zeros([2, 3]), bias: zeros([3]) };
    Network { layers: [layer(), layer()], pair: Pair(zeros([1]), zeros([2])), name: "net".into(), r#type: zeros([1]) }
}

#[test]
fn paths_follow_the_fields() {
    let layout = Layout::from_tree(&network()).unwrap();
    let names: Vec<_> = layout.blocks().iter().map(|block| block.name.as_str()).collect();
    let expected = ["layers.0.weight", "layers.0.b", "layers.1.weight", "layers.1.b", "pair.0", "pair.1", "type"];
    assert_eq!(names, expected);
    assert_eq!(layout.value_name(4), "layers.0.weight[1,1]");
    assert_eq!(layout.dim(), 22);
}

#[test]
fn trees_are_rebuilt_leaf_by_leaf() {
    let network = network();
    let layout = Layout::from_tree(&network).unwrap();
    let theta: Vec<f64> = (0..22).map(f64::from).collect();
    let rebuilt = layout.unflatten(&network, &theta, &default_device()).unwrap();
    assert_eq!(rebuilt.name, "net");
    assert_eq!(layout.flatten(&rebuilt).unwrap(), theta);
    assert_eq!(rebuilt.r#type.into_data().iter::<f64>().collect::<Vec<_>>(), [21.0]);
}

#[test]
fn leaves_of_every_kind_are_data() {
    let data = Dataset::new(Everything {
        float: array(vec![0.5; 12], [2, 3, 2]).unwrap(),
        integer: array(vec![7_i64, 8], [2]).unwrap(),
        boolean: array(vec![true, false], [2]).unwrap(),
        many: vec![array(vec![1.0, 2.0], [2]).unwrap(), array(vec![3.0, 4.0], [2]).unwrap()],
    })
    .unwrap();
    let names: Vec<_> = data.columns().iter().map(|column| column.name()).collect();
    assert_eq!(names, ["float", "integer", "boolean", "many.0", "many.1"]);
    let row = data.batch(Rows::range(1..2), &default_device()).unwrap();
    assert_eq!(row.float.dims(), [1, 3, 2]);
    assert_eq!(row.integer.into_data().iter::<i64>().collect::<Vec<_>>(), [8]);
    assert_eq!(row.boolean.into_data().iter::<bool>().collect::<Vec<_>>(), [false]);
    assert_eq!(row.many[1].to_data().iter::<f64>().collect::<Vec<_>>(), [4.0]);
}

#[test]
fn mistakes_are_explained_by_the_compiler() {
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
