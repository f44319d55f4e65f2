//! Sections of generated pages: parts of a page between two marks, which several commands write.
//!
//! `<!-- name -->` begins a section and `<!-- /name -->` ends it. A command that writes the whole page keeps the sections
//! of others, and a command that writes a section keeps the rest of the page.

use std::path::Path;

use crate::Result;

/// Returns the section `name` of `page` with its marks.
fn find<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let (begin, end) = marks(name);
    let from = page.find(&begin)?;
    let length = page[from..].find(&end)? + end.len();
    Some(&page[from..from + length])
}

/// Returns `page` with `body` as its section `name`: in place of the old section, or at the end.
pub(crate) fn replace(page: &str, name: &str, body: &str) -> String {
    let (begin, end) = marks(name);
    let section = format!("{begin}\n\n{}\n\n{end}", body.trim());
    match find(page, name) {
        Some(old) => page.replacen(old, &section, 1),
        None => append(page, &section),
    }
}

/// Returns the page `new` with the section `name` of the page `old`, if `old` has it.
pub(crate) fn keep(old: &str, new: String, name: &str) -> String {
    find(old, name).map_or_else(|| new.clone(), |section| append(&new, section))
}

/// Reads a page. A page that does not exist is empty.
///
/// # Errors
///
/// Returns an error if the page cannot be read.
pub(crate) fn read(page: &Path) -> Result<String> {
    match std::fs::read_to_string(page) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("{}: {error}; choose another file with --page", page.display()).into()),
    }
}

/// Writes a page.
///
/// # Errors
///
/// Returns an error if the page cannot be written.
pub(crate) fn write(page: &Path, text: &str) -> Result<()> {
    std::fs::write(page, text)
        .map_err(|error| format!("{}: {error}; choose another file with --page", page.display()))?;
    println!("written: {}", page.display());
    Ok(())
}

fn marks(name: &str) -> (String, String) {
    (format!("<!-- {name} -->"), format!("<!-- /{name} -->"))
}

fn append(page: &str, section: &str) -> String {
    let page = page.trim_end();
    let gap = if page.is_empty() { "" } else { "\n\n" };
    format!("{page}{gap}{section}\n")
}

#[cfg(test)]
mod tests {
    use super::{keep, replace};

    #[test]
    fn a_section_is_added_replaced_and_kept() {
        let first = replace("# Page\n", "a", "one\n");
        assert_eq!(first, "# Page\n\n<!-- a -->\n\none\n\n<!-- /a -->\n");
        let both = replace(&first, "b", "two");
        assert_eq!(replace(&both, "a", "three"), both.replace("one", "three"));
        let rewritten = keep(&both, "# New\n".into(), "b");
        assert_eq!(rewritten, "# New\n\n<!-- b -->\n\ntwo\n\n<!-- /b -->\n");
        assert_eq!(keep("# Old\n", "# New\n".into(), "b"), "# New\n");
    }
}
