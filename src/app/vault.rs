//! Where a browser keeps things between visits: IndexedDB, which holds files and numbers of any size. Every call may be
//! refused: in private windows, by a policy, or because the disk is full.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Function, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Event, IdbDatabase, IdbKeyRange, IdbObjectStore, IdbRequest, IdbTransaction, IdbTransactionMode,
};

use super::tab;

const NAME: &str = "concord";
const VERSION: u32 = 1;
/// Milliseconds in which a browser opens a database, however busy it is.
const OPENING_MS: i32 = 10_000;
/// In which it writes or reads one thing; and a file, which may have some gigabytes and lie on a slow disk.
const WORKING_MS: i32 = 120_000;
const COPYING_MS: i32 = 3_600_000;
/// What is said of one that does neither.
const SILENT: &str = "it does not answer";

/// What is kept, by kind. Keys of works are their ids; those of the others begin with them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shelf {
    Works,
    Files,
    Reached,
}

impl Shelf {
    const ALL: [Self; 3] = [Self::Works, Self::Files, Self::Reached];

    fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Files => "files",
            Self::Reached => "reached",
        }
    }

    fn of(
        self,
        database: &IdbDatabase,
        mode: IdbTransactionMode,
    ) -> Result<(IdbTransaction, IdbObjectStore), JsValue> {
        let transaction = database.transaction_with_str_and_mode(self.name(), mode)?;
        let store = transaction.object_store(self.name())?;
        Ok((transaction, store))
    }
}

/// An open database. Clones share the connection.
#[derive(Clone)]
pub(super) struct Vault(Rc<RefCell<Connection>>);

/// A connection that is closed with its last owner: browsers keep one that is merely dropped.
struct Connection(IdbDatabase);

impl Drop for Connection {
    fn drop(&mut self) {
        // What has been asked of it is still done.
        self.0.close();
    }
}

impl Vault {
    pub(super) async fn open() -> Result<Self, JsValue> {
        Ok(Self(Rc::new(RefCell::new(Connection(connect().await?)))))
    }

    /// Works on the database, and once more on a new connection if the browser has closed this one in the meantime, when
    /// somebody clears what sites have stored or after a sleep, or does not answer on it.
    async fn with<T>(&self, work: impl AsyncFn(&IdbDatabase) -> Result<T, JsValue>) -> Result<T, JsValue> {
        self.with_timeout(WORKING_MS, work).await
    }

    async fn with_timeout<T>(
        &self,
        ms: i32,
        work: impl AsyncFn(&IdbDatabase) -> Result<T, JsValue>,
    ) -> Result<T, JsValue> {
        let database = self.0.borrow().0.clone();
        match in_time(ms, work(&database)).await {
            Err(error) if is_lost(&error) => {
                let again = connect().await?;
                self.0.replace(Connection(again.clone()));
                in_time(ms, work(&again)).await
            }
            outcome => outcome,
        }
    }

    pub(super) async fn put(&self, shelf: Shelf, key: &str, value: &JsValue) -> Result<(), JsValue> {
        let timeout = if shelf == Shelf::Files { COPYING_MS } else { WORKING_MS };
        self.with_timeout(timeout, async |database| {
            let (transaction, store) = shelf.of(database, IdbTransactionMode::Readwrite)?;
            store.put_with_key(value, &key.into())?;
            committed(&transaction).await.map(drop)
        })
        .await
    }

    pub(super) async fn get(&self, shelf: Shelf, key: &str) -> Result<JsValue, JsValue> {
        self.with(async |database| {
            let (_, store) = shelf.of(database, IdbTransactionMode::Readonly)?;
            answer(&store.get(&key.into())?).await
        })
        .await
    }

    /// All keys that begin so.
    pub(super) async fn keys(&self, shelf: Shelf, start: &str) -> Result<Vec<String>, JsValue> {
        let read = async |database: &IdbDatabase| {
            let (_, store) = shelf.of(database, IdbTransactionMode::Readonly)?;
            answer(&store.get_all_keys_with_key(&beginning(start)?)?).await
        };
        let keys = self.with(read).await?;
        Ok(Array::from(&keys).iter().filter_map(|key| key.as_string()).collect())
    }

    /// Everything whose key begins so.
    pub(super) async fn all(&self, shelf: Shelf, start: &str) -> Result<Vec<(String, JsValue)>, JsValue> {
        let read = async |database: &IdbDatabase| {
            let (_, store) = shelf.of(database, IdbTransactionMode::Readonly)?;
            let range = beginning(start)?;
            let (keys, values) = (store.get_all_keys_with_key(&range)?, store.get_all_with_key(&range)?);
            // Both are listened to before either is waited for.
            let (keys, values) = (answer(&keys), answer(&values));
            Ok((keys.await?, values.await?))
        };
        let (keys, values) = self.with(read).await?;
        let (keys, values) = (Array::from(&keys), Array::from(&values));
        let pairs = keys.iter().zip(values.iter());
        Ok(pairs.filter_map(|(key, value)| Some((key.as_string()?, value))).collect())
    }

    pub(super) async fn remove(&self, shelf: Shelf, key: &str) -> Result<(), JsValue> {
        self.remove_range(shelf, &key.into()).await
    }

