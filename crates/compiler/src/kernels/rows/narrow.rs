//! Rows of a few numbers as columns.
//!
//! Row after row, with iterators that go through all columns at once: asked for by their place, every number would be looked up in its
//! column with a check of its own.

use super::super::element::{Element, Number};
use super::super::simd::Simd;
use super::{Lines, Rows};

/// The most numbers of a row.
pub(super) const WIDEST: usize = 4;

/// Turns rows of `$width` numbers into the columns that have names.
macro_rules! columns {
    ($simd:ident, $rows:ident, $lanes:ident, $width:literal, $($column:ident $j:literal = $value:expr),+) => {{
        let table = $rows.table.as_chunks::<$width>().0;
        $(let $column: &mut [T] = $value;)+
        match $rows.lines {
            Lines::Range(start) => {
                let table = &table[start..][..$lanes];
                $simd.run(
                    #[inline(always)]
                    move |_| {
                        for (row, columns!(@names $($column)+)) in table.iter().zip(columns!(@zip $($column)+)) {
                            $(*$column = row[$j].element();)+
                        }
                    },
                );
            }
            Lines::List(lines) => {
                let (lines, far) = (&lines[..$lanes], $rows.far());
                $simd.run(
                    #[inline(always)]
                    move |_| {
                        for ((i, line), columns!(@names $($column)+)) in
                            lines.iter().enumerate().zip(columns!(@zip $($column)+))
                        {
                            if far {
                                $rows.fetch(i);
                            }
                            let row = &table[*line];
                            $(*$column = row[$j].element();)+
                        }
                    },
                );
            }
        }
    }};
    (@zip $last:ident) => { $last.iter_mut() };
    (@zip $first:ident $($rest:ident)+) => { $first.iter_mut().zip(columns!(@zip $($rest)+)) };
    (@names $last:ident) => { $last };
    (@names $first:ident $($rest:ident)+) => { ($first, columns!(@names $($rest)+)) };
}

/// `out[j · lanes + i]` = xᵢⱼ, for rows of at least one and at most [`WIDEST`] numbers.
pub(super) fn turn<S: Number, T: Element>(simd: Simd, rows: Rows<'_, S>, out: &mut [T]) {
    let lanes = out.len() / rows.width;
    let mut columns = out.chunks_exact_mut(lanes.max(1));
    let mut next = || columns.next().unwrap_or_default();
    match rows.width {
        1 => columns!(simd, rows, lanes, 1, a 0 = next()),
        2 => columns!(simd, rows, lanes, 2, a 0 = next(), b 1 = next()),
        3 => columns!(simd, rows, lanes, 3, a 0 = next(), b 1 = next(), c 2 = next()),
        _ => columns!(simd, rows, lanes, 4, a 0 = next(), b 1 = next(), c 2 = next(), d 3 = next()),
    }
}
