//! Thinning of lines to what a picture can show.

/// The points (xᵢ, yᵢ) of a line for a picture `columns` wide.
///
/// The line is cut into `columns` pieces of equal length and of each only the lowest and the highest point stay, in their order: the
/// picture is the same, spikes included. Points that are not finite are left out.
///
/// ```
/// let y: Vec<f64> = (0..10_000).map(|i| if i == 4321 { 50.0 } else { f64::from(i % 7) }).collect();
/// let points = sgmcmc_report::plot::decimate(y.iter().enumerate().map(|(i, y)| (i as f64, *y)), 200);
/// assert!(points.len() <= 400);
/// assert!(points.contains(&(4321.0, 50.0)));
/// ```
pub fn decimate(points: impl Iterator<Item = (f64, f64)>, columns: usize) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let columns = columns.max(1);
    if points.len() <= 2 * columns {
        return points;
    }
    let mut kept = Vec::with_capacity(2 * columns);
    for column in 0..columns {
        let piece = &points[column * points.len() / columns..(column + 1) * points.len() / columns];
        let lowest = (0..piece.len()).min_by(|&a, &b| piece[a].1.total_cmp(&piece[b].1));
        let highest = (0..piece.len()).max_by(|&a, &b| piece[a].1.total_cmp(&piece[b].1));
        let (Some(lowest), Some(highest)) = (lowest, highest) else { continue };
        kept.push(piece[lowest.min(highest)]);
        if lowest != highest {
            kept.push(piece[lowest.max(highest)]);
        }
    }
    kept
}

/// At most `most` of `count` places, evenly spread, the last one included.
pub(crate) fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let kept = count.min(most);
    (1..=kept).map(move |i| i * count / kept.max(1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_of_every_piece_stay_in_order() {
        let y: Vec<f64> = (0..10_000).map(|i| (f64::from(i) * 0.7).sin() * f64::from(i % 131)).collect();
        let kept = decimate(y.iter().enumerate().map(|(i, y)| (i as f64, *y)), 150);
        assert!(kept.len() <= 300);
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for column in 0..150 {
            let piece = column * 10_000 / 150..(column + 1) * 10_000 / 150;
            let of = |points: &[f64]| {
                (points.iter().copied().fold(f64::INFINITY, f64::min), points.iter().copied().fold(f64::MIN, f64::max))
            };
            let inside: Vec<f64> =
                kept.iter().filter(|(x, _)| piece.contains(&(*x as usize))).map(|(_, y)| *y).collect();
            assert_eq!(of(&y[piece]), of(&inside));
        }
    }

    #[test]
    fn short_lines_stay_and_undefined_points_go() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, 2.0)];
        assert_eq!(decimate(points.into_iter(), 10), [(0.0, 1.0), (3.0, 2.0)]);
        assert!(decimate(std::iter::empty(), 10).is_empty());
    }

    #[test]
    fn places_are_spread_and_end_at_the_last() {
        assert_eq!(spread(10, 3).collect::<Vec<_>>(), [2, 5, 9]);
        assert_eq!(spread(2, 5).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(spread(0, 5).count(), 0);
    }
}