    /// A key, or a range of them.
    async fn remove_range(&self, shelf: Shelf, keys: &JsValue) -> Result<(), JsValue> {
        self.with(async |database| {
            let (transaction, store) = shelf.of(database, IdbTransactionMode::Readwrite)?;
            store.delete(keys)?;
            committed(&transaction).await.map(drop)
        })
        .await
    }

    /// Removes a work with all that lies beside it.
    pub(super) async fn forget(&self, id: &str) -> Result<(), JsValue> {
        for shelf in Shelf::ALL {
            self.remove_range(shelf, &beginning(id)?).await?;
        }
        Ok(())
    }
}

async fn connect() -> Result<IdbDatabase, JsValue> {
    let factory = window().indexed_db()?.ok_or("this browser has no IndexedDB here")?;
    let request = factory.open_with_u32(NAME, VERSION)?;
    let opening = request.clone();
    let upgrade = Closure::once_into_js(move || {
        let Ok(database) = opening.result().and_then(JsCast::dyn_into::<IdbDatabase>) else {
            return;
        };
        for shelf in Shelf::ALL {
            // One that is there already stays.
            let _ = database.create_object_store(shelf.name());
        }
    });
    request.set_onupgradeneeded(Some(upgrade.unchecked_ref()));
    let database: IdbDatabase = in_time(OPENING_MS, answer(&request)).await?.dyn_into()?;
    // A newer version of the page, in another tab, has to wait for nobody.
    let own = database.clone();
    let give_way = Closure::once_into_js(move || own.close());
    database.set_onversionchange(Some(give_way.unchecked_ref()));
    Ok(database)
}

/// Some browsers are known not to answer at all, now and then.
async fn in_time<T>(ms: i32, work: impl Future<Output = Result<T, JsValue>>) -> Result<T, JsValue> {
    timeout::before(tab::rest(ms), work).await.unwrap_or_else(|| Err(SILENT.into()))
}

/// All keys that begin so.
fn beginning(start: &str) -> Result<JsValue, JsValue> {
    Ok(IdbKeyRange::bound(&start.into(), &format!("{start}\u{ffff}").into())?.into())
}

/// Listens at once; when one of the events happens, `get` says what came of it.
fn when(
    attach: impl FnOnce(&Function),
    get: impl FnOnce(&Event) -> Result<JsValue, JsValue> + 'static,
) -> JsFuture {
    let mut attach = Some(attach);
    let mut get = Some(get);
    let promise = Promise::new(&mut |resolve, reject| {
        let (Some(attach), Some(get)) = (attach.take(), get.take()) else { return };
        // Called once, by whichever event it is.
        let listener = Closure::once_into_js(move |event: Event| {
            let _ = match get(&event) {
                Ok(value) => resolve.call1(&JsValue::UNDEFINED, &value),
                Err(error) => reject.call1(&JsValue::UNDEFINED, &error),
            };
        });
        attach(listener.unchecked_ref());
    });
    JsFuture::from(promise)
}

/// What a request brings.
fn answer(request: &IdbRequest) -> JsFuture {
    let own = request.clone();
    let attach = |listener: &Function| {
        request.set_onsuccess(Some(listener));
        request.set_onerror(Some(listener));
    };
    when(attach, move |_| own.error()?.map_or_else(|| own.result(), |error| Err(error.into())))
}

/// Waits until what was written is safe: a disk may be full as late as that.
fn committed(transaction: &IdbTransaction) -> JsFuture {
    let own = transaction.clone();
    let attach = |listener: &Function| {
        transaction.set_oncomplete(Some(listener));
        transaction.set_onabort(Some(listener));
    };
    when(attach, move |event| match own.error() {
        Some(error) => Err(error.into()),
        // A database that is taken away gives its transactions up without a word.
        None if event.type_() == "abort" => Err(GIVEN_UP.into()),
        None => Ok(JsValue::UNDEFINED),
    })
}

const GIVEN_UP: &str = "the browser gave up writing";

fn name_of(error: &JsValue) -> Option<String> {
    Reflect::get(error, &"name".into()).ok()?.as_string()
}

/// Whether there is no room.
pub(super) fn is_full(error: &JsValue) -> bool {
    name_of(error).as_deref() == Some("QuotaExceededError")
}

/// Whether the connection, rather than what was asked of it, is what is wrong.
fn is_lost(error: &JsValue) -> bool {
    matches!(name_of(error).as_deref(), Some("InvalidStateError" | "UnknownError" | "AbortError"))
        || matches!(error.as_string().as_deref(), Some(GIVEN_UP | SILENT))
}

/// Why the browser refused, in words.
pub(super) fn reason(error: &JsValue) -> String {
    match name_of(error).as_deref() {
        Some("QuotaExceededError") => "its storage is full".into(),
        Some("SecurityError" | "InvalidStateError") => {
            "it does not let this page store anything, as in a private window".into()
        }
        Some("VersionError") => {
            "a newer version of this page has been here; reload the page to get that one".into()
        }
        _ => {
            let message = Reflect::get(error, &"message".into()).ok().and_then(|text| text.as_string());
            let said = message.or_else(|| error.as_string());
            let said = said.map(|text| text.trim_end_matches('.').to_owned());
            said.filter(|text| !text.is_empty()).unwrap_or_else(|| "it did not say why".into())
        }
    }
}
