//! Files in the LIBSVM format, read as dense and as sparse data.

use sgmcmc::data::{Precision, Rows};
use sgmcmc::default_device;
use sgmcmc::prelude::*;
use sgmcmc::storage::read;
use tempfile::TempDir;

use super::{file, in_all_forms, names, values};

#[test]
fn libsvm_dense_and_sparse() {
    in_all_forms(b"+1 1:0.5 3:2 # note\n\n-1 2:1e0\n-1\n", |path| {
        let table = read::libsvm(path).read_table().unwrap();
        assert_eq!((table.features, table.sparse), (3, false));
        assert_eq!(values(&table.columns, "x"), &vec![0.5_f32, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0].into());
        assert_eq!(values(&table.columns, "y"), &vec![1.0_f32, -1.0, -1.0].into());
        let sparse = read::libsvm(path).columns(5).sparse().precision(Precision::Double).read_table().unwrap();
        assert_eq!((sparse.features, sparse.sparse), (5, true));
        assert_eq!(values(&sparse.columns, "index"), &vec![0_i64, 2, 1, 0, 0, 0].into());
        assert_eq!(values(&sparse.columns, "value"), &vec![0.5, 2.0, 1.0, 0.0, 0.0, 0.0].into());
        // Kept sparse where the dense rows would not fit.
        assert!(read::libsvm(path).columns(1_000_000).memory_limit(1_000_000).read_table().unwrap().sparse);
        names(read::libsvm(path).columns(usize::MAX).dense().read(), &["memory_limit", "sparse"]);
    });
}

#[test]
fn sparse_rows_give_the_same_predictor_as_dense_ones() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "rows", "1 1:0.5 3:2\n0 2:1\n1 1:-1 2:3 3:0.25\n");
    let beta = array(vec![0.3_f32, -0.7, 1.1], [3]).unwrap();
    let batch = |data: &Dataset<Named>| data.batch(Rows::range(0..3), &default_device()).unwrap();
    let dense = batch(&read::libsvm(&path).read().unwrap().into_dataset().unwrap()).get::<2>("x");
    let dense = dense.matmul(beta.clone().unsqueeze_dim(1)).squeeze_dim::<1>(1);
    let rows = batch(&read::libsvm(&path).sparse().read().unwrap().into_dataset().unwrap());
    let (index, value) = (rows.get_int::<2>("index"), rows.get::<2>("value"));
    let picked = beta.select(0, index.clone().flatten::<1>(0, 1)).reshape(index.dims());
    let sparse = (picked * value).sum_dim(1).squeeze_dim::<1>(1);
    let difference = (dense - sparse).abs().max().into_data().iter::<f64>().next().unwrap();
    assert!(difference < 1e-6, "{difference}");
}

#[test]
fn mistakes_in_libsvm_are_named() {
    let dir = TempDir::new().unwrap();
    let read = |content: &str| read::libsvm(file(&dir, "bad.svm", content)).columns(4).read();
    names(read("\n# nothing\n"), &["bad.svm", "no observation"]);
    names(read("1 1:1\nx 2:1\n"), &["bad.svm, line 2, column `label`", "`x` is not a number"]);
    names(read("1 1:1\n\n1 2:z\n"), &["line 3, column `2`", "`z`"]);
    names(read("1 2:nan\n"), &["line 1, column `2`", "nan"]);
    names(read("1 0:1\n"), &["line 1, column `0`", "count from 1"]);
    names(read("1 5:1\n"), &["line 1, column `5`", "index 5 is out of range", "columns is 4"]);
    names(read("1 3:1 2:1\n"), &["line 1, column `2`", "increase"]);
    names(read("1 31\n"), &["line 1", "`31` is not a pair"]);
    names(read("1 -3:1\n"), &["line 1", "`-3` is not an index"]);
    names(read::libsvm(dir.path().join("none")).read(), &["none", "No such file"]);
}
