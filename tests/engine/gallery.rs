//! The pages of the gallery of models: their length relative to Stan, their steps, and the models that the slow suite calibrates.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest number of lines of the code of a page, relative to its Stan program.
const LONGEST: f64 = 1.3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

struct Page {
    name: String,
    text: String,
}

impl Page {
    /// The lines of the block of this language, without blank lines and comments. Hidden lines of Rust are left out.
    fn code(&self, language: &str) -> Vec<&str> {
        let fence = format!("```{language}\n");
        let blocks: Vec<&str> = self.text.split(&fence).skip(1).collect();
        assert_eq!(blocks.len(), 1, "{}: one block of {language}", self.name);
        let block = blocks[0].split("```").next().unwrap();
        let lines = block.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"));
        lines.filter(|line| language != "rust" || !(*line == "#" || line.starts_with("# "))).collect()
    }
}

fn pages() -> Vec<Page> {
    let files = fs::read_dir(root().join("docs/model-gallery")).unwrap().map(|entry| entry.unwrap().path());
    let page = |path: PathBuf| Page {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        text: fs::read_to_string(path).unwrap(),
    };
    let mut pages: Vec<Page> = files.map(page).collect();
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(pages.len(), 10);
    pages
}

/// The models of a text by name: the statements of each `model!`, without quantities, which do not change the posterior.
fn models(text: &str) -> Vec<String> {
    let bodies = text.split("\nmodel! {\n").skip(1).map(|rest| rest.split("\n}\n").next().unwrap());
    let statement = |line: &&str| !line.trim_start().starts_with("generate ");
    bodies.map(|body| body.lines().filter(statement).collect::<Vec<_>>().join("\n")).collect()
}

/// The whole Rust code of a page counts: imports, model, prior predictive distribution, data, fit, checks. The Stan program
/// has the model alone; the code that calls Stan is not counted.
#[test]
fn pages_are_not_longer_than_their_stan_programs() {
    for page in pages() {
        let [rust, stan] = ["rust", "stan"].map(|language| page.code(language).len());
        assert!(rust as f64 <= LONGEST * stan as f64, "{}: {rust} lines, and {stan} of Stan", page.name);
    }
}

/// Lines can be long, so the characters of the description are counted as well.
#[test]
fn descriptions_are_not_longer_than_their_stan_programs() {
    let characters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    for page in pages() {
        let (model, stan) = (characters(&models(&page.text)[0]), characters(&page.code("stan").concat()));
        assert!(model as f64 <= LONGEST * stan as f64, "{}: {model} characters, and {stan} of Stan", page.name);
    }
}

#[test]
fn pages_have_every_step() {
    for page in pages() {
        let code = page.code("rust").join("\n");
        // The prior predictive distribution, the fit, its check, and the posterior predictive distribution.
        for step in ["model! {", ".sample_prior(&start,", ".predictive(&prior,", "auto(&model, &data)", "fit.check()"] {
            assert!(code.contains(step), "{} lacks {step}", page.name);
        }
        assert!(code.contains(".predictive(&fit,"), "{} lacks the posterior predictive distribution", page.name);
        // The assertion is hidden, because a reader looks at the printed check. A page whose check has a problem states it.
        let passes = page.text.contains("\n# assert!(fit.check().passed(),");
        let states =
            page.text.contains("\n# assert!(fit.check().passed() || stated,") && page.text.contains("\n**Finding.** ");
        assert!(passes || states, "{}: its check is neither asserted nor stated", page.name);
    }
}

/// The slow suite has copies of the models, because a page is a test of its own.
#[test]
fn the_slow_suite_calibrates_every_model_of_the_gallery() {
    let suite = fs::read_to_string(root().join("crates/lab/src/suites/sbc/gallery.rs")).unwrap();
    let calibrated: BTreeSet<String> = models(&suite).into_iter().collect();
    for page in pages() {
        assert!(suite.contains(&format!("(\"{}\"", page.name)), "{} is not in the suite", page.name);
        for model in models(&page.text) {
            assert!(calibrated.contains(&model), "{}: the suite has another model than\n{model}", page.name);
        }
    }
}

#[test]
fn every_page_is_run_and_listed() {
    let guide = fs::read_to_string(root().join("crates/sgmcmc/src/guide.rs")).unwrap();
    let list = fs::read_to_string(root().join("docs/model-gallery.md")).unwrap();
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for Page { name, text } in pages() {
        let path = format!("model-gallery/{name}.md");
        assert!(guide.contains(&path) && list.contains(&path) && summary.contains(&path), "{path}");
        assert!(text.contains("```rust\n"), "{name}: the code is not run");
    }
}
