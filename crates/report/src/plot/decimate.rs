//! Decimation of lines to the resolution of a plot.

/// Reduces the points (xᵢ, yᵢ) of a line to at most two per column, for a plot of `columns` columns.
///
/// The line is split into `columns` segments with equal numbers of points. The lowest and the highest point of each
/// segment are kept in order, so that the plot looks the same and shows all spikes. Points that are not finite are
/// removed.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::decimate;
///
/// let y: Vec<f64> = (0..10_000).map(|i| if i == 4321 { 50.0 } else { f64::from(i % 7) }).collect();
/// let points = decimate(y.iter().enumerate().map(|(i, y)| (i as f64, *y)), 200);
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
        let segment = &points[column * points.len() / columns..(column + 1) * points.len() / columns];
        let lowest = (0..segment.len()).min_by(|&a, &b| segment[a].1.total_cmp(&segment[b].1));
        let highest = (0..segment.len()).max_by(|&a, &b| segment[a].1.total_cmp(&segment[b].1));
        let (Some(lowest), Some(highest)) = (lowest, highest) else { continue };
        kept.push(segment[lowest.min(highest)]);
        if lowest != highest {
            kept.push(segment[lowest.max(highest)]);
        }
    }
    kept
}

/// Returns at most `limit` evenly spaced indices below `count`, with the last one.
pub(crate) fn spread(count: usize, limit: usize) -> impl Iterator<Item = usize> {
    let kept = count.min(limit);
    (1..=kept).map(move |i| i * count / kept.max(1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_of_every_segment_are_kept_in_order() {
        let y: Vec<f64> = (0..10_000).map(|i| (f64::from(i) * 0.7).sin() * f64::from(i % 131)).collect();
        let kept = decimate(y.iter().enumerate().map(|(i, y)| (i as f64, *y)), 150);
        assert!(kept.len() <= 300);
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for column in 0..150 {
            let segment = column * 10_000 / 150..(column + 1) * 10_000 / 150;
            let extremes = |points: &[f64]| {
                (points.iter().copied().fold(f64::INFINITY, f64::min), points.iter().copied().fold(f64::MIN, f64::max))
            };
            let inside: Vec<f64> =
                kept.iter().filter(|(x, _)| segment.contains(&(*x as usize))).map(|(_, y)| *y).collect();
            assert_eq!(extremes(&y[segment]), extremes(&inside));
        }
    }

    #[test]
    fn short_lines_are_kept_and_undefined_points_removed() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, 2.0)];
        assert_eq!(decimate(points.into_iter(), 10), [(0.0, 1.0), (3.0, 2.0)]);
        assert!(decimate(std::iter::empty(), 10).is_empty());
    }

    #[test]
    fn indices_are_evenly_spaced_and_end_at_the_last() {
        assert_eq!(spread(10, 3).collect::<Vec<_>>(), [2, 5, 9]);
        assert_eq!(spread(2, 5).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(spread(0, 5).count(), 0);
    }
}
