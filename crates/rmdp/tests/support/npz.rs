//! Archives for tests, from lines such as `P f8 2,1,2 1 0 0 1`: name, type, shape, numbers.

/// The bytes of an uncompressed archive of the arrays, one a line.
pub(crate) fn archive(lines: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    let mut count = 0u16;
    for line in lines.lines().filter(|l| !l.trim().is_empty()) {
        let (name, array) = array(line);
        let file = format!("{name}.npy");
        let mut fields = Vec::new();
        // Version, flags, method (stored), time, date (1 January 1980).
        for field in [20u16, 0, 0, 0, 0x21] {
            fields.extend(field.to_le_bytes());
        }
        let size = (array.len() as u32).to_le_bytes();
        fields.extend(crc32(&array).to_le_bytes());
        fields.extend(size);
        fields.extend(size);
        fields.extend((file.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(file.as_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&fields);
        bytes.extend(file.as_bytes());
        bytes.extend(array);
        count += 1;
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
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

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| {
            (c >> 1) ^ (0xEDB8_8320 & (0u32.wrapping_sub(c & 1)))
        })
    })
}
