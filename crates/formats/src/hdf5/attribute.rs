//! Attributes: the small values that say what an object means.

use super::File;
use super::broken;
use super::cursor::Cursor;
use super::dataset::Space;
use super::datatype::Datatype;
use super::heap::Fractal;
use super::links::ids;
use super::object::{Object, kind};
use crate::{Source, Trouble};

/// A value with its type. Attributes are small: it is all here.
pub(crate) struct Attribute {
    datatype: Datatype,
    count: usize,
    bytes: Vec<u8>,
}

impl<S: Source> File<'_, S> {
    /// The attribute of this name, wherever the object keeps it.
    pub(crate) async fn attribute(&self, object: &Object, name: &str) -> Result<Option<Attribute>, Trouble> {
        for message in object.all(kind::ATTRIBUTE) {
            if message.shared {
                continue;
            }
            if let Some(attribute) = self.parse(&message.body, name).await? {
                return Ok(Some(attribute));
            }
        }
        let Some(message) = object.message(kind::ATTRIBUTE_INFO) else { return Ok(None) };
        let mut cursor = Cursor::new(&message.body);
        cursor.skip(1)?;
        let flags = cursor.u8()?;
        cursor.skip(if flags & 1 != 0 { 2 } else { 0 })?;
        let (heap, tree) = (self.store.address(&mut cursor)?, self.store.address(&mut cursor)?);
        let (Some(heap), Some(tree)) = (heap, tree) else { return Ok(None) };
        let heap = Fractal::open(&self.store, heap).await?;
        for id in ids(&self.store, tree, 0, 8).await? {
            // One that is too large for its heap is none of those that are asked for.
            let Ok(body) = heap.get(&self.store, &id).await else { continue };
            if let Some(attribute) = self.parse(&body, name).await? {
                return Ok(Some(attribute));
            }
        }
        Ok(None)
    }

    /// The attribute in a message, if it has the right name.
    async fn parse(&self, body: &[u8], wanted: &str) -> Result<Option<Attribute>, Trouble> {
        let mut cursor = Cursor::new(body);
        let version = cursor.u8()?;
        let flags = cursor.u8()?;
        let sizes = [cursor.u16()?, cursor.u16()?, cursor.u16()?].map(usize::from);
        cursor.skip(if version >= 3 { 1 } else { 0 })?;
        let mut parts = [&[][..]; 3];
        for (part, size) in parts.iter_mut().zip(sizes) {
            *part = cursor.take(size)?;
            if version == 1 {
                cursor.align();
            }
        }
        let [name, datatype, space] = parts;
        if name.split(|&byte| byte == 0).next() != Some(wanted.as_bytes()) {
            return Ok(None);
        }
        let datatype = self.datatype(datatype, version > 1 && flags & 1 != 0).await?;
        let space = Space::parse(&self.store, space)?;
        let count = space.dims.iter().try_fold(1_u64, |all, &length| all.checked_mul(length));
        let count = count.and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(|| broken("an attribute's size is out of range"))?;
        let size = count.checked_mul(datatype.size());
        let bytes = cursor.take(size.ok_or_else(|| broken("an attribute's size is out of range"))?)?;
        Ok(Some(Attribute { datatype, count, bytes: bytes.to_vec() }))
    }

    /// An attribute's texts; none when it holds something else.
    pub(crate) async fn texts_of(&self, object: &Object, name: &str) -> Result<Option<Vec<String>>, Trouble> {
        let Some(attribute) = self.attribute(object, name).await? else { return Ok(None) };
        if !attribute.datatype.is_text() {
            return Ok(None);
        }
        if attribute.count == 0 || attribute.datatype.size() == 0 {
            return Ok(Some(Vec::new()));
        }
        let mut texts = Vec::new();
        for bytes in attribute.bytes.chunks_exact(attribute.datatype.size()) {
            texts.push(self.text(&attribute.datatype, bytes).await?.unwrap_or_default());
        }
        Ok(Some(texts))
    }

    /// An attribute that is one text.
    pub(crate) async fn text_of(&self, object: &Object, name: &str) -> Result<Option<String>, Trouble> {
        Ok(self.texts_of(object, name).await?.and_then(|texts| texts.into_iter().next()))
    }

    /// An attribute's numbers; none when it holds something else.
    pub(crate) async fn numbers_of(&self, object: &Object, name: &str) -> Result<Option<Vec<f64>>, Trouble> {
        let Some(attribute) = self.attribute(object, name).await? else { return Ok(None) };
        let Ok(number) = attribute.datatype.number() else { return Ok(None) };
        Ok(Some(attribute.bytes.chunks_exact(number.size.max(1)).map(|bytes| number.get(bytes)).collect()))
    }

    /// The one address that an attribute with an object reference holds.
    pub(crate) async fn reference_of(&self, object: &Object, name: &str) -> Result<Option<u64>, Trouble> {
        let Some(attribute) = self.attribute(object, name).await? else { return Ok(None) };
        if !matches!(attribute.datatype, Datatype::Other { what: "references", .. }) {
            return Ok(None);
        }
        self.store.address(&mut Cursor::new(&attribute.bytes))
    }
}
