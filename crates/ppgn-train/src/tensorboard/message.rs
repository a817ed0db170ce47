//! The protocol-buffer messages of an event file, as far as scalars need them (`event.proto` and `summary.proto` of TensorBoard):
//!
//! ```text
//! Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
//! Summary { repeated Value value = 1; }
//! Value   { string tag = 1; float simple_value = 2; }
//! ```

/// The version of event files, which the first event says.
pub(super) const VERSION: &str = "brain.Event:2";

/// The scalars of a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// Seconds since 1970.
    pub(super) time: f64,
    pub(super) step: i64,
    /// By tag.
    pub(super) scalars: Vec<(String, f32)>,
}

/// Numbers of bytes on the wire: variable, eight, preceded by their number, four.
const VARINT: u64 = 0;
const I64: u64 = 1;
const LENGTH: u64 = 2;
const I32: u64 = 5;

/// The message of the first event.
pub(super) fn first(time: f64) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, 1, I64, &time.to_le_bytes());
    put(&mut out, 3, LENGTH, VERSION.as_bytes());
    out
}

impl Event {
    /// Its message.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut summary = Vec::new();
        for (tag, x) in &self.scalars {
            let mut value = Vec::new();
            put(&mut value, 1, LENGTH, tag.as_bytes());
            put(&mut value, 2, I32, &x.to_le_bytes());
            put(&mut summary, 1, LENGTH, &value);
        }
        let mut out = Vec::new();
        put(&mut out, 1, I64, &self.time.to_le_bytes());
        varint(&mut out, 2 << 3 | VARINT);
        varint(&mut out, self.step as u64);
        put(&mut out, 5, LENGTH, &summary);
        out
    }
}

fn put(out: &mut Vec<u8>, field: u64, wire: u64, bytes: &[u8]) {
    varint(out, field << 3 | wire);
    if wire == LENGTH {
        varint(out, bytes.len() as u64);
    }
    out.extend(bytes);
}

fn varint(out: &mut Vec<u8>, mut x: u64) {
    while x >= 0x80 {
        out.push(x as u8 | 0x80);
        x >>= 7;
    }
    out.push(x as u8);
}

/// A field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, up to the first that is not whole.
fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u64, Field<'_>)> {
    std::iter::from_fn(move || {
        let key = take_varint(&mut bytes)?;
        let length = match key & 7 {
            VARINT => return Some((key >> 3, Field::Number(take_varint(&mut bytes)?))),
            I64 => 8,
            I32 => 4,
            LENGTH => usize::try_from(take_varint(&mut bytes)?).ok()?,
            _ => return None,
        };
        let (content, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        Some((key >> 3, Field::Bytes(content)))
    })
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut x = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        x |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(x);
        }
    }
    None
}

/// The event of a message; one that is not about scalars has none.
pub(super) fn decode(message: &[u8]) -> Option<Event> {
    let mut event = Event { time: 0.0, step: 0, scalars: Vec::new() };
    for field in fields(message) {
        match field {
            (1, Field::Bytes(bytes)) => event.time = f64::from_le_bytes(bytes.try_into().ok()?),
            (2, Field::Number(step)) => event.step = step as i64,
            (5, Field::Bytes(summary)) => {
                for field in fields(summary) {
                    if let (1, Field::Bytes(value)) = field {
                        event.scalars.extend(scalar(value));
                    }
                }
            }
            _ => {}
        }
    }
    Some(event)
}

fn scalar(value: &[u8]) -> Option<(String, f32)> {
    let (mut tag, mut number) = (None, None);
    for field in fields(value) {
        match field {
            (1, Field::Bytes(bytes)) => tag = String::from_utf8(bytes.to_vec()).ok(),
            (2, Field::Bytes(bytes)) => number = Some(f32::from_le_bytes(bytes.try_into().ok()?)),
            _ => {}
        }
    }
    tag.zip(number)
}

/// The version that a first event says.
#[cfg(test)]
pub(super) fn version(message: &[u8]) -> Option<&str> {
    fields(message).find_map(|field| match field {
        (3, Field::Bytes(text)) => std::str::from_utf8(text).ok(),
        _ => None,
    })
}
