//! Protocol buffers, as far as writing needs them: numbered fields that are integers, floats, text or messages.
//!
//! A crate would bring a compiler for schemas; what is used of it here is this.

/// The fields written so far.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

/// How a field's value is laid out.
const VARINT: u64 = 0;
const LENGTH_FIRST: u64 = 2;
const FOUR_BYTES: u64 = 5;

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub(super) fn int(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    #[must_use]
    pub(super) fn float(mut self, field: u64, value: f32) -> Self {
        self.varint(field << 3 | FOUR_BYTES);
        self.0.extend(value.to_le_bytes());
        self
    }

    #[must_use]
    pub(super) fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.varint(field << 3 | LENGTH_FIRST);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    #[must_use]
    pub(super) fn text(self, field: u64, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    #[must_use]
    pub(super) fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// A field that is there once for each message.
    #[must_use]
    pub(super) fn messages<'a>(self, field: u64, values: impl IntoIterator<Item = &'a Self>) -> Self {
        values.into_iter().fold(self, |whole, value| whole.message(field, value))
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }

    /// Seven bits a byte, the lowest first; the eighth says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own documentation.
    #[test]
    fn known_messages() {
        assert_eq!(Message::new().int(1, 150).finish(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::new().int(1, 127).int(1, 128).finish(), [0x08, 0x7f, 0x08, 0x80, 0x01]);
        let testing = [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67];
        assert_eq!(Message::new().text(2, "testing").finish(), testing);
        let inner = Message::new().int(1, 150);
        assert_eq!(Message::new().message(3, &inner).finish(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::new().float(2, 1.0).finish(), [0x15, 0, 0, 0x80, 0x3f]);
    }
}
