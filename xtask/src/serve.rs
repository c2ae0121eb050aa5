//! `cargo xtask serve`: builds the app, serves it, rebuilds it when a file changes.

use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::run::{Outcome, command, run, say};
use crate::tools;

const FIRST_PORT: u16 = 8080;

pub fn serve() -> Outcome {
    tools::ensure_build_tools()?;
    let port = (FIRST_PORT..FIRST_PORT + 100)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .ok_or("all ports from 8080 to 8179 are taken; stop a server and try again")?;
    say("building the app with Trunk (the first time takes some minutes)");
    thread::spawn(move || announce(port));
    run(command("trunk", &["serve", "--offline", "--port", &port.to_string()]))
}

/// Trunk listens when the first build is done; then the address is worth printing.
fn announce(port: u16) {
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        thread::sleep(Duration::from_millis(300));
    }
    eprintln!("\n  Concord is at http://127.0.0.1:{port}/   (Ctrl-C stops it)\n");
}
