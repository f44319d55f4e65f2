//! Transposition of narrow rows.
//!
//! The rows are processed one by one, with iterators over all columns at once. Indexing would need a bounds check for
//! every number.

use super::super::element::{Element, Number};
use super::super::simd::Simd;
use super::{RowSelection, Rows};

/// The maximum width.
pub(super) const WIDEST: usize = 4;

/// Transposes rows of `$width` numbers to the named columns.
macro_rules! columns {
    ($simd:ident, $rows:ident, $lanes:ident, $width:literal, $($column:ident $j:literal = $value:expr),+) => {{
        let table = $rows.table.as_chunks::<$width>().0;
        $(let $column: &mut [T] = $value;)+
        match $rows.selection {
            RowSelection::Range(start) => {
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
            RowSelection::List(list) => {
                let (list, needs_prefetch) = (&list[..$lanes], $rows.needs_prefetch());
                $simd.run(
                    #[inline(always)]
                    move |_| {
                        for ((i, index), columns!(@names $($column)+)) in
                            list.iter().enumerate().zip(columns!(@zip $($column)+))
                        {
                            if needs_prefetch {
                                $rows.prefetch_ahead(i);
                            }
                            let row = &table[*index];
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

/// `out[j · lanes + i]` = xᵢⱼ, for rows of one to [`WIDEST`] numbers.
pub(super) fn transpose<S: Number, T: Element>(simd: Simd, rows: Rows<'_, S>, out: &mut [T]) {
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
