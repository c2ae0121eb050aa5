//! Real pointers on the views: mouse, wheel, finger and keys, as the browser gets them from a machine.

use std::time::Duration;

use fantoccini::actions::{
    InputSource, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction, TouchActions,
    WheelAction, WheelActions,
};

use crate::browser::Page;

/// A place in the window.
pub(crate) type Place = (f64, f64);

fn to((x, y): Place) -> PointerAction {
    PointerAction::MoveTo { duration: Some(Duration::ZERO), x, y }
}

const DOWN: PointerAction = PointerAction::Down { button: MOUSE_BUTTON_LEFT };
const UP: PointerAction = PointerAction::Up { button: MOUSE_BUTTON_LEFT };
/// As WebDriver names these keys.
pub(crate) const SHIFT: char = '\u{e008}';
pub(crate) const CONTROL: char = '\u{e009}';
pub(crate) const RIGHT: char = '\u{e014}';

impl Page {
    /// Brings a view into sight and tells where it is: left, top, width, height.
    pub(crate) async fn view(&self, testid: &str) -> [f64; 4] {
        let script = format!(
            "const view = document.querySelector('[data-view={testid}]');
             view.scrollIntoView({{ block: 'center', behavior: 'instant' }});
             const r = view.getBoundingClientRect();
             return [r.left, r.top, r.width, r.height];"
        );
        let found = self.script(&script).await;
        [0, 1, 2, 3].map(|i| found[i].as_f64().expect("a number"))
    }

    /// How often larger than whole a view is, and what is in its middle.
    pub(crate) async fn zoom(&self, testid: &str) -> (f64, Place) {
        let script = format!(
            "const data = document.querySelector('[data-testid={testid}]').dataset;
             return [data.zoom, ...data.centre.split(' ')].map(Number);"
        );
        let found = self.script(&script).await;
        let [times, x, y] = [0, 1, 2].map(|i| found[i].as_f64().expect("a number"));
        (times, (x, y))
    }

    pub(crate) async fn hover(&self, at: Place) {
        let mouse = MouseActions::new("mouse".into()).then(to(at));
        self.client.perform_actions(mouse).await.expect("moves");
    }

    pub(crate) async fn click_at(&self, at: Place) {
        let mouse = MouseActions::new("mouse".into()).then(to(at)).then(DOWN).then(UP);
        self.client.perform_actions(mouse).await.expect("clicks");
        // Two clicks of one hand are not a double click.
        self.sleep(600).await;
    }

    pub(crate) async fn double_click_at(&self, at: Place) {
        let mouse = MouseActions::new("mouse".into()).then(to(at)).then(DOWN).then(UP).then(DOWN).then(UP);
        self.client.perform_actions(mouse).await.expect("clicks");
    }

    pub(crate) async fn drag(&self, from: Place, by: Place) {
        let half = (from.0 + by.0 / 2.0, from.1 + by.1 / 2.0);
        let end = (from.0 + by.0, from.1 + by.1);
        let mouse =
            MouseActions::new("mouse".into()).then(to(from)).then(DOWN).then(to(half)).then(to(end)).then(UP);
        self.client.perform_actions(mouse).await.expect("drags");
    }

    pub(crate) async fn tap(&self, at: Place) {
        let finger = TouchActions::new("finger".into()).then(to(at)).then(DOWN).then(UP);
        self.client.perform_actions(finger).await.expect("taps");
    }

    pub(crate) async fn wheel(&self, at: Place, delta_y: i64) {
        let (x, y) = (at.0 as i64, at.1 as i64);
        let scroll = WheelAction::Scroll { duration: None, x, y, delta_x: 0, delta_y };
        self.client.perform_actions(WheelActions::new("wheel".into()).then(scroll)).await.expect("turns");
    }

    /// Presses a key, or lets it go.
    pub(crate) async fn key(&self, action: KeyAction) {
        self.client.perform_actions(KeyActions::new("keys".into()).then(action)).await.expect("a key");
    }

    pub(crate) async fn press(&self, value: char) {
        self.key(KeyAction::Down { value }).await;
        self.key(KeyAction::Up { value }).await;
    }

    /// What the tooltip says, if there is one.
    pub(crate) async fn tooltip(&self) -> Option<String> {
        let script = "const tip = document.querySelector('[data-testid=tooltip] strong'); return tip && tip.innerText;";
        self.script(script).await.as_str().map(str::to_owned)
    }

    /// Looks for points along a line of a view by pointing at it, and tells where each was named.
    pub(crate) async fn points_along(&self, testid: &str, height: f64, step: f64) -> Vec<(String, Place)> {
        let [left, top, wide, high] = self.view(testid).await;
        let mut found: Vec<(String, Place)> = Vec::new();
        let mut x = left + 8.0;
        while x < left + wide - 8.0 {
            let at = (x, top + height * high);
            self.hover(at).await;
            self.sleep(20).await;
            match self.tooltip().await {
                Some(name) if found.iter().all(|(known, _)| *known != name) => found.push((name, at)),
                _ => {}
            }
            x += step;
        }
        found
    }
}
