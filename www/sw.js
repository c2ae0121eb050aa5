// Keeps all files of one version of Concord, so that the page works without a network after the first visit.
// `cargo xtask finish` puts the version in place of BUILD, and in place of FILES the names of all its files with a digest of
// each, where there may be one.
//
// A version never replaces another by itself: a new one waits until no page of the old one is open, or until somebody
// presses “Update now”. Of the versions before, the last one is kept, for pages that are still open then.
const BUILD = "BUILD";
const FILES = ["FILES"];
// Where a version says when it was taken into use.
const SINCE = "in-use-since";

// Other copies of Concord may live under other paths of the same host.
const OURS = `concord ${self.registration.scope} `;
const CACHE = OURS + BUILD;
const INDEX = "index.html";

const address = (file) => new URL(file, self.registration.scope).href;

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("activate", (event) => event.waitUntil(tidy().then(() => self.clients.claim())));
self.addEventListener("message", (event) => {
  if (event.data === "activate") self.skipWaiting();
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(self.registration.scope)) return;
  event.respondWith(answer(request));
});

// All or nothing: a version that is not there as a whole, in the midst of an upload for example, is tried again later.
async function keep() {
  const cache = await caches.open(CACHE);
  try {
    await Promise.all(FILES.map(([file, integrity]) => fetchInto(cache, file, integrity)));
    const index = await (await cache.match(address(INDEX))).text();
    if (!index.includes(`content="${BUILD}"`)) throw new Error("the page is of another version");
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

// The digest is there for hosts that answer with some page, and no error, when a file is not there yet.
async function fetchInto(cache, file, integrity) {
  const response = await fetch(new Request(address(file), { cache: "no-cache", integrity }));
  if (!response.ok) throw new Error(`${file}: ${response.status}`);
  // Some hosts send “index.html” on to “./”; browsers take no page that has come such a way from a cache.
  const { redirected, body, headers } = response;
  await cache.put(address(file), redirected ? new Response(body, { headers }) : response);
}

// Of the other versions, the one that was last in use may still have pages open. One that has just been published may be
// on its way in, and has not been in use either: then nothing is removed until that one is.
async function tidy() {
  await (await caches.open(CACHE)).put(address(SINCE), new Response(String(Date.now())));
  if (self.registration.installing || self.registration.waiting) return;
  const others = (await ownCaches()).filter((name) => name !== CACHE);
  const since = await Promise.all(others.map(sinceWhen));
  const last = others[since.indexOf(Math.max(...since))];
  await Promise.all(others.filter((name) => name !== last).map((name) => caches.delete(name)));
}

async function sinceWhen(name) {
  const said = await (await caches.open(name)).match(address(SINCE));
  return said ? Number(await said.text()) : 0;
}

// Oldest first: browsers list caches as they were made.
async function ownCaches() {
  return (await caches.keys()).filter((name) => name.startsWith(OURS));
}

// A browser whose storage is broken still has its network.
async function answer(request) {
  const kept = await fromCache(request).catch(() => undefined);
  return kept ?? fetch(request);
}

async function fromCache(request) {
  const url = new URL(request.url);
  url.search = url.hash = "";
  if (url.href === self.registration.scope) url.pathname += INDEX;
  const here = await (await caches.open(CACHE)).match(url.href);
  if (here) return here;
  // A page of the version before asks for its own files, whose names no other version has.
  for (const name of (await ownCaches()).reverse()) {
    const there = await (await caches.open(name)).match(url.href);
    if (there) return there;
  }
  return undefined;
}
