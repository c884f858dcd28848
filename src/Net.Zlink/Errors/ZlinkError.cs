namespace Net.Zlink;

/// <summary>What went wrong: the code of a <see cref="ZlinkException"/>.</summary>
public enum ZlinkError
{
    /// <summary>No error.</summary>
    None = 0,

    /// <summary>It would have to wait, or the wait timed out.</summary>
    Again = 1,

    /// <summary>No buffer could be had, also after the pool released what it retained.</summary>
    NoMemory = 2,

    /// <summary>An argument or a text is malformed or out of range.</summary>
    InvalidArgument = 3,

    /// <summary>This kind of socket does not support it.</summary>
    NotSupported = 4,

    /// <summary>The payload is longer than a frame can be.</summary>
    MessageTooLarge = 5,

    /// <summary>No peer has that id.</summary>
    HostUnreachable = 6,

    /// <summary>The context was shut down.</summary>
    ContextTerminated = 7,

    /// <summary>The limit of the context's sockets, or of the process's descriptors, is reached.</summary>
    TooManySockets = 8,

    /// <summary>The context has none of the shards in <see cref="ZmpSocketOptions.ShardAffinity"/>.</summary>
    NoThread = 9,

    /// <summary>An endpoint has an unknown scheme.</summary>
    ProtocolNotSupported = 10,

    /// <summary>
    /// The address is in use, or the system refused it, because the port is reserved or this machine does not have the address. The message
    /// says which, and the inner SocketException has the system's code.
    /// </summary>
    AddressInUse = 11,

    /// <summary>There is no such endpoint or directory.</summary>
    NotFound = 12,

    /// <summary>No host or interface has that name.</summary>
    NoDevice = 13,

    /// <summary>A part of the path is not a directory.</summary>
    NotADirectory = 14,

    /// <summary>An ipc path or name has more than 107 bytes.</summary>
    NameTooLong = 15,

    /// <summary>This process may not use that path.</summary>
    PermissionDenied = 16,

    /// <summary>The types of the two sockets cannot communicate.</summary>
    NotCompatible = 17,

    /// <summary>Nothing listens there.</summary>
    ConnectionRefused = 18,

    /// <summary>The connection was lost.</summary>
    ConnectionReset = 19,

    /// <summary>There was no answer in time.</summary>
    TimedOut = 20,

    /// <summary>There is no route to the network.</summary>
    NetworkUnreachable = 21,
}
