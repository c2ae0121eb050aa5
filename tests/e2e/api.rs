//! The JavaScript API, called from pages that are not ours, and the example page.

use align::geometry::Dense;
use serde_json::json;

use crate::browser::{Page, Setup, open, open_at, with_page};
use crate::hands::{POINTS, clouds};
use crate::server::MOUNT;

/// A page on the same host that has nothing to do with the app.
const ELSEWHERE: &str = "no-page-of-ours";

/// Opens it, with both clouds at hand as `x` and `y`, and further rows as `newX` and `newY`.
async fn open_elsewhere(page: &Page) -> [Vec<usize>; 2] {
    open_elsewhere_in(page, MOUNT).await
}

/// The same, with the module from another folder of the host.
async fn open_elsewhere_in(page: &Page, folder: &str) -> [Vec<usize>; 2] {
    open_at(page, folder, ELSEWHERE).await;
    let (x, y, places) = clouds(5);
    let (new_x, new_y, new_places) = clouds(6);
    let table = |points: &Dense| {
        format!("{{ data: new Float32Array({:?}), rows: {POINTS}, cols: 6 }}", points.data())
    };
    page.script(&format!(
        "window.x = {}; window.y = {}; window.newX = {}; window.newY = {}; window.quick = {{ encoder: 'linear', executor: 'cpu' }};
         window.concord = () => import('./concord.js');
         window.rows = side => Array.from({{ length: side.rows }}, (_, i) => [...side.data.subarray(i * side.cols, (i + 1) * side.cols)]);",
        table(&x), table(&y), table(&new_x), table(&new_y)
    ))
    .await;
    [places, new_places]
}

/// How many of the matches are right.
fn right(matches: &serde_json::Value, places: &[usize]) -> usize {
    let matches = matches.as_array().expect("matches");
    assert_eq!(matches.len(), places.len());
    matches.iter().zip(places).filter(|(found, place)| found.as_u64() == Some(**place as u64)).count()
}

#[test]
fn the_example_page_aligns_a_sample() {
    with_page(Setup::default(), async |page| {
        open(&page, "example.html").await;
        page.wait_for("#matches li:nth-child(12)").await;
        let status = page.script("return document.getElementById('status').textContent").await;
        let status = status.as_str().expect("words");
        let right: u32 = status.split(' ').next().and_then(|word| word.parse().ok()).expect("a number");
        assert!(right > 60 && status.contains("of 351 words found"), "{status}");
        assert_eq!(page.count("header").await, 0, "the app itself is not started");
        page.shoot("example").await;
    });
}

