//! Least squares of a few unknowns.

/// A pivot of a matrix with ones on its diagonal that counts as none: columns that are each other's combination.
const NOTHING: f64 = 1e-10;

/// The x with the least sum of squares of `rows`·x − `values`; `None` where several do as well, or there is no row.
pub fn least_squares(rows: &[Vec<f64>], values: &[f64]) -> Option<Vec<f64>> {
    damped(rows, values, 0.0)
}

/// The same with Marquardt's damping (1963): the squares of the unknowns, each in its column's own scale, times `damping` are
/// added to what is made least. By the normal equations of columns scaled to length one.
pub fn damped(rows: &[Vec<f64>], values: &[f64], damping: f64) -> Option<Vec<f64>> {
    let width = rows.first()?.len();
    let product = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
    let lengths: Vec<f64> = (0..width).map(|i| product(i, i).sqrt()).collect();
    if lengths.contains(&0.0) {
        return None;
    }
    let normal = |i: usize, j: usize| product(i, j) / (lengths[i] * lengths[j]) + if i == j { damping } else { 0.0 };
    let matrix = (0..width).map(|i| (0..width).map(|j| normal(i, j)).collect()).collect();
    let right = |i: usize| rows.iter().zip(values).map(|(row, value)| row[i] * value).sum::<f64>() / lengths[i];
    let solution = solve(matrix, (0..width).map(right).collect())?;
    Some(solution.into_iter().zip(lengths).map(|(x, length)| x / length).collect())
}

/// The solution of `matrix`·x = `right`, by elimination with pivots.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        if matrix[pivot][column].abs() < NOTHING {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (done, below) = matrix.split_at_mut(column + 1);
        let pivot = &done[column];
        for (offset, row) in below.iter_mut().enumerate() {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(pivot).skip(column).for_each(|(value, by)| *value -= factor * by);
            right[column + 1 + offset] -= factor * right[column];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|k| matrix[row][k] * right[k]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_three_points() {
        let rows = [1.0, 2.0, 3.0].map(|x| vec![1.0, x]);
        let line = least_squares(&rows, &[1.0, 2.0, 4.0]).unwrap();
        assert!((line[0] + 2.0 / 3.0).abs() < 1e-12 && (line[1] - 1.5).abs() < 1e-12, "{line:?}");
    }

    #[test]
    fn columns_that_move_together_have_no_solution() {
        assert_eq!(least_squares(&[1.0, 2.0, 3.0].map(|x| vec![x, 2.0 * x]), &[1.0, 2.0, 3.0]), None);
        assert_eq!(least_squares(&[vec![0.0]], &[1.0]), None);
        assert_eq!(least_squares(&[], &[]), None);
    }

    #[test]
    fn scales_do_not_matter_and_damping_shortens() {
        let rows = [1.0, 2.0, 3.0].map(|x| vec![1e-6, 1e9 * x]);
        let line = least_squares(&rows, &[1.0, 2.0, 4.0]).unwrap();
        assert!((line[0] * 1e-6 + 2.0 / 3.0).abs() < 1e-9 && (line[1] * 1e9 - 1.5).abs() < 1e-9, "{line:?}");
        assert!(damped(&rows, &[1.0, 2.0, 4.0], 1.0).unwrap()[1].abs() < line[1].abs());
    }
}
