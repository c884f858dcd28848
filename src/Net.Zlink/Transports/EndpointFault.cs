namespace Net.Zlink.Transports;

/// <summary>What is wrong with an endpoint, as a value; <see cref="EndpointError"/> carries the sentence for a person.</summary>
internal enum EndpointFault
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>The text is malformed (EINVAL).</summary>
    Invalid,

    /// <summary>The scheme is not one that this library speaks, or not on this system or kind of socket (EPROTONOSUPPORT).</summary>
    UnknownScheme,

    /// <summary>No host, interface or zone of that name, or none with an address that may be used (ENODEV).</summary>
    NoSuchName,

    /// <summary>Another socket holds the address (EADDRINUSE).</summary>
    AddressInUse,

    /// <summary>The operating system refused the bind for another reason; the wire's native peers call this EADDRINUSE too.</summary>
    NotBindable,

    /// <summary>The process, or the machine, has no file descriptor left (EMFILE).</summary>
    NoDescriptors,

    /// <summary>A directory on the way to the path is missing (ENOENT).</summary>
    NoSuchPath,

    /// <summary>What should be a directory on the way to the path is none (ENOTDIR).</summary>
    NotADirectory,

    /// <summary>The path or name is longer than an address holds (ENAMETOOLONG).</summary>
    NameTooLong,

    /// <summary>The path may not be made or entered by this process (EACCES).</summary>
    AccessDenied,

    /// <summary>The two socket types do not talk to each other (ENOCOMPATPROTO).</summary>
    Incompatible,
}
