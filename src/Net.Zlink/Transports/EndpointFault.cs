namespace Net.Zlink.Transports;

internal enum EndpointFault
{
    None,

    /// <summary>EINVAL.</summary>
    Invalid,

    /// <summary>EPROTONOSUPPORT.</summary>
    UnknownScheme,

    /// <summary>No such name, or none with a usable address (ENODEV).</summary>
    NoSuchName,

    /// <summary>EADDRINUSE.</summary>
    AddressInUse,

    /// <summary>Refused for another reason; the native core reports EADDRINUSE too.</summary>
    NotBindable,

    /// <summary>EMFILE.</summary>
    NoDescriptors,

    /// <summary>ENOENT.</summary>
    NoSuchPath,

    /// <summary>ENOTDIR.</summary>
    NotADirectory,

    /// <summary>ENAMETOOLONG.</summary>
    NameTooLong,

    /// <summary>EACCES.</summary>
    AccessDenied,

    /// <summary>ENOCOMPATPROTO.</summary>
    Incompatible,
}
