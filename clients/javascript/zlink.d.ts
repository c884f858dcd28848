/** A part of a message. */
export type Data = string | ArrayBuffer | ArrayBufferView;

/** The bytes of a text, of a buffer, or of a view of one. */
export function bytes(data: Data): Uint8Array;

/** The text of UTF-8 bytes. */
export function text(data: Uint8Array): string;

export interface Options {
  /** Closes the socket. */
  signal?: AbortSignal;
  /** Sub-protocols that are offered. */
  protocols?: string | string[];
  /** Messages that wait to be sent. Default 1,000. */
  sendLimit?: number;
  /** Messages that wait to be read. Default 10,000. A Sub drops the oldest and counts it; other sockets end with an error. */
  receiveLimit?: number;
  /** Bytes of a part or of a frame. Default 64 MiB. */
  maxMessageSize?: number;
  /** Milliseconds. Default 30,000. */
  handshakeTimeout?: number;
  /** Milliseconds between two heartbeats, 0 for none. Default 30,000. The other side ends a socket that is silent for three minutes, or
   * for three heartbeats if those are longer. Not of a Stream. */
  heartbeat?: number;
  /** Milliseconds before the first attempt to connect again; the pause doubles each time. Default 100. */
  reconnectMin?: number;
  /** The longest pause in milliseconds. Default 30,000. */
  reconnectMax?: number;
  /** The constructor to use. Default: the global one. */
  WebSocket?: typeof WebSocket;
}

export interface Waiting {
  /** Ends the wait. */
  signal?: AbortSignal;
}

/** Events: "open" when it is ready for messages, "lost" when the connection has ended and is made again, "close" at the end. */
interface Connection<T> extends EventTarget, AsyncIterable<T> {
  readonly url: string;
  readonly isOpen: boolean;
  readonly isClosed: boolean;
  /** Messages that were dropped because a queue was full. */
  readonly dropped: number;
  /** Why the last connection ended, or the last attempt failed. */
  readonly lastError: string;
  /** Resolves when the connection is ready for messages. */
  ready(options?: Waiting): Promise<void>;
  /** The next message, or undefined when the socket is closed and all of them have been read. */
  receive(options?: Waiting): Promise<T | undefined>;
  /** Sends what is queued if there is a connection, and ends. */
  close(): void;
}

/** Receives what begins with its topics, from a PUB or XPUB. A message is an array of its parts. */
export class Sub {
  constructor(url: string, options?: Options & { topics?: Data[] });
  subscribe(topic: Data): this;
  unsubscribe(topic: Data): this;
}
export interface Sub extends Connection<Uint8Array[]> {}

/** Sends to a SUB or XSUB what it has subscribed to. Event "topics": its subscriptions have changed. */
export class Pub {
  constructor(url: string, options?: Options);
  /** False: nobody has subscribed to it, there is no connection, or the queue is full. */
  send(...parts: Data[]): boolean;
}
export interface Pub extends Connection<never> {}

/** Sends messages to a ROUTER or DEALER, and receives from it. */
export class Dealer {
  constructor(url: string, options?: Options & { routingId?: Data });
  /** Resolves when the message has its place in the queue. */
  send(parts: Data | Data[], options?: Waiting): Promise<void>;
  /** False: the queue is full. */
  trySend(parts: Data | Data[]): boolean;
}
export interface Dealer extends Connection<Uint8Array[]> {}

export interface RequestOptions extends Waiting {
  /** The service that is meant. */
  service?: string;
  /** Milliseconds that it may take. Default 5,000. The server learns of it. */
  timeout?: number;
}

/** Sends requests to a receiver's ws endpoint, or to an endpoint of MapZlinkRequests. */
export class Requester {
  constructor(url: string, options?: Options & { service?: string });
  /** Resolves with the parts of the reply; rejects with a RequestError, or with the signal's reason. */
  request(parts: Data | Data[], options?: RequestOptions): Promise<Uint8Array[]>;
}
export interface Requester extends Connection<never> {}

/** Why a request has no reply. */
export class RequestError extends Error {
  constructor(kind: RequestError["kind"], message: string, code?: number, wasExecuted?: boolean);
  readonly kind: "timeout" | "refused" | "failed" | "lost";
  /** The number that the server gave, or 0. */
  readonly code: number;
  /** The server executed the request, or may have. False: it is safe to send it again. */
  readonly wasExecuted: boolean;
}

/** Frames to and from a STREAM socket. */
export class Stream {
  /** oneFramePerMessage: as the endpoint of MapZlink has it. Default false. */
  constructor(url: string, options?: Options & { oneFramePerMessage?: boolean });
  /** Resolves when the frame has its place in the queue. */
  send(data: Data, options?: Waiting): Promise<void>;
  /** False: the queue is full. */
  trySend(data: Data): boolean;
}
export interface Stream extends Connection<Uint8Array> {}
