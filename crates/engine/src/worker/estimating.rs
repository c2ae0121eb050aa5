//! What an alignment would take, told before it starts and learned from when it has ended.

use js_sys::Reflect;

use super::aligning::{Refusal, Task};
use super::scope::{now, post, scope};
use super::serve::kind;
use align::geometry::panel::default_panel;
use align::procedure::{Failure as Fault, Settings};
use analysis::estimate::{Machine, Size, estimate};
use analysis::pace::Pace;
use analysis::room::matching;
use analysis::{options, pace};
use compute::exec::ExecError;
use schema::{AlignOptions, Estimate, Event, Side, Slot};

/// The most a tab's module can address is 4 GiB; the rest is for the page's own needs.
const ADDRESSABLE: f64 = 3.5 * GIB;
const GIB: f64 = (1u64 << 30) as f64;

impl Task<'_> {
    /// Tells what an alignment with these options would take.
    pub(super) async fn estimate(&self, options: &AlignOptions) -> Result<(), Refusal> {
        // Settings that cannot be are told elsewhere.
        let foretold = match options::settings(options) {
            Ok(settings) => self.foretell(&settings).await?,
            Err(_) => None,
        };
        post(self.run, Event::Estimated(foretold), Vec::new());
        Ok(())
    }

    /// What an alignment with these settings takes; none while a side is missing.
    async fn foretell(&self, settings: &Settings) -> Result<Option<Estimate>, Refusal> {
        let Some(size) = self.size(settings) else { return Ok(None) };
        let machine = self.machine().await.map_err(Fault::Device)?;
        Ok(Some(estimate(&size, settings, &machine)))
    }

    /// Makes the subsample as large as fits, or refuses what does not.
    pub(super) async fn fit(&self, settings: &mut Settings) -> Result<Option<Estimate>, Refusal> {
        let foretold = self.foretell(settings).await?;
        if let Some(foretold) = &foretold {
            if let Some(refusal) = &foretold.refusal {
                return Err(Refusal::Words(refusal.clone()));
            }
            settings.sample = settings.sample.min(foretold.sample as usize);
        }
        Ok(foretold)
    }

    /// Refuses to match rows for which there is no memory, by encoders that were trained before.
    pub(super) fn room_to_match(
        &self,
        rows: [usize; 2],
        cols: [usize; 2],
        dim: usize,
    ) -> Result<(), Refusal> {
        // How fast the device is does not matter here.
        let pace = Pace { product: 0.0, host: 0.0, entry: 0.0, dispatch: 0.0, correction: 1.0 };
        let buffer = self.device.largest_buffer();
        let machine = Machine { executor: kind(self.device), pace, buffer, memory: memory() };
        let size = Size { rows, cols, measures: default_panel(cols).len() };
        matching(&size, dim, &machine).map_or(Ok(()), |refusal| Err(Refusal::Words(refusal)))
    }

    /// Remembers how long a run has taken beside what was foretold.
    pub(super) fn learn(&self, foretold: f64, seconds: f64) {
        if let Some(pace) = &mut self.desk.borrow_mut().pace {
            pace.learn(foretold, seconds);
        }
    }

    fn size(&self, settings: &Settings) -> Option<Size> {
        let desk = self.desk.borrow();
        let given = Side::BOTH.map(|side| desk.table(Slot::Distances(side)).map(|table| &table.points));
        let [x, y] = Side::BOTH
            .map(|side| desk.table(Slot::Features(side)).map(|table| &table.points).or(given[side.index()]));
        let (x, y) = (x?, y?);
        let cols = [x.cols(), y.cols()];
        let measures = match settings.measures.len() {
            0 if given.iter().any(Option::is_some) => 1,
            0 => default_panel(cols).len(),
            chosen => chosen,
        };
        Some(Size { rows: [x.rows(), y.rows()], cols, measures })
    }

    /// The device, measured the first time it is asked for.
    async fn machine(&self) -> Result<Machine, ExecError> {
        let known = self.desk.borrow().pace;
        let pace = match known {
            Some(pace) => pace,
            None => {
                let pace = pace::measure(self.device, || now() / 1000.0).await?;
                *self.desk.borrow_mut().pace.insert(pace)
            }
        };
        let buffer = self.device.largest_buffer();
        Ok(Machine { executor: kind(self.device), pace, buffer, memory: memory() })
    }
}

/// The memory a tab may take: half of the machine's, where the browser tells how much that is.
pub(super) fn memory() -> u64 {
    let navigator = Reflect::get(&scope(), &"navigator".into());
    let told = navigator.and_then(|navigator| Reflect::get(&navigator, &"deviceMemory".into()));
    let half = told.ok().and_then(|gigabytes| gigabytes.as_f64()).map_or(ADDRESSABLE, |g| 0.5 * g * GIB);
    half.min(ADDRESSABLE) as u64
}
