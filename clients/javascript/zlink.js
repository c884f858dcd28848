// Sockets for browsers and Node 22: SUB, PUB, DEALER, requests and STREAM over WebSocket. The wire is that of docs/protocol.md.

const HELLO = 1, HEARTBEAT = 2, HEARTBEAT_ACK = 3, READY = 4, ERROR = 5; // control frames
const MORE = 1, CONTROL = 2, IDENTITY = 4, SUBSCRIBE = 8, CANCEL = 16; // flags of a frame
const ZMP_HEADER = 8, STREAM_HEADER = 4;
const PUB = 1, SUB = 2, DEALER = 5, ROUTER = 6, XPUB = 9, XSUB = 10; // types of sockets
const DRAIN_PAUSE = 10; // A browser does not say when its buffer has space again.
const STABLE = 5000; // A connection that ends sooner is followed by a longer pause.
const SEND_BUFFER = 1 << 20; // What is handed to the browser at most before it has sent some of it.

const encoder = new TextEncoder(), decoder = new TextDecoder();

/** The bytes of a text, of a buffer, or of a view of one. */
export function bytes(data) {
  return typeof data === "string" ? encoder.encode(data)
    : data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** The text of UTF-8 bytes. */
export function text(data) {
  return decoder.decode(data);
}

/** Why a request has no reply. */
export class RequestError extends Error {
  constructor(kind, message, code = 0, wasExecuted = false) {
    super(message);
    Object.assign(this, { name: "RequestError", kind, code, wasExecuted });
  }
}

// Cuts a stream of bytes into frames, whose headers end with a length. What has come is copied only where a frame is spread over messages.
class FrameReader {
  #rest = new Uint8Array(0);
  #used = 0;

  constructor(header, limit) {
    this.header = header;
    this.limit = limit;
  }

  read(chunk, onFrame) {
    const gathers = this.#used > 0;
    const all = gathers ? this.#append(chunk) : chunk;
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
    let at = 0;
    while (all.length - at >= this.header) {
      const length = view.getUint32(at + this.header - 4);
      if (length > this.limit) throw new Error(`a frame of ${length} bytes is over maxMessageSize`);
      const end = at + this.header + length;
      if (end > all.length) break;
      onFrame(gathers ? all.slice(at, end) : all.subarray(at, end));
      at = end;
    }
    if (gathers && at === 0) return; // It stays where it is.
    this.#used = 0;
    if (at === all.length) return;
    this.#rest = new Uint8Array(0);
    this.#append(all.subarray(at));
  }

  #append(chunk) {
    const used = this.#used + chunk.length;
    if (used > this.#rest.length) {
      const larger = new Uint8Array(2 * used);
      larger.set(this.#rest.subarray(0, this.#used));
      this.#rest = larger;
    }
    this.#rest.set(chunk, this.#used);
    this.#used = used;
    return this.#rest.subarray(0, used);
  }
}

// A connection that comes back, with a queue in each direction.
class Connection extends EventTarget {
  #queue = []; // Each makes its message at the moment when it is sent. What is behind sendLimit waits for a place.
  #received = [];
  #receivers = new Set();
  #lookers = new Set();
  #timer;
  #retry;
  #attempts = 0;
  #since = 0;
  #abort = () => this.close();
  #end; // Of the whole socket: its error, or null.

  constructor(url, options = {}) {
    super();
    this.url = url;
    this.options = {
      sendLimit: 1000, receiveLimit: 10000, maxMessageSize: 1 << 26, handshakeTimeout: 30000, heartbeat: 30000,
      reconnectMin: 100, reconnectMax: 30000, WebSocket: globalThis.WebSocket, ...options,
    };
    this.isOpen = false;
    this.dropped = 0;
    this.lastError = "";
    const { signal } = this.options;
    signal?.addEventListener("abort", this.#abort);
    queueMicrotask(() => signal?.aborted ? this.close() : this.#connect());
  }

  get isClosed() {
    return this.#end !== undefined;
  }

  /** Resolves when the connection is ready for messages. */
  ready({ signal } = {}) {
    return wait(signal, (done, fail) => {
      const look = () => this.isOpen ? done() : this.isClosed && fail(this._why);
      this.#lookers.add(look);
      look();
      return () => this.#lookers.delete(look);
    });
  }

  /** The next message, or undefined when the socket is closed and all of them have been read. */
  receive({ signal } = {}) {
    if (this.#received.length > 0) return Promise.resolve(this.#received.shift());
    if (this.isClosed) return this.#end ? Promise.reject(this.#end) : Promise.resolve(undefined);
    return wait(signal, (done, fail) => {
      const receiver = { done, fail };
      this.#receivers.add(receiver);
      return () => this.#receivers.delete(receiver);
    });
  }

  async *[Symbol.asyncIterator]() {
    for (let message; (message = await this.receive()) !== undefined;) yield message;
  }

  /** Sends what is queued if there is a connection, and ends. */
  close() {
    this._end(null);
  }

  _end(error) {
    if (this.isClosed) return;
    this.#end = error;
    this._why = error ?? new Error("The socket is closed.");
    const { socket, isOpen, _why } = this, queued = this.#queue;
    this.#queue = []; // A sender that is told looks for its message there.
    queued.forEach(({ make, fail }, at) => at >= this.options.sendLimit ? fail(_why) : isOpen && this._write(make()));
    this._lose(_why.message);
    socket?.close(1000);
    clearTimeout(this.#retry);
    this.options.signal?.removeEventListener("abort", this.#abort);
    for (const { done, fail } of this.#receivers) error ? fail(error) : done();
    this._tell("close");
  }

  _tell(type) {
    for (const look of [...this.#lookers]) look();
    this.dispatchEvent(new Event(type));
  }

  _trySend(make) {
    if (this.isClosed) throw this._why;
    if (this.#queue.length >= this.options.sendLimit) return false;
    this.#queue.push({ make });
    this.#drain();
    return true;
  }

  _send(make, { signal } = {}) {
    return wait(signal, (done, fail) => {
      if (this._trySend(make)) return void done();
      this.#queue.push({ make, done, fail });
      return () => this._forget(make, this.options.sendLimit);
    });
  }

  // Takes back what has not been sent, or has no place yet.
  _forget(make, from = 0) {
    const at = this.#queue.findIndex(one => one.make === make);
    if (at >= from) this.#queue.splice(at, 1);
    this.#admit();
  }

  #admit() {
    this.#queue[this.options.sendLimit - 1]?.done?.();
  }

  #drain() {
    while (this.isOpen && this.#queue.length > 0) {
      if (this.socket.bufferedAmount > SEND_BUFFER) {
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined;
          this.#drain();
        }, DRAIN_PAUSE);
        return;
      }
      this._write(this.#queue.shift().make());
      this.#admit();
    }
  }

  _write(message) {
    if (this.socket?.readyState === 1) this.socket.send(message);
  }

  _deliver(message) {
    const [receiver] = this.#receivers;
    if (receiver) receiver.done(message);
    else if (this.#received.push(message) > this.options.receiveLimit) this._overflow(this.#received);
  }

  // Nobody can hold back a WebSocket's sender, so a socket whose messages all count ends instead.
  _overflow() {
    this._end(new Error("more messages wait than receiveLimit allows"));
  }

  _opened() {
    this.isOpen = true;
    this.#since = Date.now();
    this._tell("open");
    this.#drain();
  }

  #connect() {
    if (this.isClosed) return;
    const { WebSocket, protocols, handshakeTimeout } = this.options;
    if (!WebSocket) return this._end(new Error("There is no WebSocket here: use Node 22, or the option WebSocket."));
    let socket;
    try {
      socket = this.socket = new WebSocket(this.url, protocols);
    } catch (error) {
      return this._end(error);
    }
    socket.binaryType = "arraybuffer";
    this.handshake = setTimeout(() => this._lose("the handshake took too long"), handshakeTimeout);
    const guarded = act => event => {
      if (socket !== this.socket) return;
      try {
        act(event);
      } catch (error) {
        this._lose(error.message);
      }
    };
    socket.onopen = guarded(() => this._begin());
    socket.onmessage = guarded(({ data }) => {
      this.hasHeard = true;
      this._read(bytes(data));
    });
    socket.onclose = socket.onerror = // In Node nothing follows the error of an attempt.
      guarded(({ code, reason, message }) => this._lose(reason || message || `the connection ended with code ${code ?? 1006}`));
  }

  _lose(reason) {
    const { socket, isOpen } = this;
    if (!socket) return;
    this.socket = undefined;
    this.isOpen = false;
    this.lastError = reason;
    if (isOpen && Date.now() - this.#since > STABLE) this.#attempts = 0;
    clearTimeout(this.handshake);
    clearInterval(this.beat);
    this._lost?.(reason);
    if (this.isClosed) return;
    socket.close();
    const { reconnectMin, reconnectMax } = this.options;
    const pause = Math.min(reconnectMax, reconnectMin * 2 ** this.#attempts++);
    this.#retry = setTimeout(() => this.#connect(), pause * (0.5 + Math.random() / 2));
    if (isOpen) this._tell("lost");
  }
}

// ZMP: frames of 8 bytes and a body, and a handshake of HELLO and READY.
class ZmpConnection extends Connection {
  constructor(url, options, type, peers) {
    super(url, options);
    this.type = type;
    this.peers = peers;
  }

  _begin() {
    const id = bytes(this.options.routingId ?? "");
    this.reader = new FrameReader(ZMP_HEADER, this.options.maxMessageSize);
    this.parts = [];
    this.hello = false;
    this._write(join([frame(CONTROL, [HELLO, this.type, id.length, ...id]), frame(CONTROL, [READY])]));
  }

  _read(data) {
    this.reader.read(data, one => this.socket && this.#take(one[2], one.subarray(ZMP_HEADER), one));
  }

  #take(flags, body, [magic, version]) {
    if (magic !== 0x5a || version !== 1) throw new Error("the other side does not speak ZMP");
    if (flags === CONTROL) return this.#control(body);
    if (!this.isOpen) throw new Error("data came before the handshake was complete");
    if ((flags & ~MORE) === IDENTITY) return;
    if (flags === SUBSCRIBE || flags === CANCEL) return this._topic?.(flags === SUBSCRIBE, body);
    this.parts.push(body);
    if (flags & MORE) return;
    const parts = this.parts;
    this.parts = [];
    this._take(parts);
  }

  #control(body) {
    const type = body[0];
    if (type === ERROR) throw new Error(`the other side refused: ${text(body.subarray(3))}`);
    if (type === HEARTBEAT && body.length >= 4) this._write(frame(CONTROL, [HEARTBEAT_ACK, ...body.subarray(3)]));
    if (type === HELLO && !this.hello) {
      if (!this.peers.includes(body[1])) throw new Error(`a socket of type ${body[1]} is there`);
      this.hello = true;
    } else if (type === READY && this.hello && !this.isOpen) {
      clearTimeout(this.handshake);
      this._greet?.();
      this.#watch();
      this._opened();
    }
  }

  // Only silence after a heartbeat counts: a page in the background has one tick a minute. So the other side waits for three.
  #watch() {
    const { heartbeat } = this.options, tenths = Math.min(0xffff, Math.max(180_000, 3 * heartbeat) / 100);
    const ask = () => {
      this.hasHeard = false;
      this._write(frame(CONTROL, [HEARTBEAT, tenths >> 8, tenths, 0]));
    };
    if (!(heartbeat > 0)) return;
    ask();
    this.beat = setInterval(() => this.hasHeard ? ask() : this._lose("the other side is silent"), heartbeat);
  }

  _take(parts) {
    this._deliver(parts);
  }
}

// What is wanted, and how often.
class Topics extends Map {
  /** Returns how often it is wanted now. */
  change(topic, by) {
    const key = topic.join(), count = (this.get(key)?.count ?? 0) + by;
    if (count > 0) this.set(key, { topic: topic.slice(), count });
    else this.delete(key);
    return count;
  }

  match(data) {
    return [...this.values()].some(({ topic }) => data.length >= topic.length && topic.every((one, at) => data[at] === one));
  }
}

/** Receives what begins with its topics, from a PUB or XPUB. */
export class Sub extends ZmpConnection {
  #topics = new Topics();

  constructor(url, { topics = [], ...options } = {}) {
    super(url, options, SUB, [PUB, XPUB]);
    for (const topic of topics) this.subscribe(topic);
  }

  subscribe(topic) {
    return this.#change(topic, 1, SUBSCRIBE, 1);
  }

  unsubscribe(topic) {
    return this.#change(topic, -1, CANCEL, 0);
  }

  // The other side learns of the first who wants it, and of the last who does not.
  #change(topic, by, flag, when) {
    const body = bytes(topic);
    if (this.#topics.change(body, by) === when && this.isOpen) this._write(frame(flag, body));
    return this;
  }

  _greet() {
    if (this.#topics.size > 0) this._write(join([...this.#topics.values()].map(({ topic }) => frame(SUBSCRIBE, topic))));
  }

  // What was on its way when a topic was given up is dropped.
  _take(parts) {
    if (this.#topics.match(parts[0])) this._deliver(parts);
  }

  // News: the newest count.
  _overflow(received) {
    received.shift();
    this.dropped++;
  }
}

/** Sends to a SUB or XSUB what it has subscribed to. */
export class Pub extends ZmpConnection {
  #topics = new Topics();

  constructor(url, options) {
    super(url, options, PUB, [SUB, XSUB]);
  }

  /** False: nobody has subscribed to it, there is no connection, or the queue is full. */
  send(...parts) {
    const frames = parts.map(bytes);
    const isWanted = this.isOpen && this.#topics.match(frames[0]);
    const isSent = isWanted && this._trySend(() => message(frames));
    if (isWanted && !isSent) this.dropped++;
    return isSent;
  }

  _topic(isAdded, body) {
    this.#topics.change(body, isAdded ? 1 : -1);
    this._tell("topics");
  }

  // An XSUB sends topics as messages.
  _take([first]) {
    if (first[0] <= 1) this._topic(first[0] === 1, first.subarray(1));
  }

  _lost() {
    this.#topics.clear();
  }
}

/** Sends messages to a ROUTER or DEALER, and receives from it. */
export class Dealer extends ZmpConnection {
  constructor(url, options) {
    super(url, options, DEALER, [DEALER, ROUTER]);
  }

  /** Resolves when the message has its place in the queue. A part is a text or bytes; a message has one part or an array of them. */
  send(parts, options) {
    return this._send(outgoing(parts), options);
  }

  /** False: the queue is full. */
  trySend(parts) {
    return this._trySend(outgoing(parts));
  }
}

// Requests and their answers have an envelope in front (docs/protocol.md, 19.3).
const MAGIC = [0x5a, 0x52, 0x50, 1];
const REQUEST = 1, REPLY = 2, FAILED = 3, REFUSED = 4, CANCELLED = 5;
const ENVELOPE = 16, TIME_LEFT = 2, SERVICE = 4;

/** Sends requests to a receiver's ws endpoint, or to an endpoint of MapZlinkRequests. */
export class Requester extends ZmpConnection {
  #open = new Map();
  #last = 0;

  constructor(url, options) {
    super(url, options, DEALER, [ROUTER]);
  }

  /** Resolves with the parts of the reply. */
  async request(parts, { service = this.options.service ?? "", timeout = 5000, signal } = {}) {
    if (this.#open.size >= this.options.sendLimit) {
      throw new RequestError("refused", "more requests are open than sendLimit allows");
    }
    const limit = Math.min(timeout, 2 ** 31 - 1), deadline = Date.now() + limit;
    const id = ++this.#last, name = bytes(service), frames = list(parts);
    return wait(signal, (done, fail) => {
      const expire = () => {
        const why = this.isOpen ? "" : `: ${this.lastError || "there is no connection"}`;
        fail(new RequestError("timeout", `no reply came within ${timeout} ms${why}`, 0, one.isSent));
      };
      const one = { done, fail, expire, deadline, isSent: false };
      const timer = setTimeout(expire, limit);
      const make = () => {
        one.isSent = true;
        return message([envelope(REQUEST, id, Math.max(0, deadline - Date.now()), name), ...frames]);
      };
      this.#open.set(id, one);
      this._send(make).catch(fail);
      return () => {
        clearTimeout(timer);
        this.#open.delete(id);
        this._forget(make);
      };
    }, () => this._write(message([envelope(CANCELLED, id)])));
  }

  _take([head, ...parts]) {
    if (head.length < ENVELOPE || MAGIC.some((one, at) => head[at] !== one)) return;
    const view = new DataView(head.buffer, head.byteOffset), kind = head[4], code = view.getUint16(6, true);
    const id = view.getUint32(8, true), one = this.#open.get(id), words = parts.length > 0 ? text(parts[0]) : "";
    if (kind === REPLY) one?.done(parts);
    else if (one?.deadline <= Date.now() + 1) one.expire(); // The server's clock has ended it a moment before this one.
    else if (kind === FAILED) one?.fail(new RequestError("failed", words, code, true));
    else if (kind === REFUSED) {
      const refused = new RequestError("refused", words || "the server stops", code);
      if (id) one?.fail(refused);
      else this.#failSent(refused); // Of a server that has stopped: what has no answer by now was not executed.
    }
  }

  _lost(reason) {
    this.#failSent(new RequestError("lost", `the connection ended before the reply: ${reason}`, 0, true));
  }

  _end(error) {
    super._end(error);
    for (const one of [...this.#open.values()]) one.fail(this._why);
  }

  #failSent(error) {
    for (const one of [...this.#open.values()]) if (one.isSent) one.fail(error);
  }
}

/** Frames to and from a STREAM socket. */
export class Stream extends Connection {
  constructor(url, options) {
    super(url, options);
    this.hasLengths = !this.options.oneFramePerMessage;
  }

  /** Resolves when the frame has its place in the queue. */
  send(data, options) {
    return this._send(this.#outgoing(data), options);
  }

  /** False: the queue is full. */
  trySend(data) {
    return this._trySend(this.#outgoing(data));
  }

  #outgoing(data) {
    const body = bytes(data);
    return () => {
      if (!this.hasLengths) return body;
      const whole = new Uint8Array(STREAM_HEADER + body.length);
      new DataView(whole.buffer).setUint32(0, body.length);
      whole.set(body, STREAM_HEADER);
      return whole;
    };
  }

  _begin() {
    clearTimeout(this.handshake);
    this.reader = new FrameReader(STREAM_HEADER, this.options.maxMessageSize);
    this._opened();
  }

  _read(data) {
    if (!this.hasLengths) return this._deliver(data);
    this.reader.read(data, one => this._deliver(one.subarray(STREAM_HEADER)));
  }
}

function frame(flags, body) {
  const whole = new Uint8Array(ZMP_HEADER + body.length);
  whole.set([0x5a, 1, flags]);
  new DataView(whole.buffer).setUint32(4, body.length);
  whole.set(body, ZMP_HEADER);
  return whole;
}

function message(parts) {
  return join(parts.map((part, at) => frame(at < parts.length - 1 ? MORE : 0, part)));
}

function outgoing(parts) {
  const frames = list(parts);
  return () => message(frames);
}

function list(parts) {
  return (Array.isArray(parts) ? parts : [parts]).map(bytes);
}

function envelope(kind, id, timeLeft, service = []) {
  const hasTime = timeLeft !== undefined, end = ENVELOPE + (hasTime ? 6 : 0);
  const whole = new Uint8Array(end + (service.length > 0 ? 2 + service.length : 0)), view = new DataView(whole.buffer);
  whole.set(MAGIC);
  whole[4] = kind;
  view.setUint32(8, id, true);
  if (hasTime) {
    whole.set([TIME_LEFT, 4], ENVELOPE);
    view.setUint32(ENVELOPE + 2, timeLeft, true);
  }
  if (service.length > 0) whole.set([SERVICE, service.length, ...service], end);
  return whole;
}

function join(all) {
  const whole = new Uint8Array(all.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of all) {
    whole.set(one, at);
    at += one.length;
  }
  return whole;
}

// begin(done, fail) returns what ends the wait; aborted is told of the signal.
function wait(signal, begin, aborted) {
  return new Promise((resolve, reject) => {
    let stop, isOver = false;
    const end = act => value => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener("abort", abort);
      stop?.();
      act(value);
    };
    const done = end(resolve), fail = end(reject);
    const abort = () => {
      const wasOver = isOver;
      fail(signal.reason);
      if (!wasOver) aborted?.();
    };
    if (signal?.aborted) return fail(signal.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      stop = begin(done, fail);
    } catch (error) {
      fail(error);
    }
    if (isOver) stop?.();
  });
}
