//! The page of promises names tests that exist.

use std::fs;
use std::path::Path;

#[test]
fn every_promise_names_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/promises.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| guarantee"));
    let mut count = 0;
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let (mut file, mut named) = (String::new(), 0);
        for name in tests.split('`').skip(1).step_by(2) {
            named += 1;
            if name.contains('/') {
                let path = root.join(name);
                assert!(path.exists(), "there is no {name}: {row}");
                file = fs::read_to_string(path).unwrap_or_default();
            } else if !name.starts_with("lab -- ") {
                assert!(file.contains(&format!("fn {name}()")), "there is no test {name}: {row}");
            }
        }
        assert!(named > 0, "{row}");
        count += 1;
    }
    assert!(count > 25, "{count} promises");
}
