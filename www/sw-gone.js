// In place of the service worker while Concord is developed: files change all the time and nothing may keep old ones.
// One of an earlier build at the same address is replaced by this, which forgets everything and leaves.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(leave()));

async function leave() {
  const ours = (await caches.keys()).filter((name) => name.startsWith(`concord ${self.registration.scope} `));
  await Promise.all(ours.map((name) => caches.delete(name)));
  await self.registration.unregister();
}
