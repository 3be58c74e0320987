//! Archives for tests, from lines such as `P f8 2,1,2 1 0 0 1`: name, type, shape, numbers.

use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

/// The bytes of an uncompressed archive of the arrays, one a line.
pub(crate) fn archive(lines: &str) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for line in lines.lines().filter(|l| !l.trim().is_empty()) {
        let (name, array) = array(line);
        archive.start_file(format!("{name}.npy"), stored).unwrap();
        archive.write_all(&array).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Name and bytes of one array; `()` is the shape of a single number.
fn array(line: &str) -> (&str, Vec<u8>) {
    let mut words = line.split_whitespace();
    let mut word = || words.next().expect("name, type, shape, numbers");
    let (name, kind, shape) = (word(), word(), word());
    let shape = match shape {
        "()" => "()".to_owned(),
        _ => format!("({shape},)"),
    };
    let header = format!("{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for number in words {
        match kind {
            "f8" => bytes.extend(number.parse::<f64>().unwrap().to_le_bytes()),
            "i8" => bytes.extend(number.parse::<i64>().unwrap().to_le_bytes()),
            _ => bytes.extend(number.as_bytes()),
        }
    }
    (name, bytes)
}
