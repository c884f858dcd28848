// The wire of a STREAM socket: each frame is its length, 4 bytes, most significant first, and then so many bytes. How frames are spread
// over WebSocket messages means nothing: one message may hold several, or a part of one.
"use strict";

function frame(text) {
  const body = new TextEncoder().encode(text);
  const bytes = new Uint8Array(4 + body.length);
  new DataView(bytes.buffer).setUint32(0, body.length);
  bytes.set(body, 4);
  return bytes;
}

// One for each connection: it takes what a WebSocket message holds, and returns the texts of the frames that end there.
function frameReader() {
  let pending = new Uint8Array(0);
  return function* (message) {
    const all = new Uint8Array(pending.length + message.byteLength);
    all.set(pending);
    all.set(new Uint8Array(message), pending.length);
    let at = 0;
    while (all.length - at >= 4) {
      const length = new DataView(all.buffer, at).getUint32(0);
      if (all.length - at - 4 < length) break;
      yield new TextDecoder().decode(all.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    pending = all.slice(at);
  };
}
