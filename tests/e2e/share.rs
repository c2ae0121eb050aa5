//! Links that carry settings, and what they hide from a class.

use super::browser::{Page, Setup, open, with_page};
use serde_json::json;

async fn set(page: &Page, name: &str, value: &str) {
    page.wait_for(&format!("[data-testid=set-{name}]")).await;
    let script = format!(
        "const field = document.querySelector('[data-testid=set-{name}]'); field.value = '{value}';
         field.dispatchEvent(new Event('input', {{bubbles: true}}));
         field.dispatchEvent(new Event('change', {{bubbles: true}}));"
    );
    page.script(&script).await;
}

async fn value(page: &Page, name: &str) -> serde_json::Value {
    page.script(&format!("return document.querySelector('[data-testid={name}]').value")).await
}

#[test]
fn a_link_restores_settings_and_hides_what_a_class_does_not_need() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=swiss").await;
        page.done().await;
        set(&page, "steps", "123").await;
        set(&page, "loss", "classic").await;
        page.unfold("share").await;
        for part in ["settings", "downloads", "new"] {
            page.click(&format!("hide-{part}")).await;
        }
        page.click("share-copy").await;
        page.shoot("share").await;
        let link = value(&page, "share-link").await;
        let link = link.as_str().expect("a link").to_owned();
        let (_, words) = link.split_once('?').expect("with words");
        // The address itself says as much, so that it can be sent as it is.
        let bar = page.script("return location.search").await;
        let bar = bar.as_str().expect("an address").to_owned();
        assert!(bar.contains("set-steps=123") && bar.contains("set-loss=classic"), "{bar}");
        assert!(bar.contains("executor=cpu") && bar.contains("sample=swiss"), "{bar}");
        assert!(!words.contains("x.npy"), "nothing of the data: {words}");

        // What it hides is gone, and the rest works.
        open(&page, &format!("?executor=cpu&{words}")).await;
        page.done().await;
        for css in ["#settings", "#new-data", "[data-testid=download-matches]", "[data-testid^=save-]"] {
            assert_eq!(page.count(css).await, 0, "{css} is hidden");
        }
        assert_eq!(page.count("[data-testid=drop-x]").await, 1, "what is not named stays");
        assert_eq!(page.count("[data-testid=sample-swiss][aria-pressed=true]").await, 1, "its sample");

        // Without the flags the settings are there to be seen.
        let shown = words.split('&').filter(|word| !word.starts_with("hide=")).collect::<Vec<_>>().join("&");
        open(&page, &format!("?executor=cpu&{shown}")).await;
        page.wait_for("[data-testid=set-steps]").await;
        page.done().await;
        assert_eq!(value(&page, "set-steps").await, json!("123"));
        assert_eq!(value(&page, "set-loss").await, json!("classic"));
        assert_eq!(page.count("[data-testid=link-refused]").await, 0);
    });
}

#[test]
fn a_link_that_asks_for_the_impossible_says_so() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=none&set-steps=-3&set-seed=7&set-magic=on").await;
        page.wait_for("[data-testid=link-refused]").await;
        let words = page.text("link-refused").await;
        assert!(words.contains("steps = -3") && words.contains("magic = on"), "{words}");
        assert_eq!(value(&page, "set-seed").await, json!("7"));
        assert_eq!(value(&page, "set-steps").await, json!("300"));
    });
}

/// A class that does not see the files is still told that nothing is kept.
#[test]
fn hidden_files_do_not_hide_that_nothing_is_kept() {
    with_page(Setup { storage: false, ..Setup::default() }, async |page| {
        open(&page, "?executor=cpu&sample=swiss&hide=data,training").await;
        page.done().await;
        page.wait_for("[data-testid=keep-refused]").await;
        for css in ["#data", "[data-testid=drop-x]", "[data-testid=skip-data]", "[data-testid=chart-loss]"] {
            assert_eq!(page.count(css).await, 0, "{css} is hidden");
        }
    });
}

/// What a browser does not let a page copy is not said to be copied.
#[test]
fn a_link_that_was_not_copied_is_not_said_to_be() {
    with_page(Setup::default(), async |page| {
        open(&page, "?executor=cpu&sample=none").await;
        page.unfold("share").await;
        page.script(
            "navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'))",
        )
        .await;
        page.click("share-copy").await;
        page.says("share-copy", "Ctrl+C").await;
        page.script("navigator.clipboard.writeText = () => Promise.resolve()").await;
        page.click("share-copy").await;
        page.says("share-copy", "Copied").await;
    });
}

/// One that hides the place where data comes from brings a sample, or there would be nothing to do.
#[test]
fn no_link_leads_to_a_page_without_any_data() {
    with_page(Setup::default(), async |page| {
        page.load_clouds().await;
        page.unfold("share").await;
        page.wait_for("[data-testid=hide-data]:disabled").await;
        open(&page, "?executor=cpu&sample=none&hide=data,setings").await;
        page.wait_for("[data-testid=drop-x]").await;
        assert!(page.script("return document.body.innerText.includes('No data yet')").await == true);
        // A word that means nothing is said, not only in settings.
        page.wait_for("[data-testid=link-refused]").await;
        let words = page.text("link-refused").await;
        assert!(words.contains("hide = setings") && words.contains("settings"), "{words}");
    });
}
