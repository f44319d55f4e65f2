use super::*;

fn layout(shapes: &[(&str, &[usize])]) -> Layout {
    Layout::new(shapes.iter().map(|(name, shape)| ((*name).into(), shape.to_vec(), None))).unwrap()
}

#[test]
fn index_is_the_inverse_of_value_name() {
    let layout = layout(&[("0", &[1]), ("1.0", &[4]), ("1.1", &[4]), ("2", &[2, 3, 2])]);
    assert_eq!(layout.value_name(1), "1.0[0]");
    for index in 0..layout.dim() {
        assert_eq!(layout.index(&layout.value_name(index)).unwrap(), index);
    }
    for wrong in ["2[0,0]", "2[2,0,0]", "2", "3", "1.0[4]", "1.0[x]", ""] {
        assert!(layout.index(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn huge_shapes_are_errors() {
    for shape in [vec![usize::MAX, 2], vec![0, 1 << 40, 1 << 40]] {
        let error = Layout::new([("huge".into(), shape, None)]).unwrap_err().to_string();
        assert!(error.contains("`huge`"), "{error}");
    }
}

#[test]
fn errors_name_the_difference() {
    let declared = layout(&[("beta", &[54])]);
    let shape = declared.check_same(&layout(&[("beta", &[3])])).unwrap_err();
    assert_eq!(
        shape.to_string(),
        "parameter `beta` has shape [3] but was declared as [54]: give start values of that shape"
    );
    let leaves = declared.check_same(&layout(&[("gamma", &[54])])).unwrap_err();
    assert!(leaves.to_string().contains("gamma"), "{leaves}");
    let nan = declared.coordinates(&[f64::NAN; 54]).unwrap_err();
    assert!(nan.to_string().contains("`beta[0]` is NaN"), "{nan}");
}
