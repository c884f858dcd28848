// Against sockets of Net.Zlink, which the test that starts this names: JavaScriptTests.cs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Dealer, Pub, Requester, Stream, Sub, bytes, text } from "../zlink.js";

const { ZLINK_TEST_URL: url, ZLINK_TEST_RECEIVER: receiver } = process.env;
const skip = url ? false : "started by JavaScriptTests.cs";
const within = (ms = 15000) => ({ signal: AbortSignal.timeout(ms) });
const fast = { reconnectMin: 10, reconnectMax: 50 };
const texts = parts => parts?.map(text);

// Disconnects all peers of an endpoint.
const cut = name => fetch(`${url.replace("ws", "http")}/cut/${name}`).then(answer => assert.equal(answer.status, 200));

test("a SUB gets what begins with its topics, also after the connection was lost", { skip }, async () => {
  const sub = new Sub(`${url}/feed`, { topics: ["price.EUR"], ...fast });
  assert.deepEqual(texts(await sub.receive(within())), ["price.EUR", "1.17"]);
  sub.subscribe("price.USD");
  assert.deepEqual(texts(await sub.receive(within())), ["price.USD", "1"]);
  sub.unsubscribe("price.USD");
  await cut("feed");
  assert.deepEqual(texts(await sub.receive(within())), ["price.EUR", "1.17"]);
  sub.close();
  for await (const late of sub) assert.fail(texts(late));
  assert.equal(sub.isClosed, true);
});

test("a slow SUB loses the oldest messages and counts them", { skip }, async () => {
  const sub = new Sub(`${url}/feed`, { topics: ["price.EUR"], receiveLimit: 1 });
  await sub.ready(within());
  while (sub.dropped === 0) {
    sub.subscribe("price.USD").unsubscribe("price.USD").subscribe("price.USD");
    await new Promise(done => setTimeout(done, 10));
    sub.unsubscribe("price.USD");
  }
  assert.equal((await sub.receive(within())).length, 2);
  sub.close();
});

test("a PUB sends what the other side has subscribed to and nothing else", { skip }, async () => {
  const pub = new Pub(`${url}/sub`);
  const heard = new Sub(`${url}/feed`, { topics: ["heard."] });
  await heard.ready(within());
  while (!pub.send("a.1", "yes")) await new Promise(done => setTimeout(done, 10));
  assert.equal(pub.send("b.1", "no"), false);
  assert.deepEqual(texts(await heard.receive(within())), ["heard.a.1", "yes"]);
  pub.close();
  heard.close();
});

test("a DEALER gets its messages back in order, of all sizes and numbers of parts", { skip }, async () => {
  const dealer = new Dealer(`${url}/jobs`, { routingId: "js", sendLimit: 5 });
  const long = "x".repeat(300_000);
  const sent = [["one"], ["", "two", ""], [long, "end"], ...Array.from({ length: 200 }, (_, i) => [`${i}`])];
  const sending = (async () => {
    for (const parts of sent) await dealer.send(parts, within());
  })();
  for (const parts of sent) assert.deepEqual(texts(await dealer.receive(within())), parts);
  await sending;
  dealer.close();
  await assert.rejects(dealer.send("late"), /closed/);
});

test("a queue that is full holds back its senders, and a signal takes a waiting message back", { skip }, async () => {
  const dealer = new Dealer("ws://127.0.0.1:1/nobody", { sendLimit: 2, ...fast });
  assert.equal(dealer.trySend("1"), true);
  await dealer.send("2");
  assert.equal(dealer.trySend("3"), false);
  const ending = new AbortController();
  const waiting = dealer.send("3", { signal: ending.signal });
  ending.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  const late = ["4", "5", "6"].map(one => assert.rejects(dealer.send(one), /closed/));
  dealer.close();
  await Promise.all(late);
  assert.equal(await dealer.receive(), undefined);
});

test("a socket of the wrong type is told so, and a signal ends a socket", { skip }, async () => {
  const ending = new AbortController();
  const sub = new Sub(`${url}/jobs`, { signal: ending.signal, ...fast });
  while (!sub.lastError) await new Promise(done => setTimeout(done, 10));
  assert.match(sub.lastError, /type|mismatch/);
  const waiting = sub.receive();
  ending.abort();
  assert.equal(await waiting, undefined);
  await assert.rejects(sub.ready(), /closed/);
});

for (const [where, options] of [["/ask", {}], ["", {}]]) {
  test(`a request to ${where ? "an endpoint of a gateway" : "a receiver"} has its reply or the reason`, { skip }, async () => {
    const requester = new Requester(where ? url + where : receiver, { service: "echo", ...options });
    assert.deepEqual(texts(await requester.request(["hello", "world"])), ["hello", "world"]);
    const many = await Promise.all(Array.from({ length: 50 }, (_, i) => requester.request(`${i}`, { timeout: 15000 })));
    assert.deepEqual(many.map(one => text(one[0])), Array.from({ length: 50 }, (_, i) => `${i}`));
    const asked = { name: "RequestError", kind: "failed", code: 300, message: "as asked", wasExecuted: true };
    await assert.rejects(requester.request("fail"), asked);
    await assert.rejects(requester.request("wait", { timeout: 100 }), { kind: "timeout", wasExecuted: true });
    await assert.rejects(requester.request("wait", within(100)), { name: "TimeoutError" });
    requester.close();
    await assert.rejects(requester.request("late"), /closed/);
  });
}

