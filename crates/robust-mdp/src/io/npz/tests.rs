use std::io::Write;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use std::fs::File;

use super::*;
use crate::io::npy::write_header;
use crate::io::tests::Folder;
use crate::io::write_model;

type Named<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn whole(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Deflated, so that both ways of storing are read in tests.
fn read_arrays(arrays: &[Named<'_>]) -> Result<(Model, Vec<String>), Error> {
    let folder = Folder::new();
    let path = folder.file("m.npz");
    let mut zip = ZipWriter::new(File::create(&path).unwrap());
    for (name, descr, shape, data) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        write_header(&mut zip, descr, shape).unwrap();
        zip.write_all(data).unwrap();
    }
    zip.finish().unwrap();
    read((&path).into(), Some(0.9))
}

/// State 0 has actions 0 and 2, state 1 none.
fn dense<'a>() -> Vec<Named<'a>> {
    let p = floats(&[0.25, 0.75, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    vec![
        ("P", "<f8", &[2, 3, 2], p),
        ("R", "<i4", &[2, 3], whole(&[1, 2, 3, 4, 5, 6])),
        ("gamma", "<f8", &[], floats(&[0.5])),
    ]
}

#[test]
fn dense_with_missing_actions() {
    let (model, warnings) = read_arrays(&dense()).unwrap();
    assert_eq!((model.states(), model.rows()), (2, 2));
    assert_eq!((model.row(0).cost, model.row(1).cost), (-1.0, -3.0));
    assert_eq!(model.action_name(0, 1), "2");
    assert_eq!(
        warnings,
        ["the array `gamma` is not used", "state 1 has no actions: taken as terminal with value 0"]
    );
}

#[test]
fn dense_costs_on_transitions() {
    let mut arrays = dense();
    let same_then_not = [7.0, 7.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    arrays[1] = ("C", "<f8", &[2, 3, 2], floats(&same_then_not));
    let (model, _) = read_arrays(&arrays).unwrap();
    assert_eq!((model.row(0).cost, model.row(0).transition_cost.unwrap()), (7.0, &[0.0, 0.0][..]));
    assert_eq!((model.row(1).cost, model.row(1).transition_cost.unwrap()), (0.0, &[1.0, 2.0][..]));
}

#[test]
fn dense_intervals() {
    let mut arrays = dense();
    let upper = [0.5, 1.0, 0.0, 0.0, 1.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    arrays.push(("P_lower", "<f8", &[2, 3, 2], floats(&[0.0; 12])));
    arrays.push(("P_upper", "<f8", &[2, 3, 2], floats(&upper)));
    let (model, _) = read_arrays(&arrays).unwrap();
    let bounds = model.row(1).bounds.unwrap();
    assert_eq!((model.row(1).prob, bounds.upper), (&[1.0, 0.0][..], &[1.0, 0.25][..]));
    arrays.pop();
    let message = read_arrays(&arrays).unwrap_err().to_string();
    assert!(message.contains("no array `P_upper`, expected one"), "{message}");
}

/// An archive that is far larger than its file, each number of it a zero byte.
fn packed(arrays: &[(&str, &[usize])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, shape) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        let mut header = Vec::new();
        write_header(&mut header, "|u1", shape).unwrap();
        zip.write_all(&header).unwrap();
        zip.write_all(&vec![0; shape.iter().product()]).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn what_unpacks_to_far_too_much_is_refused_before_it_is_read() {
    let many = 1 << 25;
    for arrays in [
        &[("P", &[2, 1, 2][..]), ("C", &[2, 1]), ("p0", &[many])][..],
        &[("C", &[0]), ("indptr", &[1]), ("indices", &[0]), ("data", &[0]), ("state_ptr", &[many])],
        &[("P", &[1, many, 1]), ("C", &[1, many])],
    ] {
        let bytes = packed(arrays);
        assert!(bytes.len() < 1 << 17, "{}", bytes.len());
        let source = Source::in_memory(Path::new("bomb.npz"), &bytes);
        let message = read(source, Some(0.5)).unwrap_err().to_string();
        assert!(message.contains("unpacks to 33554432 numbers"), "{message}");
    }
}

fn sparse<'a>() -> Vec<Named<'a>> {
    vec![
        ("data", "<f8", &[3], floats(&[0.5, 0.5, 1.0])),
        ("indices", "<i4", &[3], whole(&[1, 0, 1])),
        ("indptr", "<i4", &[3], whole(&[0, 2, 3])),
        ("shape", "<i4", &[2], whole(&[2, 2])),
        ("state_ptr", "<i4", &[3], whole(&[0, 1, 2])),
        ("C", "<f8", &[2], floats(&[1.0, 2.0])),
        ("discount", "<f8", &[1], floats(&[0.5])),
        ("p0", "<f8", &[2], floats(&[0.0, 1.0])),
    ]
}

#[test]
fn sparse_rows() {
    let (model, warnings) = read_arrays(&sparse()).unwrap();
    assert_eq!((model.states(), model.rows(), model.discount()), (2, 2, 0.9));
    assert_eq!(model.row(1).prob, [0.0, 1.0]);
    assert_eq!((model.row(1).cost, model.initial()), (2.0, Some(&[0.0, 1.0][..])));
    assert!(warnings.is_empty());
    let mut arrays = sparse();
    arrays[5] = ("R", "<f8", &[3], floats(&[4.0, 5.0, 6.0]));
    let (model, _) = read_arrays(&arrays).unwrap();
    assert_eq!(model.row(0).transition_cost.unwrap(), [-5.0, -4.0]);
    assert_eq!((model.row(0).cost, model.row(1).cost), (0.0, -6.0));
}

#[test]
fn single_precision_is_rescaled() {
    let thirds: Vec<u8> = [0.1f32, 0.9, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut arrays = sparse();
    arrays[0] = ("data", "<f4", &[3], thirds);
    let (model, warnings) = read_arrays(&arrays).unwrap();
    assert!((model.row(0).prob.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    assert_eq!(warnings, ["`data` is float32: its rows are rescaled to sum to one"]);
    let wrong: Vec<u8> = [0.1f32, 0.8, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    arrays[0] = ("data", "<f4", &[3], wrong);
    assert!(read_arrays(&arrays).unwrap_err().to_string().contains("sum to 0.9"));
    let mut arrays = dense();
    let p = [0.1f32, 0.9, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    arrays[0] = ("P", "<f4", &[2, 3, 2], p.iter().flat_map(|v| v.to_le_bytes()).collect());
    assert_eq!(read_arrays(&arrays).unwrap().0.rows(), 2);
}

#[test]
fn wrong_arrays() {
    let replaced = |arrays: Vec<Named<'static>>, with: Named<'static>| {
        let keep = arrays.into_iter().filter(|a| a.0 != with.0);
        read_arrays(&keep.chain([with.clone()]).collect::<Vec<_>>()).unwrap_err().to_string()
    };
    for (text, expected) in [
        (replaced(sparse(), ("indptr", "<i4", &[3], whole(&[0, 3, 2]))), "`indptr` must rise"),
        (replaced(sparse(), ("state_ptr", "<i4", &[2], whole(&[0, 1]))), "`state_ptr` must rise"),
        (replaced(sparse(), ("state_ptr", "<i4", &[0], vec![])), "`state_ptr` must rise"),
        (replaced(sparse(), ("indices", "<i4", &[3], whole(&[1, 9, 1]))), "next state 9 does not"),
        (replaced(sparse(), ("indices", "<i4", &[3], whole(&[1, -1, 1]))), "at least 0"),
        (replaced(sparse(), ("indices", "<i4", &[2], whole(&[1, 1]))), "expected as many"),
        (replaced(sparse(), ("shape", "<i4", &[2], whole(&[2, 7]))), "`shape` is [2, 7]"),
        (replaced(sparse(), ("format", "|S3", &[], b"csc".to_vec())), "expected csr"),
        (replaced(sparse(), ("R", "<f8", &[2], floats(&[0.0; 2]))), "both `R` and `C`"),
        (replaced(sparse(), ("C", "<f8", &[5], floats(&[0.0; 5]))), "`C` has shape [5], expected"),
        (replaced(sparse(), ("p0", "<f8", &[1], floats(&[1.0]))), "initial distribution has 1"),
        (replaced(sparse(), ("data", "<f8", &[3], floats(&[0.5, 0.4, 1.0]))), "sum to 0.9"),
        (replaced(sparse(), ("data", "<f8", &[3], vec![])), "the data end early"),
        (replaced(dense(), ("P", "<f8", &[2, 3, 3], floats(&[0.0; 18]))), "expected [S, A, S]"),
        (replaced(dense(), ("P", "<f8", &[1 << 30, 1 << 29, 1 << 30], vec![])), "`R` has shape"),
        (replaced(dense(), ("P", "|O8", &[2, 3, 2], vec![])), "expected float64"),
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let only_costs = read_arrays(&sparse()[5..]).unwrap_err().to_string();
    assert!(
        only_costs.contains("sparse rows `data`, `indices`, `indptr`, `shape` and `state_ptr`; found C, discount, p0"),
        "{only_costs}"
    );
}

#[test]
fn no_archive() {
    let folder = Folder::new();
    let path = folder.with("m.npz", "PK nonsense");
    assert!(
        read((&path).into(), None)
            .unwrap_err()
            .to_string()
            .contains("is not a NumPy .npz archive (or is cut off)")
    );
}

/// Every bit that is changed in an archive is found, or changes nothing, or leaves out an array that
/// is told.
#[test]
fn damaged_numbers_are_never_read_as_others() {
    let dense = crate::instances::machine_replacement(4, 0.8).unwrap();
    let sparse =
        crate::instances::Garnet { states: 20, actions: 2, branching: 0.1, ..Default::default() };
    let sparse = sparse.model().unwrap();
    assert!(dense.is_dense() && !sparse.is_dense());
    let folder = Folder::new();
    for (k, model) in [dense, sparse].iter().enumerate() {
        let path = folder.file("m.npz");
        write_model(model, &path, None).unwrap();
        let stored = std::fs::read(&path).unwrap();
        for bytes in [&stored, &deflated(&stored)] {
            let parse = |bytes: &[u8]| read(Source::in_memory(&path, bytes), None);
            let (whole, warnings) = parse(bytes).unwrap();
            assert!(warnings.is_empty(), "{warnings:?}");
            for at in 0..bytes.len() {
                let _ = parse(&bytes[..at]); // no panic, whatever it says
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << ((at + k) % 8);
                if let Ok((model, warnings)) = parse(&flipped) {
                    assert!(model == whole || !warnings.is_empty(), "byte {at} of {}", bytes.len());
                }
            }
        }
    }
}

/// The same arrays, compressed.
fn deflated(stored: &[u8]) -> Vec<u8> {
    let mut from = zip::ZipArchive::new(std::io::Cursor::new(stored)).unwrap();
    let mut to = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for k in 0..from.len() {
        let mut file = from.by_index(k).unwrap();
        to.start_file(file.name().unwrap().into_owned(), SimpleFileOptions::default()).unwrap();
        std::io::copy(&mut file, &mut to).unwrap();
    }
    to.finish().unwrap().into_inner()
}

#[test]
fn damage_is_told_with_the_array() {
    let folder = Folder::new();
    let path = folder.file("m.npz");
    let sparse =
        crate::instances::Garnet { states: 20, actions: 2, branching: 0.1, ..Default::default() };
    let model = sparse.model().unwrap();
    write_model(&model, &path, None).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // The last bits of a cost: a number like any other.
    let cost = model.row(3).cost.to_le_bytes();
    let at = bytes.windows(8).position(|w| w == cost).unwrap();
    bytes[at] ^= 1;
    let message = read(Source::in_memory(&path, &bytes), None).unwrap_err().to_string();
    assert!(message.contains("m.npz: array `C`: the data are damaged"), "{message}");
    // More data than the shape says.
    let mut arrays = self::dense();
    arrays[0].3.extend(floats(&[1.0]));
    let message = read_arrays(&arrays).unwrap_err().to_string();
    assert!(message.contains("array `P`: the data go on beyond shape [2, 3, 2]"), "{message}");
}
