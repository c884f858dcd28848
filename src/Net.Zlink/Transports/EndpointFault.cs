namespace Net.Zlink.Transports;

/// <summary>The kind of an endpoint's fault; <see cref="EndpointError"/> has the sentence.</summary>
internal enum EndpointFault
{
    None,

    /// <summary>The text is malformed (EINVAL).</summary>
    Invalid,

    /// <summary>The scheme is unknown, or not supported by this system or kind of socket (EPROTONOSUPPORT).</summary>
    UnknownScheme,

    /// <summary>No host, interface or zone has that name, or none with a usable address (ENODEV).</summary>
    NoSuchName,

    /// <summary>Another socket has the address (EADDRINUSE).</summary>
    AddressInUse,

    /// <summary>The system refused the bind for another reason. The native core reports EADDRINUSE too.</summary>
    NotBindable,

    /// <summary>No file descriptor is left (EMFILE).</summary>
    NoDescriptors,

    /// <summary>A directory of the path is missing (ENOENT).</summary>
    NoSuchPath,

    /// <summary>A part of the path is not a directory (ENOTDIR).</summary>
    NotADirectory,

    /// <summary>The path or name is longer than an address (ENAMETOOLONG).</summary>
    NameTooLong,

    /// <summary>This process may not use the path (EACCES).</summary>
    AccessDenied,

    /// <summary>The two socket types cannot communicate (ENOCOMPATPROTO).</summary>
    Incompatible,
}