#[test]
fn arrays_go_in_and_arrays_come_out() {
    with_page(Setup::default(), async |page| {
        let [places, new_places] = open_elsewhere(&page).await;
        let script = "
            const { default: init, align, apply } = await concord();
            await init();
            const seen = [];
            const lump = Array.from({ length: 90 }, (_, i) => `lump ${i % 3}`);
            const true_pairs = [];
            window.result = await align({ ...x, labels: lump }, y, { ...quick, true_pairs: PLACES.map((j, i) => [i, j]) }, p => seen.push(p));
            const { matches, confidence, share, reverse, top, embedding, plane, model, scores, seconds, executor, candidates, chosen, rival } = result;
            const kinds = [matches, share, reverse.matches, top.rows, top.shares, embedding.x, plane.y, model].map(a => a.constructor.name);
            const lengths = [matches, confidence, share, reverse.confidence, reverse.share, reverse.matches, embedding.x, embedding.y, embedding.projected, plane.x, top.rows, top.shares]
              .map(a => a.length);
            const applied = await apply(model, newX, newY, { executor: 'cpu' });
            return {
              matches: [...matches], kinds, lengths, cols: [embedding.cols, top.cols], scores: Object.keys(scores), spearman: scores.spearman,
              foscttm: scores.foscttm.value, seconds, executor, candidates: candidates.length, chosen, rival, model: model.length,
              first: [...matches].every((row, i) => top.rows[i * top.cols] === row),
              sure: [...confidence, ...reverse.confidence].every(c => c >= 0 && c <= 1.0001),
              shares: [...share].every((s, i) => s >= 0 && s <= 1.0001 && Math.abs(s - top.shares[i * top.cols]) < 1e-3),
              progress: seen.length, fields: Object.keys(seen[0]).sort(), rising: seen.every((p, i) => p.share >= (i ? seen[i - 1].share : 0) && p.share <= 1), last: seen.at(-1).share,
              applied: [...applied.matches], appliedLengths: [applied.confidence.length, applied.share.length], appliedCandidates: applied.candidates.length, header: document.querySelector('header') !== null,
            };"
        .replace("PLACES", &format!("{places:?}"));
        let answer = page.async_script(&script).await;
        let got = &answer["value"];
        assert!(got.is_object(), "{answer}");
        assert!(right(&got["matches"], &places) > 80, "{got}");
        let kinds =
            ["Uint32Array", "Float32Array", "Uint32Array", "Uint32Array", "Float32Array", "Float32Array"];
        assert_eq!(got["kinds"], json!([&kinds[..], &["Float32Array", "Uint8Array"]].concat()));
        let (cols, top) =
            (got["cols"][0].as_u64().expect("columns"), got["cols"][1].as_u64().expect("columns"));
        let n = POINTS as u64;
        assert_eq!(
            got["lengths"],
            json!([n, n, n, n, n, n, n * cols, n * cols, n * cols, 2 * n, n * top, n * top]),
            "one row a row"
        );
        for score in ["spearman", "gw-loss", "entropy", "marginal-error", "foscttm", "exact-match"] {
            assert!(
                got["scores"].as_array().is_some_and(|all| all.contains(&json!(score))),
                "{score}: {got}"
            );
        }
        assert!(got["spearman"]["value"].as_f64() > got["spearman"]["chance"].as_f64(), "{got}");
        assert!(got["foscttm"].as_f64().is_some_and(|share| share < 0.05), "{got}");
        for held in ["first", "sure", "shares", "rising"] {
            assert_eq!(got[held], json!(true), "{held}: {got}");
        }
        assert_eq!(got["appliedLengths"], json!([0, n]), "confidence is measured where a run has trained");
        assert_eq!(got["executor"], "cpu");
        assert_eq!(got["fields"], json!(["done", "phase", "share", "total"]));
        assert_eq!(got["last"].as_f64(), Some(1.0), "a bar that follows it is full in the end");
        assert!(got["progress"].as_u64() > Some(3) && got["candidates"].as_u64() > Some(0), "{got}");
        assert_eq!(got["chosen"], json!(0));
        assert!(got["seconds"]["total"].as_f64() >= got["seconds"]["train"].as_f64(), "{got}");
        assert!(got["model"].as_u64() > Some(500), "{got}");
        // New rows, by the model alone.
        assert!(right(&got["applied"], &new_places) > 70, "{got}");
        assert_eq!(got["appliedCandidates"], json!(0));
        assert_eq!(got["header"], json!(false), "importing the API does not start the app");
    });
}

#[test]
fn the_same_numbers_in_another_form_and_at_the_same_time_give_the_same() {
    with_page(Setup::default(), async |page| {
        open_elsewhere(&page).await;
        let script = "
            const { align } = await concord();
            const order = [];
            const run = (name, x, y) => align(x, y, quick).then(result => (order.push(name), [...result.matches].join()));
            const results = await Promise.all([
              run('typed', x, y),
              run('rows', rows(x), rows(y)),
              run('double', { ...x, data: Float64Array.from(x.data) }, { ...y, data: [...y.data] }),
            ]);
            // What is passed is copied: changed arrays change nothing.
            const early = align(x, y, quick);
            x.data.fill(0);
            return [order, new Set([...results, [...(await early).matches].join()]).size];";
        let answer = page.async_script(script).await;
        assert_eq!(answer["value"], json!([["typed", "rows", "double"], 1]), "{answer}");
    });
}

