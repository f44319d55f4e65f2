//! Text of HTML pages.

use std::fmt;

use sgmcmc_gradient::text::printable_lines;

/// Text that is escaped for an element or an attribute of HTML when it is displayed.
#[derive(Clone, Copy, Debug)]
pub struct HtmlText<'t>(pub &'t str);

impl fmt::Display for HtmlText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some HTML parsers stop at NUL, and bidirectional control characters can disguise names.
        printable_lines(self.0).chars().try_for_each(|c| match c {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            c => write!(f, "{c}"),
        })
    }
}
