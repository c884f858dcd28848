namespace Net.Zlink.Porting;

/// <summary>The native core's errors: Linux errno values, or numbers of its own.</summary>
public static class NativeErrors
{
    /// <summary>Returns the native number, such as 113 for <see cref="ZlinkError.HostUnreachable"/>.</summary>
    /// <param name="error">The error.</param>
    /// <returns>The number; 0 for None.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="error"/> is not a defined value.</exception>
    public static int ToNativeNumber(this ZlinkError error) => Of(error).Number;

    /// <summary>Returns the name in C code and the native documentation, such as "EHOSTUNREACH".</summary>
    /// <param name="error">The error.</param>
    /// <returns>The name; "0" for None.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="error"/> is not a defined value.</exception>
    public static string ToNativeName(this ZlinkError error) => Of(error).Name;

    private static (int Number, string Name) Of(ZlinkError error) => error switch
    {
        ZlinkError.None => (0, "0"),
        ZlinkError.NotFound => (2, "ENOENT"),
        ZlinkError.Again => (11, "EAGAIN"),
        ZlinkError.NoMemory => (12, "ENOMEM"),
        ZlinkError.PermissionDenied => (13, "EACCES"),
        ZlinkError.NoDevice => (19, "ENODEV"),
        ZlinkError.NotADirectory => (20, "ENOTDIR"),
        ZlinkError.InvalidArgument => (22, "EINVAL"),
        ZlinkError.TooManySockets => (24, "EMFILE"),
        ZlinkError.NameTooLong => (36, "ENAMETOOLONG"),
        ZlinkError.MessageTooLarge => (90, "EMSGSIZE"),
        ZlinkError.ProtocolNotSupported => (93, "EPROTONOSUPPORT"),
        ZlinkError.NotSupported => (95, "EOPNOTSUPP"),
        ZlinkError.AddressInUse => (98, "EADDRINUSE"),
        ZlinkError.NetworkUnreachable => (101, "ENETUNREACH"),
        ZlinkError.ConnectionReset => (104, "ECONNRESET"),
        ZlinkError.TimedOut => (110, "ETIMEDOUT"),
        ZlinkError.ConnectionRefused => (111, "ECONNREFUSED"),
        ZlinkError.HostUnreachable => (113, "EHOSTUNREACH"),
        ZlinkError.NotCompatible => (156_384_764, "ENOCOMPATPROTO"),
        ZlinkError.ContextTerminated => (156_384_765, "ETERM"),
        ZlinkError.NoThread => (156_384_766, "EMTHREAD"),
        _ => throw new ArgumentOutOfRangeException(nameof(error), error, message: null),
    };
}
