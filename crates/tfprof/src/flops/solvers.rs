//! Linear algebra on the last two dimensions of the inputs, once for each matrix.
//!
//! Sources: LAPACK Working Note 41 for factorisations and solving (all terms: Cholesky, LU, inverse, triangular;
//! leading terms: QR); Golub and Van Loan, Matrix Computations, for eigenvalues and singular values, whose
//! number of iterations depends on the matrix: these are the numbers that the book gives. The numbers are those
//! of real matrices. What a matrix function (exponential, root, logarithm) costs depends on its values: no formula.

use super::Op;

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    matches!(
        name,
        "Cholesky"
            | "CholeskyGrad"
            | "Lu"
            | "Qr"
            | "MatrixDeterminant"
            | "LogMatrixDeterminant"
            | "MatrixInverse"
            | "MatrixSolve"
            | "MatrixSolveLs"
            | "MatrixTriangularSolve"
            | "BandedTriangularSolve"
            | "TridiagonalSolve"
            | "TridiagonalMatMul"
            | "SelfAdjointEig"
            | "SelfAdjointEigV2"
            | "XlaSelfAdjointEig"
            | "Eig"
            | "Svd"
            | "XlaSvd"
    )
}

/// How many matrices a shape has, their rows and columns.
fn matrices(shape: &[i64]) -> Option<(i128, i128, i128)> {
    let (batch, matrix) = shape.split_at_checked(shape.len().checked_sub(2)?)?;
    Some((
        super::elements(batch),
        i128::from(matrix[0]),
        i128::from(matrix[1]),
    ))
}

/// n³ / 3 + n² / 2 + n / 6
fn cholesky(n: i128) -> i128 {
    n * (n + 1) * (2 * n + 1) / 6
}

/// 2 n³ / 3 - n² / 2 + 5 n / 6
fn lu(n: i128) -> i128 {
    n * (4 * n * n - 3 * n + 5) / 6
}

/// The factors of LU, and from them 4 n³ / 3 - n² + 5 n / 3.
fn inverse(n: i128) -> i128 {
    lu(n) + n * (4 * n * n - 3 * n + 5) / 3
}

/// Householder: 2 n² (m - n / 3), with m not below n.
fn qr(m: i128, n: i128) -> i128 {
    2 * n * n * (3 * m - n) / 3
}

/// The operations of one run.
pub fn count(op: &Op<'_>) -> Option<i128> {
    let (batch, m, n) = matrices(op.shape(0)?)?;
    // Columns on the right hand side.
    let right = || Some(matrices(op.shape(1)?)?.2);
    // The attribute is true unless it says otherwise.
    let asks = |name: &str| !op.attributes.has(name) || op.attributes.truth(name);
    let (long, short) = (m.max(n), m.min(n));
    let each = match op.name {
        "Cholesky" => cholesky(n),
        // Backwards it costs twice as much (Murray, Differentiation of the Cholesky decomposition, 2016).
        "CholeskyGrad" => 2 * cholesky(n),
        "Lu" => lu(n),
        // The product of the diagonal; or the sum of its logarithms.
        "MatrixDeterminant" => lu(n) + n,
        "LogMatrixDeterminant" => lu(n) + 2 * n,
        "MatrixInverse" => inverse(n),
        // For each right hand side 2 n² - n.
        "MatrixSolve" => lu(n) + right()? * (2 * n * n - n),
        "MatrixTriangularSolve" => right()? * n * n,
        // The normal equations: the product of the matrix with itself (a half), with the right hand side,
        // Cholesky's factors and two triangular solutions. The slow way has no formula.
        "MatrixSolveLs" if asks("fast") => {
            let right = right()?;
            long * short * (short + 1)
                + cholesky(short)
                + 2 * long * short * right
                + 2 * short * short * right
        }
        // Bands × n: the row i has as many elements beside the diagonal as come before it, or bands - 1.
        "BandedTriangularSolve" => {
            let beside = (m - 1).clamp(0, n);
            let all = beside * (beside - 1) / 2 + (n - beside) * beside;
            right()? * (n + 2 * all)
        }
        // Thomas: three for each row of the matrix, five for each of a right hand side.
        "TridiagonalSolve" => (3 * (n - 1) + right()? * (5 * n - 4)).max(0),
        "TridiagonalMatMul" => {
            let (_, rows, columns) = matrices(op.shape(3)?)?;
            (columns * (5 * rows - 4)).max(0)
        }
        // Computing only R costs as much as making Q from the reflections.
        "Qr" => match op.attributes.truth("full_matrices") {
            false => 2 * qr(long, short),
            // Q is m × m: 4 (m² n - m n² + n³ / 3).
            true if m >= n => qr(m, n) + 4 * (3 * m * m * n - 3 * m * n * n + n * n * n) / 3,
            true => 2 * qr(long, short),
        },
        // Of symmetric matrices: 4 n³ / 3 for only the values, 9 n³ with vectors. The oldest form has both.
        "SelfAdjointEigV2" if !asks("compute_v") => 4 * n * n * n / 3,
        "SelfAdjointEig" | "SelfAdjointEigV2" | "XlaSelfAdjointEig" => 9 * n * n * n,
        // Of others: 10 n³, and 25 n³.
        "Eig" if !asks("compute_v") => 10 * n * n * n,
        "Eig" => 25 * n * n * n,
        // Golub and Reinsch: values; with the first n columns of U; with all of them.
        "Svd" if !asks("compute_uv") => 4 * short * short * (3 * long - short) / 3,
        "Svd" if op.attributes.truth("full_matrices") => {
            4 * long * long * short + 8 * long * short * short + 9 * short * short * short
        }
        "Svd" | "XlaSvd" => 14 * long * short * short + 8 * short * short * short,
        _ => return None,
    };
    batch.checked_mul(each)
}

#[cfg(test)]
mod tests {
    use super::{cholesky, inverse, lu};

    /// Operations of the textbook's loops.
    #[test]
    fn factors_by_loops() {
        for n in 0..12i128 {
            let (mut by_cholesky, mut by_lu) = (0, 0);
            for k in 0..n {
                // A root; the column's quotients; the products and differences of the triangle behind it.
                let behind = n - k - 1;
                by_cholesky += 1 + behind + behind * (behind + 1);
                // LAPACK scales a column by one reciprocal, also the last.
                by_lu += 1 + behind + 2 * behind * behind;
            }
            assert_eq!(cholesky(n), by_cholesky, "{n}");
            assert_eq!(lu(n), by_lu, "{n}");
            assert_eq!(inverse(n), 3 * by_lu, "{n}");
        }
    }
}
