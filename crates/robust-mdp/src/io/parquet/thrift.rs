//! Thrift's compact protocol, in which Parquet keeps what it says about itself: read into a tree, and
//! written field by field.

/// Structures within structures: Parquet's own go some five deep.
const MOST_DEEP: usize = 16;

/// Anything.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'b> {
    Number(i64),
    Bytes(&'b [u8]),
    List(Vec<Value<'b>>),
    Fields(Vec<(i16, Value<'b>)>),
    /// Of no use here.
    Other,
}

impl<'b> Value<'b> {
    /// A field of a structure.
    pub(super) fn field(&self, id: i16) -> Option<&Value<'b>> {
        match self {
            Value::Fields(fields) => fields.iter().find(|(found, _)| *found == id).map(|(_, v)| v),
            _ => None,
        }
    }

    pub(super) fn number(&self, id: i16) -> Option<i64> {
        match self.field(id)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn list(&self, id: i16) -> &[Value<'b>] {
        match self.field(id) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&'b str> {
        match self {
            Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

/// A structure at the start of `bytes`, which then begin behind it. `None` where there is none.
pub(super) fn read<'b>(bytes: &mut &'b [u8]) -> Option<Value<'b>> {
    structure(bytes, 0)
}

fn structure<'b>(bytes: &mut &'b [u8], depth: usize) -> Option<Value<'b>> {
    let (mut fields, mut id) = (Vec::new(), 0i16);
    loop {
        let header = byte(bytes)?;
        if header == 0 {
            return Some(Value::Fields(fields));
        }
        id = match header >> 4 {
            0 => i16::try_from(signed(bytes)?).ok()?,
            more => id.checked_add(i16::from(more))?,
        };
        // Truths are told by the kind of a field.
        let value = match header & 15 {
            1 => Value::Number(1),
            2 => Value::Number(0),
            kind => value(bytes, kind, depth)?,
        };
        fields.push((id, value));
    }
}

fn value<'b>(bytes: &mut &'b [u8], kind: u8, depth: usize) -> Option<Value<'b>> {
    if depth >= MOST_DEEP {
        return None;
    }
    Some(match kind {
        1..=3 => Value::Number(i64::from(byte(bytes)? as i8)),
        4..=6 => Value::Number(signed(bytes)?),
        7 => {
            take(bytes, 8)?;
            Value::Other
        }
        8 => {
            let length = usize::try_from(unsigned(bytes)?).ok()?;
            Value::Bytes(take(bytes, length)?)
        }
        9 | 10 => {
            let header = byte(bytes)?;
            let count = match header >> 4 {
                15 => unsigned(bytes)?,
                count => u64::from(count),
            };
            // Every element takes a byte at least.
            let mut list = Vec::new();
            for _ in 0..count {
                list.push(value(bytes, header & 15, depth + 1)?);
            }
            Value::List(list)
        }
        12 => structure(bytes, depth + 1)?,
        _ => return None,
    })
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    take(bytes, 1).map(|taken| taken[0])
}

pub(super) fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Seven bits a byte.
pub(super) fn unsigned(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(bytes)?;
        number |= u64::from(next & 127) << shift;
        if next < 128 {
            return Some(number);
        }
    }
    None
}

fn signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = unsigned(bytes)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// A structure being written.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
    /// The latest field of every structure that is open.
    latest: Vec<i16>,
}

impl Writer {
    pub(super) fn begin() -> Writer {
        Writer { bytes: Vec::new(), latest: vec![0] }
    }

    fn header(&mut self, id: i16, kind: u8) {
        let latest = self.latest.last_mut().expect("a structure is open");
        // Fields come in order, and close together.
        self.bytes.push(((id - *latest) as u8) << 4 | kind);
        *latest = id;
    }

    fn plain(&mut self, mut number: u64) {
        while number > 127 {
            self.bytes.push(number as u8 | 128);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn zigzag(&mut self, number: i64) {
        self.plain((number << 1 ^ number >> 63) as u64);
    }

    pub(super) fn i32(&mut self, id: i16, number: i32) {
        self.header(id, 5);
        self.zigzag(number.into());
    }

    pub(super) fn i64(&mut self, id: i16, number: i64) {
        self.header(id, 6);
        self.zigzag(number);
    }

    pub(super) fn text(&mut self, id: i16, text: &str) {
        self.header(id, 8);
        self.element(text);
    }

    /// A text in a list.
    pub(super) fn element(&mut self, text: &str) {
        self.plain(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    /// Begins a list: 5 numbers, 8 texts or 12 structures.
    pub(super) fn list(&mut self, id: i16, kind: u8, count: usize) {
        self.header(id, 9);
        match count {
            0..15 => self.bytes.push((count as u8) << 4 | kind),
            _ => {
                self.bytes.push(15 << 4 | kind);
                self.plain(count as u64);
            }
        }
    }

    /// A number in a list.
    pub(super) fn number(&mut self, number: i32) {
        self.zigzag(number.into());
    }

    /// A structure as a field.
    pub(super) fn structure(&mut self, id: i16, write: impl FnOnce(&mut Writer)) {
        self.header(id, 12);
        self.item(write);
    }

    /// A structure in a list.
    pub(super) fn item(&mut self, write: impl FnOnce(&mut Writer)) {
        self.latest.push(0);
        write(self);
        self.latest.pop();
        self.bytes.push(0);
    }

    pub(super) fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut w = Writer::begin();
        w.i32(1, -7);
        w.i64(3, 1 << 40);
        w.text(4, "some");
        w.list(5, 12, 20);
        (0..20).for_each(|k| w.item(|w| w.i32(2, k)));
        w.structure(6, |w| w.text(1, ""));
        w.list(7, 5, 2);
        w.number(3);
        w.number(-300);
        let bytes = [w.end(), vec![9]].concat();
        let mut rest = &bytes[..];
        let value = read(&mut rest).unwrap();
        assert_eq!((rest, value.number(1), value.number(3)), (&[9][..], Some(-7), Some(1 << 40)));
        assert_eq!(value.field(4).and_then(Value::text), Some("some"));
        assert_eq!((value.list(5).len(), value.list(5)[19].number(2)), (20, Some(19)));
        assert_eq!(value.field(6).unwrap().field(1).and_then(Value::text), Some(""));
        assert_eq!(value.list(7), [Value::Number(3), Value::Number(-300)]);
        for end in 0..bytes.len() - 1 {
            assert_eq!(read(&mut &bytes[..end]), None);
        }
        // Structures without end.
        assert_eq!(read(&mut &[0x1C; 100][..]), None);
    }
}
