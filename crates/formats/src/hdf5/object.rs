//! Object headers, old and new: the messages that say what a group or a data set is.

use super::broken;
use super::cursor::Cursor;
use super::store::Store;
use crate::{Source, Trouble};

/// The kinds of message that are of use here.
pub(crate) mod kind {
    pub(crate) const DATASPACE: u16 = 0x01;
    pub(crate) const LINK_INFO: u16 = 0x02;
    pub(crate) const DATATYPE: u16 = 0x03;
    pub(crate) const OLD_FILL: u16 = 0x04;
    pub(crate) const FILL: u16 = 0x05;
    pub(crate) const LINK: u16 = 0x06;
    pub(crate) const EXTERNAL: u16 = 0x07;
    pub(crate) const LAYOUT: u16 = 0x08;
    pub(crate) const FILTERS: u16 = 0x0b;
    pub(crate) const ATTRIBUTE: u16 = 0x0c;
    pub(crate) const CONTINUATION: u16 = 0x10;
    pub(crate) const SYMBOL_TABLE: u16 = 0x11;
    pub(crate) const ATTRIBUTE_INFO: u16 = 0x15;
}

/// More than this is no header.
const MOST_BYTES: u64 = 1 << 24;

#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) kind: u16,
    /// The body is not here but in another object, and `body` says which.
    pub(crate) shared: bool,
    pub(crate) body: Vec<u8>,
}

/// A group or a data set.
#[derive(Clone)]
pub(crate) struct Object {
    /// Where its header is.
    pub(crate) address: u64,
    pub(crate) messages: Vec<Message>,
}

impl Object {
    pub(crate) async fn read<S: Source>(store: &Store<'_, S>, address: u64) -> Result<Self, Trouble> {
        let first = store.read(address, 4).await?;
        let new = first == b"OHDR";
        let found =
            if new { Self::version2(store, address).await } else { Self::version1(store, address).await };
        Ok(Self { address, messages: found? })
    }

    pub(crate) fn message(&self, kind: u16) -> Option<&Message> {
        self.messages.iter().find(|message| message.kind == kind)
    }

    pub(crate) fn all(&self, kind: u16) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }

    /// Whether it holds other objects.
    pub(crate) fn is_group(&self) -> bool {
        [kind::SYMBOL_TABLE, kind::LINK_INFO, kind::LINK].iter().any(|&kind| self.message(kind).is_some())
    }

    async fn version1<S: Source>(store: &Store<'_, S>, address: u64) -> Result<Vec<Message>, Trouble> {
        let bytes = store.read(address, 12).await?;
        let mut cursor = Cursor::new(&bytes);
        if cursor.u8()? != 1 {
            return Err(broken("an object has no header"));
        }
        cursor.skip(7)?;
        let size = u64::from(cursor.u32()?);
        Self::blocks(store, (address.saturating_add(16), size), None).await
    }

    async fn version2<S: Source>(store: &Store<'_, S>, address: u64) -> Result<Vec<Message>, Trouble> {
        let bytes = store.read(address, 6).await?;
        let flags = bytes.get(5).copied().unwrap_or(0);
        let mut skipped = 6;
        skipped += if flags & 0x20 != 0 { 16 } else { 0 };
        skipped += if flags & 0x10 != 0 { 4 } else { 0 };
        let width = 1 << (flags & 3);
        let bytes = store.read(address.saturating_add(skipped), width).await?;
        let size = Cursor::new(&bytes).uint(width)?;
        let start = address.saturating_add(skipped + width as u64);
        Self::blocks(store, (start, size), Some(flags)).await
    }

    /// Reads the first block of messages and all that continue it. `flags` belong to version 2 only.
    async fn blocks<S: Source>(
        store: &Store<'_, S>,
        first: (u64, u64),
        flags: Option<u8>,
    ) -> Result<Vec<Message>, Trouble> {
        let mut messages = Vec::new();
        let mut open = vec![first];
        let mut total = 0_u64;
        while let Some((address, size)) = open.pop() {
            total = total.saturating_add(size).saturating_add(16);
            if total > MOST_BYTES {
                return Err(broken("an object's header is too large"));
            }
            let bytes = store.read(address, size as usize).await?;
            let mut cursor = Cursor::new(&bytes);
            let smallest = match flags {
                None => 8,
                Some(flags) => 4 + if flags & 4 != 0 { 2 } else { 0 },
            };
            if flags.is_some() && (address, size) != first {
                cursor.expect(b"OCHK")?;
            }
            while cursor.rest().len() >= smallest {
                let kind = if flags.is_some() { u16::from(cursor.u8()?) } else { cursor.u16()? };
                let length = usize::from(cursor.u16()?);
                let shared = cursor.u8()? & 2 != 0;
                cursor.skip(smallest - if flags.is_some() { 4 } else { 5 })?;
                if length > cursor.rest().len() {
                    break; // The gap or the checksum at the block's end.
                }
                let body = cursor.take(length)?;
                if kind == kind::CONTINUATION {
                    let mut inner = Cursor::new(body);
                    let target = store.address(&mut inner)?;
                    let size = store.length(&mut inner)?;
                    // A version 2 block ends in a checksum, which holds no messages.
                    let size = size.saturating_sub(if flags.is_some() { 4 } else { 0 });
                    open.extend(target.map(|target| (target, size)));
                } else if kind != 0 {
                    messages.push(Message { kind, shared, body: body.to_vec() });
                }
            }
        }
        Ok(messages)
    }
}
