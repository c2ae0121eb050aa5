//! The functions that a page calls.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;

use super::asked::{Asked, wrong};
use super::options::merged;
use super::result::Answer;
use super::session::{Abort, Ended, Session};
use super::turn::Turn;
use super::values::{Given, bytes};
use schema::{Command, Diagnostics, Event, ExecutorChoice, Side, Slot, as_bulk};

/// Aligns two data sets; see `docs/api.md`. What is passed is read before this returns, so that the caller may change it.
#[wasm_bindgen(skip_typescript)]
pub fn align(x: &JsValue, y: &JsValue, options: &JsValue, on_progress: &JsValue) -> Promise {
    console_error_panic_hook::set_once();
    let asked = Asked::read("align", x, y, options, on_progress);
    future_to_promise(async move {
        played(asked?, [Slot::Features, Slot::Labels], Slot::Truth, |session, asked, diagnostics| {
            let options = merged(&diagnostics.defaults, &asked.settings).map_err(|words| wrong(&words))?;
            let (reached, bulk) = session.reached();
            let pairs = asked.known_pairs.clone();
            session.tell(Command::Align { options: Box::new(options), pairs, reached }, bulk);
            Ok(())
        })
        .await
    })
}

/// Applies the model of an earlier alignment to other rows; see `docs/api.md`.
#[wasm_bindgen(skip_typescript)]
pub fn apply(model: &JsValue, x: &JsValue, y: &JsValue, options: &JsValue, on_progress: &JsValue) -> Promise {
    console_error_panic_hook::set_once();
    let bytes = bytes(model).ok_or_else(|| {
        wrong(
            "The model has to be a Uint8Array: the model of a result, or a model.safetensors that was saved.",
        )
    });
    let asked = bytes.and_then(|bytes| Ok((bytes, Asked::read("apply", x, y, options, on_progress)?)));
    future_to_promise(async move {
        let (bytes, asked) = asked?;
        played(asked, [Slot::New, Slot::NewLabels], Slot::NewTruth, |session, _, _| {
            let give = Command::Give {
                slot: Slot::Model,
                count: bytes.len() as u32,
                names: Vec::new(),
                wide: Vec::new(),
            };
            session.tell(give, vec![as_bulk(&bytes)]);
            session.tell(Command::Apply, Vec::new());
            Ok(())
        })
        .await
    })
}

/// Workers that a call may lose before it is given up, and those after which the graphics device is left alone.
const ATTEMPTS: u32 = 3;
const TRUST: u32 = 2;

/// Plays a call in a worker of its own, when its turn has come. A worker that is lost is replaced, and the next goes on
/// from what the run had reached.
async fn played(
    mut asked: Asked,
    slots: [fn(Side) -> Slot; 2],
    truth: Slot,
    work: impl Fn(&Session, &Asked, &Diagnostics) -> Result<(), JsValue>,
) -> Result<JsValue, JsValue> {
    let turn = Turn::new();
    {
        let aborted = asked.signal.as_ref().map(Abort::promise);
        let (promise, _abort) = aborted.map_or((None, None), |(promise, abort)| (Some(promise), Some(abort)));
        turn.comes(promise).await?;
    }
    let start = js_sys::Date::now();
    let session = Session::new(asked.signal.as_ref(), asked.on_progress.take());
    let mut losses = 0;
    loop {
        match attempt(&session, &asked, slots, truth, &work).await {
            Err(Ended::Lost { on_cpu, .. }) if losses < ATTEMPTS => {
                losses += 1;
                if on_cpu || losses >= TRUST {
                    asked.choice = ExecutorChoice::CpuAfterFailures;
                }
            }
            Err(ended) => return Err(ended.into()),
            Ok(mut answer) => {
                answer.seconds = (js_sys::Date::now() - start) / 1000.0;
                return answer.into_value();
            }
        }
    }
}

/// Gives a new worker the data, has `work` give the command that ends in an outcome, and takes what came of it.
async fn attempt(
    session: &Session,
    asked: &Asked,
    [table, labels]: [fn(Side) -> Slot; 2],
    truth: Slot,
    work: impl Fn(&Session, &Asked, &Diagnostics) -> Result<(), JsValue>,
) -> Result<Answer, Ended> {
    session.until(|event, _| matches!(event, Event::Ready).then_some(())).await?;
    session.tell(Command::Open { choice: asked.choice }, Vec::new());
    let diagnostics = session.until(|event, _| match event {
        Event::Opened(diagnostics) => Some(diagnostics),
        _ => None,
    });
    let diagnostics = diagnostics.await?;
    for side in Side::BOTH {
        let Given { cells, labels: named } = &asked.sides[side.index()];
        let wide = cells.remainders.iter().map(|left| left.column as u32).collect();
        let give = Command::Give { slot: table(side), count: cells.rows as u32, names: Vec::new(), wide };
        let remainders = cells.remainders.iter().map(|left| left.values.clone());
        session.tell(give, std::iter::once(cells.values.clone()).chain(remainders).collect());
        if let Some((names, codes)) = named {
            let (slot, count, names) = (labels(side), codes.len() as u32, names.clone());
            let give = Command::Give { slot, count, names, wide: Vec::new() };
            session.tell(give, vec![codes.clone()]);
        }
    }
    if !asked.true_pairs.is_empty() {
        let flat = asked.true_pairs.iter().flat_map(|(x, y)| [*x as f32, *y as f32]).collect();
        let count = asked.true_pairs.len() as u32;
        let give = Command::Give { slot: truth, count, names: Vec::new(), wide: Vec::new() };
        session.tell(give, vec![flat]);
    }
    work(session, asked, &diagnostics)?;
    let aligned = session.until(|event, bulk| match event {
        Event::Aligned(outcome) => Some((*outcome, bulk)),
        _ => None,
    });
    let (outcome, bulk) = aligned.await?;
    session.tell(Command::Take, Vec::new());
    let taken = session.until(|event, bulk| match event {
        Event::Taken { dim, top, model } => Some((dim, top, model, bulk)),
        _ => None,
    });
    let (dim, top, model, taken) = taken.await?;
    session.has_ended()?;
    Ok(Answer { diagnostics, outcome, bulk, dim, top, model, taken, seconds: 0.0 })
}