#[test]
fn what_cannot_be_used_is_refused_in_words() {
    with_page(Setup::default(), async |page| {
        open_elsewhere(&page).await;
        let cases = [
            ("align()", "TypeError: x is missing. Give { data, rows, cols }"),
            ("align(x)", "TypeError: y is missing"),
            ("align('x', y)", "TypeError: x is a value of type string"),
            ("align({ rows: 3, cols: 3 }, y)", "TypeError: x is an object without data"),
            ("align({ ...x, cols: 7 }, y)", "540 numbers, but 90 rows of 7 columns take 630"),
            ("align({ ...x, rows: 1.5 }, y)", "x.rows has to be a whole number"),
            (
                "align({ ...x, data: x.data.map((v, i) => i === 27 ? NaN : v) }, y)",
                "row 4, column 3 (counted from 0)",
            ),
            ("align({ ...x, data: [...x.data].map((v, i) => i === 8 ? null : v) }, y)", "x.data[8] is null"),
            ("align(x, [[1, 2], [1, 2], [1, 2], [1]])", "y[3] has 1 numbers and y[0] has 2"),
            ("align(x, [[1, 2], [1, 2]])", "y has 2 rows and 2 columns. Give at least 4 rows"),
            (
                "align({ ...x, data: new BigInt64Array(540) }, y)",
                "x.data is a value of type object. Give an array of numbers",
            ),
            ("align({ ...x, labels: ['a'] }, y)", "x.labels has 1 entries for 90 rows"),
            ("align(x, y, 3)", "TypeError: options has to be an object"),
            ("align(x, y, { step: 3 })", "align has no option called “step”. There are: activation,"),
            ("align(x, y, { steps: 'many' })", "options.steps is \"many\". Give a whole number"),
            ("align(x, y, { rate: NaN })", "options.rate is NaN. Give a finite number"),
            (
                "align(x, y, { steps: 0 })",
                "Error: The number of steps is 0. It has to be between 1 and 20000.",
            ),
            ("align(x, y, { loss: 'kind' })", "no loss called “kind”. Choose one of: classic"),
            (
                "align(x, y, { distance_x: 'given', distance_y: 'given' })",
                "Error: Given distances were chosen",
            ),
            ("align(x, y, { executor: 'tpu' })", "options.executor has to be \"auto\", \"cpu\" or \"gpu\"."),
            (
                "align(x, y, { known_pairs: [[0, 90]] })",
                "options.known_pairs[0] is [0, 90]. Give a row of x from 0 to 89",
            ),
            ("align(x, y, { known_pairs: [[0, 1], null] })", "options.known_pairs[1] is no pair"),
            ("align(x, y, { known_pairs: [[0, 1], [2]] })", "options.known_pairs[1] is no pair"),
            ("align(x, y, { signal: 3 })", "options.signal is no AbortSignal"),
            ("align(x, y, {}, 'call me')", "onProgress has to be a function"),
            ("align(x, y, quick, () => { throw new RangeError('enough'); })", "RangeError: enough"),
            ("apply(3, x, y)", "TypeError: The model has to be a Uint8Array"),
            ("apply(new Uint8Array(90), x, y)", "Error: "),
            ("apply(new Uint8Array(9), x, y, { steps: 3 })", "apply has no option called “steps”"),
        ];
        let calls: Vec<String> = cases.iter().map(|(call, _)| format!("() => {call}")).collect();
        let script = format!(
            "const {{ align, apply }} = await concord();
             const said = [];
             for (const call of [{}]) said.push(await call().then(() => 'nothing', e => `${{e.name}}: ${{e.message}}`));
             return said;",
            calls.join(", ")
        );
        let answer = page.async_script(&script).await;
        let said = answer["value"].as_array().unwrap_or_else(|| panic!("{answer}"));
        for ((call, words), said) in cases.iter().zip(said) {
            assert!(said.as_str().is_some_and(|said| said.contains(words)), "{call}: {said}, not {words}");
        }
    });
}

