//! Tabs that ask each other what they have open, where a browser has no locks for them: a question goes to all, and
//! whoever holds something answers.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{BroadcastChannel, MessageEvent};

const NAME: &str = "concord-works";
/// The question; an answer is a name.
const WHO: &str = "?";
/// Milliseconds in which others answer, in the background too.
const PATIENCE: i32 = 300;

#[derive(Clone)]
pub(super) struct Circle {
    channel: BroadcastChannel,
    /// What this tab holds, and what others said since they were last asked.
    held: Rc<RefCell<HashSet<String>>>,
    heard: Rc<RefCell<HashSet<String>>>,
}

impl Circle {
    pub(super) fn join() -> Option<Self> {
        let channel = BroadcastChannel::new(NAME).ok()?;
        let circle = Self { channel, held: Rc::default(), heard: Rc::default() };
        let own = circle.clone();
        let listen = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            match event.data().as_string().as_deref() {
                Some(WHO) => own.held.borrow().iter().for_each(|id| own.say(id)),
                Some(id) => own.heard.borrow_mut().extend([id.to_owned()]),
                None => {}
            }
        });
        circle.channel.set_onmessage(Some(listen.as_ref().unchecked_ref()));
        // For as long as the page lives.
        listen.forget();
        Some(circle)
    }

    fn say(&self, word: &str) {
        // A channel that is open takes any text.
        let _ = self.channel.post_message(&word.into());
    }

    async fn others(&self) -> HashSet<String> {
        self.heard.borrow_mut().clear();
        self.say(WHO);
        super::rest(PATIENCE).await;
        self.heard.borrow().clone()
    }

    pub(super) async fn open_ones(&self) -> HashSet<String> {
        let mut all = self.others().await;
        all.extend(self.held.borrow().iter().cloned());
        all
    }

    /// Takes a work that nobody else says to have.
    pub(super) async fn take(&self, id: &str) -> bool {
        let free = !self.others().await.contains(id);
        if free {
            self.held.borrow_mut().insert(id.to_owned());
        }
        free
    }

    pub(super) fn give_back(&self, id: &str) {
        self.held.borrow_mut().remove(id);
    }
}
