//! Messages survive the real way between page and worker: through serde-wasm-bindgen and a structured
//! clone that transfers their buffers.

use crate::common::block_on_test;
use js_sys::{ArrayBuffer, Function, Object, Reflect};
use schema::{
    CheckRow, Command, Diagnostics, Event, ExecutorChoice, ExecutorKind, Failure, Message, Recovery, RunId,
    pack, unpack,
};
use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::{JsCast, JsValue};

fn there_and_back<T: Serialize + DeserializeOwned>(message: &Message<T>) -> Message<T> {
    let (value, transfer) = pack(message).expect("packs");
    let options = Object::new();
    Reflect::set(&options, &"transfer".into(), &transfer).expect("sets");
    let clone: Function =
        Reflect::get(&js_sys::global(), &"structuredClone".into()).expect("exists").unchecked_into();
    let arrived = clone.call2(&JsValue::NULL, &value, &options).expect("clones");
    for buffer in transfer.iter() {
        assert_eq!(buffer.unchecked_into::<ArrayBuffer>().byte_length(), 0, "the buffer was moved");
    }
    unpack(&arrived).expect("unpacks")
}

block_on_test! {
    async fn every_event_arrives_as_it_was_sent() {
        let failure = Failure {
            message: "what".into(),
            hint: "next".into(),
            details: "why".into(),
            recovery: Recovery::RestartWorker,
            ways: Vec::new(),
        };
        let diagnostics = Diagnostics {
            executor: ExecutorKind::Gpu,
            reason: "because".into(),
            adapter: Some("a".into()),
            software: true,
            limits: vec![("maxBufferSize".into(), 1 << 40)],
            kernels: 9,
            defaults: Box::default(),
        };
        let row = CheckRow {
            kernel: "k".into(),
            summary: "s".into(),
            cases: 3,
            worst_error: f32::INFINITY,
            worst_ratio: 0.5,
            worst_case: "w".into(),
        };
        let events = [
            Event::Ready,
            Event::Opened(diagnostics),
            Event::DemoStarted { side: 48, executor: ExecutorKind::Cpu },
            Event::DemoLosses { first_step: 3, steps: 600 },
            Event::DemoPicture { side: 48 },
            Event::Checked(row),
            Event::Finished,
            Event::Failed(failure),
        ];
        for (i, body) in (0..).zip(events) {
            let sent = Message { run: RunId(7 + i), body, bulk: vec![vec![0.5, -1.0, f32::MAX], Vec::new()] };
            assert_eq!(there_and_back(&sent), sent);
        }
    }
}

block_on_test! {
    async fn every_command_arrives_as_it_was_sent() {
        let commands = [
            Command::Open { choice: ExecutorChoice::Gpu },
            Command::Demo { seed: 5 },
            Command::SelfCheck,
            Command::Pause,
            Command::Drill { fault: schema::Fault::LoseDevice },
        ];
        for body in commands {
            let sent = Message::new(RunId(1), body);
            assert_eq!(there_and_back(&sent), sent);
        }
    }
}

block_on_test! {
    async fn what_is_no_message_is_refused() {
        for value in [JsValue::NULL, JsValue::from(3), Object::new().into()] {
            assert!(unpack::<Event>(&value).is_err());
        }
    }
}
