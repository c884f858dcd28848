namespace Net.Zlink;

/// <summary>What went wrong, by the native core's error numbers (the Linux errno, or the library's own).</summary>
public enum ZlinkError
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>EAGAIN: it would have to wait, or the wait timed out.</summary>
    Again = 11,

    /// <summary>ENODEV: no host or interface of that name.</summary>
    NoDevice = 19,

    /// <summary>EINVAL: malformed.</summary>
    InvalidArgument = 22,

    /// <summary>ENOENT: no such endpoint.</summary>
    NotFound = 2,

    /// <summary>EMSGSIZE: the payload is longer than a frame can be.</summary>
    MessageTooLarge = 90,

    /// <summary>EPROTONOSUPPORT: the scheme is not one this library speaks.</summary>
    ProtocolNotSupported = 93,

    /// <summary>EOPNOTSUPP: not on this kind of socket.</summary>
    NotSupported = 95,

    /// <summary>EADDRINUSE: the address is taken, or the system refused it.</summary>
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
        ZlinkError.NoDevice => "ENODEV",
        ZlinkError.InvalidArgument => "EINVAL",
        ZlinkError.NotFound => "ENOENT",
        ZlinkError.MessageTooLarge => "EMSGSIZE",
        ZlinkError.ProtocolNotSupported => "EPROTONOSUPPORT",
        ZlinkError.NotSupported => "EOPNOTSUPP",
        ZlinkError.AddressInUse => "EADDRINUSE",
        ZlinkError.NetworkUnreachable => "ENETUNREACH",
        ZlinkError.ConnectionReset => "ECONNRESET",
        ZlinkError.TimedOut => "ETIMEDOUT",
        ZlinkError.ConnectionRefused => "ECONNREFUSED",
        ZlinkError.HostUnreachable => "EHOSTUNREACH",
        ZlinkError.ContextTerminated => "ETERM",
        _ => ((int)error).ToString(System.Globalization.CultureInfo.InvariantCulture),
    };
}