test("a gateway's endpoint refuses other services and more requests than a connection may have", { skip }, async () => {
  const requester = new Requester(`${url}/ask`);
  await assert.rejects(requester.request("x", { service: "secret" }), { kind: "refused", code: 403, wasExecuted: false });
  const ask = what => requester.request(what, { service: "echo", timeout: 15000 });
  const waiting = Array.from({ length: 50 }, () => assert.rejects(ask("wait"), /closed|ended/));
  await assert.rejects(ask("x"), { kind: "refused", code: 429 });
  requester.close();
  await Promise.all(waiting);
});

test("requests of a lost connection fail, and the next one has its reply", { skip }, async () => {
  const requester = new Requester(`${url}/ask`, { service: "echo", ...fast });
  await requester.ready(within());
  const lost = requester.request("wait", { timeout: 15000 });
  const failing = assert.rejects(lost, { kind: "lost", wasExecuted: true });
  await requester.request("first");
  await cut("ask");
  await failing;
  assert.deepEqual(texts(await requester.request("again", { timeout: 15000 })), ["again"]);
  requester.close();
});

test("a request that nobody takes says why, and each attempt to connect is followed by another one", { skip }, async () => {
  let attempts = 0;
  class Counted extends WebSocket {
    constructor(...given) {
      super(...given);
      attempts++;
    }
  }
  const requester = new Requester("ws://127.0.0.1:1/nobody", { ...fast, WebSocket: Counted });
  while (attempts < 4) {
    const late = { kind: "timeout", wasExecuted: false, message: /300 ms: .*(error|code)/ };
    await assert.rejects(requester.request("x", { timeout: 300 }), late);
  }
  requester.close();
});

test("a socket that is closed at once never connects, and its signal forgets it", { skip }, async () => {
  let attempts = 0, listeners = 0;
  class Counted extends WebSocket {
    constructor(...given) {
      super(...given);
      attempts++;
    }
  }
  const signal = { addEventListener: () => listeners++, removeEventListener: () => listeners-- };
  const sub = new Sub(`${url}/feed`, { WebSocket: Counted, signal });
  sub.close();
  assert.equal(await sub.receive(), undefined);
  assert.deepEqual([attempts, listeners], [0, 0]);
});

test("a heartbeat says for how long a socket that says nothing is to be kept", { skip }, async () => {
  const sent = [];
  class Heard extends WebSocket {
    send(data) {
      sent.push([...data]);
      super.send(data);
    }
  }
  const sub = new Sub(`${url}/feed`, { WebSocket: Heard });
  await sub.ready(within());
  assert.deepEqual(sent.at(-1), [0x5a, 1, 2, 0, 0, 0, 0, 4, 2, 1800 >> 8, 1800 & 255, 0]);
  sub.close();
});

test("a request may have any time", { skip }, async () => {
  const requester = new Requester(`${url}/ask`, { service: "echo" });
  assert.deepEqual(texts(await requester.request("patient", { timeout: Infinity })), ["patient"]);
  requester.close();
});

test("a close of one's own is no loss", { skip }, async () => {
  const sub = new Sub(`${url}/feed`);
  const events = [];
  for (const type of ["open", "lost", "close"]) sub.addEventListener(type, () => events.push(type));
  await sub.ready(within());
  sub.close();
  assert.deepEqual(events, ["open", "close"]);
});

for (const oneFramePerMessage of [true, false]) {
  test(`a STREAM gets its frames back ${oneFramePerMessage ? "as messages" : "with lengths"}`, { skip }, async () => {
    const stream = new Stream(`${url}/${oneFramePerMessage ? "frames" : "stream"}`, { oneFramePerMessage, ...fast });
    const sent = ["one", "", "x".repeat(200_000), ...Array.from({ length: 100 }, (_, i) => `${i}`)];
    for (const one of sent) await stream.send(one, within());
    for (const one of sent) assert.equal(text(await stream.receive(within())), one);
    const lost = new Promise(done => stream.addEventListener("lost", done, { once: true }));
    await cut(oneFramePerMessage ? "frames" : "stream");
    await lost;
    await stream.send("again", within());
    assert.equal(text(await stream.receive(within())), "again");
    stream.close();
  });
}

test("a STREAM whose messages nobody reads ends, and says so", { skip }, async () => {
  const stream = new Stream(`${url}/frames`, { oneFramePerMessage: true, receiveLimit: 3 });
  for (let i = 0; i < 10; i++) await stream.send(`${i}`, within());
  await new Promise(done => stream.addEventListener("close", done));
  await assert.rejects((async () => {
    for await (const _ of stream);
  })(), /receiveLimit/);
});

test("texts, buffers and views are bytes", () => {
  const view = new Uint16Array([0x4141, 0x4242]).subarray(1);
  assert.deepEqual([bytes("ä").length, text(bytes(view)), text(bytes(bytes("abc").buffer.slice(0)))], [2, "BB", "abc"]);
});
