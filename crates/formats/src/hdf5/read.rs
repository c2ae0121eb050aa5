//! Data sets as numbers and texts.

use super::cursor::Cursor;
use super::datatype::{Datatype, fixed_text};
use super::{Dataset, File, Meter};
use crate::{Source, Trouble, Watch};

impl<S: Source> File<'_, S> {
    /// Hands over the numbers of a data set that were written, each with its place; `fill` is what the others are.
    pub(crate) async fn each_number<W: Watch>(
        &self,
        dataset: &Dataset,
        meter: &mut Meter<'_, W>,
        mut each: impl FnMut(usize, f64) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let number = dataset.datatype.number()?;
        dataset
            .runs(&self.store, meter, |first, bytes| {
                for (place, bytes) in bytes.chunks_exact(number.size.max(1)).enumerate() {
                    each(first + place, number.get(bytes))?;
                }
                Ok(())
            })
            .await
    }

    /// What the numbers are that were never written.
    pub(crate) fn fill(&self, dataset: &Dataset) -> Result<f64, Trouble> {
        let number = dataset.datatype.number()?;
        Ok(dataset.fill().map_or(0.0, |bytes| number.get(bytes)))
    }

    /// All numbers of a data set, row by row.
    pub(crate) async fn numbers<T: Copy, W: Watch>(
        &self,
        dataset: &Dataset,
        meter: &mut Meter<'_, W>,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Trouble> {
        let count = dataset.count()?;
        let fill = convert(self.fill(dataset)?);
        meter.room((count as u64).saturating_mul(size_of::<T>() as u64))?;
        let mut numbers = vec![fill; count];
        self.each_number(dataset, meter, |place, value| {
            if let Some(slot) = numbers.get_mut(place) {
                *slot = convert(value);
            }
            Ok(())
        })
        .await?;
        Ok(numbers)
    }

    /// The bytes of all elements.
    pub(crate) async fn bytes<W: Watch>(
        &self,
        dataset: &Dataset,
        meter: &mut Meter<'_, W>,
    ) -> Result<Vec<u8>, Trouble> {
        let size = dataset.datatype.size();
        let length = dataset.count()?.saturating_mul(size);
        meter.room(length as u64)?;
        let mut all = vec![0; length];
        if let Some(fill) = dataset.fill().filter(|fill| !fill.is_empty()) {
            all.chunks_exact_mut(fill.len()).for_each(|element| element.copy_from_slice(fill));
        }
        dataset
            .runs(&self.store, meter, |first, bytes| {
                let start = first.saturating_mul(size);
                if let Some(part) = all.get_mut(start..start.saturating_add(bytes.len())) {
                    part.copy_from_slice(bytes);
                }
                Ok(())
            })
            .await?;
        Ok(all)
    }

    /// All texts of a data set; one that was never written is none.
    pub(crate) async fn texts<W: Watch>(
        &self,
        dataset: &Dataset,
        meter: &mut Meter<'_, W>,
    ) -> Result<Vec<Option<String>>, Trouble> {
        let bytes = self.bytes(dataset, meter).await?;
        self.texts_in(&bytes, dataset.datatype.size(), 0, &dataset.datatype, meter).await
    }

    /// The texts in one field of records of `step` bytes.
    pub(crate) async fn texts_in<W: Watch>(
        &self,
        bytes: &[u8],
        step: usize,
        offset: usize,
        datatype: &Datatype,
        meter: &mut Meter<'_, W>,
    ) -> Result<Vec<Option<String>>, Trouble> {
        let mut texts = Vec::new();
        let mut size = 0_u64;
        for record in bytes.chunks_exact(step.max(1)) {
            let text = match record.get(offset..offset.saturating_add(datatype.size())) {
                Some(bytes) => self.text(datatype, bytes).await?,
                None => None,
            };
            size += text.as_ref().map_or(0, |text| text.len() as u64) + 24;
            texts.push(text);
            if texts.len() % 4096 == 0 {
                meter.room(size)?;
                meter.tick(0).await?;
            }
        }
        Ok(texts)
    }

    /// One text.
    pub(crate) async fn text(&self, datatype: &Datatype, bytes: &[u8]) -> Result<Option<String>, Trouble> {
        match datatype {
            Datatype::Text { spaces, .. } => Ok(Some(fixed_text(bytes, *spaces))),
            Datatype::LongText { .. } => {
                let mut cursor = Cursor::new(bytes);
                let length = cursor.u32()?;
                let address = self.store.address(&mut cursor)?;
                let index = cursor.u32()?;
                let Some(address) = address.filter(|&address| address != 0 && index != 0) else {
                    return Ok(None);
                };
                // Taken out while it is used: nothing else asks for texts meanwhile, and nothing is borrowed.
                let mut global = self.texts.take();
                let found = global.get(&self.store, address, index, length).await;
                self.texts.replace(global);
                Ok(Some(fixed_text(&found?, false)))
            }
            _ => Ok(None),
        }
    }
}
