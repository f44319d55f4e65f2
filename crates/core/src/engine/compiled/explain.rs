//! What was made of a model's closures, in words.

use std::fmt::Write;

use sgmcmc_compiler::program::{Plan, Real};

use super::super::Posterior;
use super::super::eager::Eager;
use super::sheet::{PartPlan, Sheet};
use super::{Reason, sheet};
use crate::data::Precision;
use crate::engine::Evaluator;
use crate::tree::TensorTree;

/// What was compiled, or the reason why nothing was.
pub(in crate::engine) fn explain<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
) -> String {
    let described = sheet(posterior, eager).and_then(|sheet| match eager.precision() {
        Precision::Single => describe::<f32>(&sheet, "f32"),
        Precision::Double => describe::<f64>(&sheet, "f64"),
    });
    described.unwrap_or_else(|reason| format!("eager: {reason}\n"))
}

fn describe<T: Real>(sheet: &Sheet, precision: &str) -> Result<String, Reason> {
    let mut text = format!("compiled, {precision}: {} operations recorded\n", sheet.operations);
    for PartPlan { name, nodes: [before, after], plan } in sheet.plans::<T>()? {
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

/// Names in order, those that occur several times in a row once.
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
