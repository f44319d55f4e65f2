//! A textual description of the compiled programs of a model.

use std::fmt::Write;

use sgmcmc_compiler::program::{Plan, Real};

use super::super::Posterior;
use super::super::eager::Eager;
use super::compilation::{Compilation, SubgraphPlan};
use super::{CompileError, compile};
use crate::tree::TensorTree;
use sgmcmc_gradient::Evaluator;
use sgmcmc_gradient::data::Precision;

/// Describes the compiled programs, or returns the reason why the model is not compiled.
pub(in crate::engine) fn explain<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
) -> String {
    let described = compile(posterior, eager).and_then(|compilation| match eager.precision() {
        Precision::Single => describe::<f32>(&compilation, "f32"),
        Precision::Double => describe::<f64>(&compilation, "f64"),
    });
    described.unwrap_or_else(|error| format!("eager: {error}\n"))
}

/// Describes the programs with gradients.
fn describe<T: Real>(compilation: &Compilation, precision: &str) -> Result<String, CompileError> {
    let mut text = format!("compiled, {precision}: {} operations recorded\n", compilation.operations);
    for SubgraphPlan { name, nodes: [before, after], plan } in compilation.plans::<T>()? {
        let Plan { buffers, bytes, tile_rows, fused, instructions } = &plan;
        let kib = *bytes as f64 / 1024.0;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {before} nodes, {after} after simplification, {fused} without a buffer");
        let _ = writeln!(text, "  {buffers} buffers, {kib:.1} KiB, tiles of {tile_rows} rows");
        for (stage, list) in ["before the rows", "for each tile", "after the rows"].iter().zip(instructions) {
            if !list.is_empty() {
                let _ = writeln!(text, "  {stage}: {}", listed(list));
            }
        }
    }
    Ok(text)
}

/// Joins names, with a count for equal names in succession.
fn listed(names: &[String]) -> String {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some((last, count)) if last == name => *count += 1,
            _ => runs.push((name, 1)),
        }
    }
    let named = |(name, count): (&str, usize)| if count == 1 { name.into() } else { format!("{count} × {name}") };
    runs.into_iter().map(named).collect::<Vec<_>>().join(", ")
}
