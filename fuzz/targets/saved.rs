#![no_main]

use formats::write::model::Model;
use formats::write::onnx;
use formats::write::record::Record;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(model) = Model::load(data) {
        for side in [0, 1] {
            let inputs = model.sides[side].inputs;
            // What was accepted can be used.
            model.apply(side, 1, &vec![0.5; inputs]).expect("applies");
            onnx::encoder(&model, side).expect("exports");
        }
    }
    if let Ok(record) = Record::read(data) {
        record.write().expect("writes");
    }
});
