namespace Net.Zlink;

/// <summary>What went wrong, by the native core's error numbers (the Linux errno, or the library's own).</summary>
public enum ZlinkError
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>EAGAIN: it would have to wait, or the wait timed out.</summary>
    Again = 11,

    /// <summary>EACCES: this process may not use that path.</summary>
    PermissionDenied = 13,

    /// <summary>ENODEV: no host or interface of that name.</summary>
    NoDevice = 19,

    /// <summary>ENOTDIR: a part of the path that should be a directory is none.</summary>
    NotADirectory = 20,

    /// <summary>EMFILE: the context has as many sockets as it may, or the process as many descriptors.</summary>
    TooManySockets = 24,

    /// <summary>EINVAL: malformed.</summary>
    InvalidArgument = 22,

    /// <summary>ENOENT: no such endpoint, or no such directory.</summary>
    NotFound = 2,

    /// <summary>ENAMETOOLONG: an ipc path or name of more than 107 bytes.</summary>
    NameTooLong = 36,

    /// <summary>EMSGSIZE: the payload is longer than a frame can be.</summary>
    MessageTooLarge = 90,

    /// <summary>EPROTONOSUPPORT: the scheme is not one this library speaks.</summary>
    ProtocolNotSupported = 93,

    /// <summary>EOPNOTSUPP: not on this kind of socket.</summary>
    NotSupported = 95,

    /// <summary>EADDRINUSE: the address is taken, or the system refused it, natively too: the port may be reserved, or this machine not
    /// have the address. The message says which, and the inner SocketException has the system's own code.</summary>
    AddressInUse = 98,

    /// <summary>ENETUNREACH: no way there.</summary>
    NetworkUnreachable = 101,

    /// <summary>ECONNRESET: lost.</summary>
    ConnectionReset = 104,

    /// <summary>ETIMEDOUT: no answer in time.</summary>
    TimedOut = 110,

    /// <summary>ECONNREFUSED: nobody listens there.</summary>
    ConnectionRefused = 111,

    /// <summary>EHOSTUNREACH: no peer of that id.</summary>
    HostUnreachable = 113,

    /// <summary>ENOCOMPATPROTO: the two socket types do not talk to each other.</summary>
    NotCompatible = 156384764,

    /// <summary>EMTHREAD: the context has none of the shards that <see cref="ZmpSocketOptions.ShardAffinity"/> allows.</summary>
    NoThread = 156384766,

    /// <summary>ETERM: the context was shut down.</summary>
    ContextTerminated = 156384765,
}

/// <summary>Names of <see cref="ZlinkError"/>.</summary>
public static class ZlinkErrorExtensions
{
    /// <summary>The name that C code and the native documentation use, such as "EHOSTUNREACH".</summary>
    /// <param name="error">The error.</param>
    /// <returns>The name; for an undefined value its number.</returns>
    public static string ToNativeName(this ZlinkError error) => error switch
    {
        ZlinkError.None => "0",
        ZlinkError.Again => "EAGAIN",
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
