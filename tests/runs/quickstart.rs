//! The first example of the documentation: its check must be clean.

use std::path::Path;
use std::process::Command;

#[test]
fn the_quickstart_ends_with_a_clean_check() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "sgmcmc", "--example", "quickstart"])
        .current_dir(root)
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(text.contains("no problem found"), "{text}");
    assert!(text.contains("measured at the draws: variance"), "{text}");
}
