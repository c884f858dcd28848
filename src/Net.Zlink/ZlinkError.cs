namespace Net.Zlink;

/// <summary>Error codes with the native core's numbers (Linux errno values, or the library's own).</summary>
public enum ZlinkError
{
    /// <summary>No error.</summary>
    None = 0,

    /// <summary>EAGAIN: it would have to wait, or the wait timed out.</summary>
    Again = 11,

    /// <summary>ENOMEM: no buffer could be had, also after the pool released what it retained.</summary>
    NoMemory = 12,

    /// <summary>EACCES: this process may not use that path.</summary>
    PermissionDenied = 13,

    /// <summary>ENODEV: no host or interface has that name.</summary>
    NoDevice = 19,

    /// <summary>ENOTDIR: a part of the path is not a directory.</summary>
    NotADirectory = 20,

    /// <summary>EMFILE: the limit of the context's sockets, or of the process's descriptors, is reached.</summary>
    TooManySockets = 24,

    /// <summary>EINVAL: malformed.</summary>
    InvalidArgument = 22,

    /// <summary>ENOENT: no such endpoint or directory.</summary>
    NotFound = 2,

    /// <summary>ENAMETOOLONG: an ipc path or name of more than 107 bytes.</summary>
    NameTooLong = 36,

    /// <summary>EMSGSIZE: the payload is longer than a frame can be.</summary>
    MessageTooLarge = 90,

    /// <summary>EPROTONOSUPPORT: unknown scheme.</summary>
    ProtocolNotSupported = 93,

    /// <summary>EOPNOTSUPP: this kind of socket does not support it.</summary>
    NotSupported = 95,

    /// <summary>
    /// EADDRINUSE: the address is in use, or the system refused it, because the port is reserved or this machine does not have the address.
    /// The message says which, and the inner SocketException has the system's code.
    /// </summary>
    AddressInUse = 98,

    /// <summary>ENETUNREACH: no route to the network.</summary>
    NetworkUnreachable = 101,

    /// <summary>ECONNRESET: the connection was lost.</summary>
    ConnectionReset = 104,

    /// <summary>ETIMEDOUT: no answer in time.</summary>
    TimedOut = 110,

    /// <summary>ECONNREFUSED: nothing listens there.</summary>
    ConnectionRefused = 111,

    /// <summary>EHOSTUNREACH: no peer has that id.</summary>
    HostUnreachable = 113,

    /// <summary>ENOCOMPATPROTO: the two socket types cannot communicate.</summary>
    NotCompatible = 156384764,

    /// <summary>EMTHREAD: the context has none of the shards in <see cref="ZmpSocketOptions.ShardAffinity"/>.</summary>
    NoThread = 156384766,

    /// <summary>ETERM: the context was shut down.</summary>
    ContextTerminated = 156384765,
}

/// <summary>Converts <see cref="ZlinkError"/>.</summary>
public static class ZlinkErrorExtensions
{
    /// <summary>Returns the name in C code and the native documentation, such as "EHOSTUNREACH".</summary>
    /// <param name="error">The error.</param>
    /// <returns>The name, or the number of an undefined value.</returns>
    public static string ToNativeName(this ZlinkError error) => error switch
    {
        ZlinkError.None => "0",
        ZlinkError.Again => "EAGAIN",
        ZlinkError.NoMemory => "ENOMEM",
        ZlinkError.PermissionDenied => "EACCES",
        ZlinkError.NoDevice => "ENODEV",
        ZlinkError.NotADirectory => "ENOTDIR",
        ZlinkError.TooManySockets => "EMFILE",
        ZlinkError.InvalidArgument => "EINVAL",
        ZlinkError.NotFound => "ENOENT",
        ZlinkError.NameTooLong => "ENAMETOOLONG",
        ZlinkError.MessageTooLarge => "EMSGSIZE",
        ZlinkError.ProtocolNotSupported => "EPROTONOSUPPORT",
        ZlinkError.NotSupported => "EOPNOTSUPP",
        ZlinkError.AddressInUse => "EADDRINUSE",
        ZlinkError.NetworkUnreachable => "ENETUNREACH",
        ZlinkError.ConnectionReset => "ECONNRESET",
        ZlinkError.TimedOut => "ETIMEDOUT",
        ZlinkError.ConnectionRefused => "ECONNREFUSED",
        ZlinkError.HostUnreachable => "EHOSTUNREACH",
        ZlinkError.NotCompatible => "ENOCOMPATPROTO",
        ZlinkError.NoThread => "EMTHREAD",
        ZlinkError.ContextTerminated => "ETERM",
        _ => ((int)error).ToString(System.Globalization.CultureInfo.InvariantCulture),
    };
}