#[test]
fn a_call_can_be_given_up_in_its_turn_and_before() {
    with_page(Setup::default(), async |page| {
        let [places, _] = open_elsewhere(&page).await;
        let script = "
            const { align } = await concord();
            const name = promise => promise.then(() => 'done', error => [error.name, error instanceof DOMException]);
            const [now, queued, never] = [0, 0, 0].map(() => new AbortController());
            never.abort();
            let waited = false;
            const running = name(align(x, y, { executor: 'cpu', signal: now.signal }, () => { if (waited) now.abort(); }));
            const waiting = name(align(x, y, { signal: queued.signal }));
            const late = align(x, y, quick);
            queued.abort();
            const aborted = await waiting;
            waited = true;
            return [await name(align(x, y, { signal: never.signal })), aborted, await running, [...(await late).matches]];";
        let answer = page.async_script(script).await;
        let got = &answer["value"];
        for at in 0..3 {
            assert_eq!(got[at], json!(["AbortError", true]), "{at}: {answer}");
        }
        assert!(right(&got[3], &places) > 80, "the next one has its turn: {answer}");
    });
}

/// Even in the moment in which it was made, with the module there.
#[test]
fn a_call_can_be_given_up_at_once() {
    with_page(Setup::default(), async |page| {
        open_elsewhere(&page).await;
        let script = "
            const { default: init, align } = await concord();
            await init();
            const name = promise => promise.then(() => 'done', error => error.name);
            const [now, queued] = [0, 0].map(() => new AbortController());
            const running = name(align(x, y, { ...quick, signal: now.signal }));
            const waiting = name(align(x, y, { ...quick, signal: queued.signal }));
            queued.abort();
            now.abort();
            return [await waiting, await running, await name(align(x, y, quick))];";
        let answer = page.async_script(script).await;
        assert_eq!(answer["value"], json!(["AbortError", "AbortError", "done"]), "{answer}");
    });
}

/// A worker that dies in the midst of a call is replaced, and the call goes on from what it had reached.
#[test]
fn a_call_survives_its_worker() {
    with_page(Setup::default(), async |page| {
        let [places, _] = open_elsewhere(&page).await;
        let script = "
            const workers = [];
            const Original = Worker;
            window.Worker = class extends Original { constructor(...asked) { super(...asked); workers.push(this); } };
            const { align } = await concord();
            const options = { executor: 'cpu', steps: 1500, encoder: 'mlp' };
            const undisturbed = await align(x, y, options);
            workers.length = 0;
            let killed = false;
            const shares = [];
            const result = await align(x, y, options, ({ phase, share, done }) => {
              shares.push(share);
              if (!killed && phase === 'training' && done > 900) {
                killed = true;
                workers[0].dispatchEvent(new ErrorEvent('error', { message: 'an end of its own' }));
              }
            });
            return {
              killed, workers: workers.length, matches: [...result.matches],
              same: [...result.matches].join() === [...undisturbed.matches].join() && result.scores.spearman.value === undisturbed.scores.spearman.value,
              rising: shares.every((share, i) => !i || share >= shares[i - 1]),
            };";
        let answer = page.async_script(script).await;
        let got = &answer["value"];
        assert_eq!((&got["killed"], &got["workers"]), (&json!(true), &json!(2)), "{answer}");
        assert_eq!((&got["same"], &got["rising"]), (&json!(true), &json!(true)), "{answer}");
        assert!(right(&got["matches"], &places) > 60, "{answer}");
    });
}

/// In a page whose policy forbids everything that is not needed, as that of the app itself.
#[test]
fn calls_work_under_a_strict_policy() {
    with_page(Setup::default(), async |page| {
        let [places, _] = open_elsewhere(&page).await;
        let tables = page.script("return JSON.stringify([rows(x), rows(y)])").await;
        open(&page, "?executor=cpu&sample=none").await;
        page.wait_for("[data-testid=executor][data-executor=cpu]").await;
        let script = format!(
            "const refused = [];
             document.addEventListener('securitypolicyviolation', event => refused.push(event.violatedDirective));
             const [x, y] = {};
             const {{ align }} = await import(new URL('./concord.js', document.baseURI));
             const options = {{ encoder: 'linear', executor: 'cpu', signal: new AbortController().signal }};
             const {{ matches }} = await align(x, y, options);
             return [refused, [...matches]];",
            tables.as_str().expect("tables")
        );
        let answer = page.async_script(&script).await;
        assert_eq!(answer["value"][0], json!([]), "{answer}");
        assert!(right(&answer["value"][1], &places) > 80, "{answer}");
    });
}

