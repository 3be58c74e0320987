use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::thrift::Writer;
use super::*;
use crate::instances::Garnet;
use crate::io::{Format, read_model, write_model_to};

/// Columns of a file: name, whether numbers may be missing, and its pages, each with its header.
struct Column<'c> {
    name: &'c str,
    physical: i32,
    optional: bool,
    codec: i32,
    pages: Vec<u8>,
}

/// A page of the first version.
fn page(kind: i32, count: usize, encoding: i32, plain: usize, packed: &[u8]) -> Vec<u8> {
    let mut w = Writer::begin();
    w.i32(1, kind);
    w.i32(2, plain as i32);
    w.i32(3, packed.len() as i32);
    w.structure(if kind == 0 { 5 } else { 7 }, |w| {
        w.i32(1, count as i32);
        w.i32(2, encoding);
    });
    [w.end(), packed.to_vec()].concat()
}

fn file(rows: usize, columns: &[Column<'_>]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let mut starts = Vec::new();
    for column in columns {
        starts.push(bytes.len());
        bytes.extend(&column.pages);
    }
    let mut w = Writer::begin();
    w.list(2, 12, 1 + columns.len());
    w.item(|w| w.i32(5, columns.len() as i32));
    for column in columns {
        w.item(|w| {
            w.i32(1, column.physical);
            w.i32(3, i32::from(column.optional));
            w.text(4, column.name);
        });
    }
    w.list(4, 12, 1);
    w.item(|w| {
        w.list(1, 12, columns.len());
        for (column, start) in columns.iter().zip(starts) {
            w.item(|w| {
                w.structure(3, |w| {
                    w.list(3, 8, 1);
                    w.element(column.name);
                    w.i32(4, column.codec);
                    w.i64(7, column.pages.len() as i64);
                    w.i64(9, start as i64);
                });
            });
        }
        w.i64(3, rows as i64);
    });
    let footer = w.end();
    let length = (footer.len() as u32).to_le_bytes();
    [&bytes[..], &footer, &length, MAGIC].concat()
}

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut w = GzEncoder::new(Vec::new(), Compression::default());
    w.write_all(bytes).unwrap();
    w.finish().unwrap()
}

/// Two states: whole numbers of 4 bytes by a dictionary, floats that may be missing, packed in three ways.
fn columns() -> Vec<Column<'static>> {
    let ints = |values: &[i32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    // A dictionary of 0 and 1, and places of one bit: a run of two, then one group.
    let dictionary = page(2, 2, 0, 8, &ints(&[0, 1]));
    let from = page(0, 3, 8, 5, &[1, 2 << 1, 0, 1 << 1 | 1, 1]);
    let prob = [&[2, 0, 0, 0, 3 << 1, 1][..], &floats(&[0.25, 0.75, 1.0])].concat();
    let reward = floats(&[2.0, 2.0, -1.0]);
    let snapped = snap::raw::Encoder::new().compress_vec(&floats(&[0.0, 1.0, 1.0])).unwrap();
    let column =
        |name, physical, optional, codec, pages| Column { name, physical, optional, codec, pages };
    vec![
        column("idstatefrom", 1, false, 0, [dictionary, from].concat()),
        column("IdAction", 1, false, 0, page(0, 3, 0, 12, &ints(&[0, 0, 0]))),
        column("idstateto", 5, false, 1, page(0, 3, 0, 24, &snapped)),
        column("probability", 5, true, 0, page(0, 3, 0, prob.len(), &prob)),
        column("reward", 5, false, 2, page(0, 3, 0, 24, &gzipped(&reward))),
    ]
}

fn read_bytes(bytes: &[u8]) -> Result<ModelFile, Error> {
    read(Source::in_memory(Path::new("m.parquet"), bytes), Some(0.9))
}

#[test]
fn dictionaries_packings_and_numbers_that_may_be_missing() {
    let model = read_bytes(&file(3, &columns())).unwrap().model;
    assert_eq!((model.states(), model.rows()), (2, 2));
    assert_eq!((model.row(0).prob, model.row(1).prob), (&[0.25, 0.75][..], &[0.0, 1.0][..]));
    assert_eq!((model.row(0).cost, model.row(1).cost), (-2.0, 1.0));
}

#[test]
fn errors_name_the_column_or_the_row() {
    let wrong = |change: &dyn Fn(&mut Vec<Column<'static>>)| {
        let mut columns = columns();
        change(&mut columns);
        read_bytes(&file(3, &columns)).unwrap_err().to_string()
    };
    let page_of = |values: &[f64]| page(0, values.len(), 0, 8 * values.len(), &floats(values));
    for (found, expected) in [
        (
            wrong(&|c| c[4].name = "gain"),
            "m.parquet: the header has no column “reward” or “cost”; it has: idstatefrom, idaction",
        ),
        (
            wrong(&|c| c[4].codec = 4),
            "m.parquet: column “reward”: packed by Brotli, expected Snappy",
        ),
        (wrong(&|c| c[4].codec = 1), "m.parquet: column “reward”: a page cannot be unpacked"),
        (
            wrong(&|c| c[3].physical = 6),
            "m.parquet: column “probability”: no numbers, expected whole",
        ),
        (
            wrong(&|c| c[1].pages = page(0, 3, 5, 1, &[0])),
            "m.parquet: column “IdAction”: numbers in the encoding 5, expected plain ones",
        ),
        (
            wrong(&|c| c[1].pages = page(0, 2, 0, 8, &[0; 8])),
            "m.parquet: column “IdAction”: a page is",
        ),
        (
            wrong(&|c| {
                let body = [&[2, 0, 0, 0, 3 << 1, 0][..], &floats(&[0.25])].concat();
                c[3].pages = page(0, 3, 0, body.len(), &body);
            }),
            "m.parquet: column “probability”: a row without a number, expected one in every row",
        ),
        (
            wrong(&|c| (c[2].codec, c[2].pages) = (0, page_of(&[0.0, -1.0, 1.0]))),
            "m.parquet, line 2: state 0, action 0: idstateto is -1, expected a whole number from 0",
        ),
        (
            wrong(&|c| (c[3].optional, c[3].pages) = (false, page_of(&[0.25, 0.5, 1.0]))),
            "m.parquet, line 1: state 0, action 0: probabilities sum to 0.75",
        ),
        (read_bytes(b"PAR1").err().unwrap().to_string(), "m.parquet: is not a Parquet file"),
        (
            read_bytes(&file(1 << 40, &columns())).err().unwrap().to_string(),
            "m.parquet: more than 41",
        ),
    ] {
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn damaged_files_do_no_harm() {
    let model =
        Garnet { states: 6, actions: 2, branching: 0.5, ..Garnet::default() }.model().unwrap();
    let mut written = Vec::new();
    write_model_to(&model, &mut written, Format::Parquet).unwrap();
    for whole in [written, file(3, &columns())] {
        for at in 0..whole.len() {
            assert!(read_bytes(&whole[..at]).is_err());
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            let _ = read_bytes(&flipped);
        }
    }
}

#[test]
fn several_groups_of_rows() {
    let garnet = Garnet { states: 600, actions: 5, branching: 0.1, ..Garnet::default() };
    let model = garnet.model().unwrap();
    assert!(model.transitions() > 1 << 17);
    let mut bytes = Vec::new();
    write_model_to(&model, &mut bytes, Format::Parquet).unwrap();
    let source = Source::in_memory(Path::new("m.parquet"), &bytes);
    let again = read_model(source, None, Some(model.discount())).unwrap().0;
    assert_eq!(again, model);
}