/// A page whose policy forbids workers, or a bundled module: whoever calls hears it, and so does who calls next.
#[test]
fn a_page_without_workers_is_told_so() {
    with_page(Setup::default(), async |page| {
        open_elsewhere_in(&page, "/no-worker/").await;
        let script = "
            const { align } = await concord();
            const said = () => align(x, y, quick).then(() => 'done', error => [error.message, error.hint]);
            return [await said(), await said()];";
        let answer = page.async_script(script).await;
        for at in 0..2 {
            let said = &answer["value"][at];
            assert!(said[0].as_str().is_some_and(|words| words.contains("blocked")), "{answer}");
            assert!(said[1].as_str().is_some_and(|words| words.contains("worker-src blob:")), "{answer}");
        }
    });
}

#[test]
fn what_is_wrong_is_told_before_the_call_waits_for_its_turn() {
    with_page(Setup::default(), async |page| {
        open_elsewhere(&page).await;
        let script = "
            const { default: init, align } = await concord();
            await init();
            const order = [];
            const tell = (name, call) => call.then(() => order.push(name), error => order.push(`${name}: ${error.message}`));
            const thrower = new Proxy({}, { ownKeys() { throw new RangeError('no keys'); } });
            await Promise.all([
              tell('first', align(x, y, quick)),
              tell('kind', align(x, y, { steps: 'many' })),
              tell('thrown', align(x, y, thrower)),
            ]);
            return order;";
        let answer = page.async_script(script).await;
        let said = answer["value"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(said.last(), Some(&json!("first")), "{answer}");
        for words in ["kind: options.steps is", "thrown: no keys"] {
            assert!(said.iter().any(|said| said.as_str().is_some_and(|s| s.starts_with(words))), "{answer}");
        }
    });
}

/// Objects that were made in another frame have other classes than those of the page.
#[test]
fn what_comes_from_another_frame_is_taken() {
    with_page(Setup::default(), async |page| {
        let [places, _] = open_elsewhere(&page).await;
        let script = "
            const { align, apply } = await concord();
            const frame = document.body.appendChild(document.createElement('iframe')).contentWindow;
            const moved = side => ({ ...side, data: frame.Float32Array.from(side.data) });
            const { signal } = new frame.AbortController();
            // Of the second side nobody knows a label, so there is nothing to score.
            const labels = name => Array.from({ length: 90 }, name);
            const known = { ...moved(x), labels: labels((_, i) => 'ab'[i % 2]) };
            const result = await align(known, { ...moved(y), labels: labels(() => null) }, { ...quick, signal });
            const applied = await apply(frame.Uint8Array.from(result.model), x, y, { executor: 'cpu' });
            const aborted = new frame.AbortController();
            aborted.abort();
            const given_up = await align(x, y, { signal: aborted.signal }).then(() => 'done', error => error.name);
            return [[...result.matches], [...applied.matches], Object.keys(result.scores), result.findings, given_up];";
        let answer = page.async_script(script).await;
        let got = &answer["value"];
        assert!(right(&got[0], &places) > 80 && right(&got[1], &places) > 80, "{answer}");
        assert!(!got[2].to_string().contains("label-transfer"), "{answer}");
        assert!(!got[3].to_string().contains("By the labels"), "{answer}");
        assert_eq!(got[4], json!("AbortError"), "{answer}");
    });
}

#[test]
fn a_call_can_be_given_up_while_the_module_is_on_its_way() {
    with_page(Setup::default(), async |page| {
        open_elsewhere(&page).await;
        let script = "
            const { align } = await concord();
            // The module is asked for, and nothing comes.
            window.fetch = () => new Promise(() => {});
            const stop = new AbortController();
            setTimeout(() => stop.abort(), 200);
            return await align(x, y, { signal: stop.signal }).then(() => 'done', error => error.name);";
        let answer = page.async_script(script).await;
        assert_eq!(answer["value"], json!("AbortError"), "{answer}");
    });
}
