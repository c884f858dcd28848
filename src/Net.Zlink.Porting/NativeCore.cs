namespace Net.Zlink.Porting;

/// <summary>What a program asks the native library about itself.</summary>
public static class NativeCore
{
    /// <summary>The version of the native core that Net.Zlink follows.</summary>
    public static Version Version { get; } = new(1, 3, 0);

    /// <summary>
    /// Whether a transport or feature is available, as the native zlink_has. The native core answers no for "inproc", although it has it.
    /// </summary>
    /// <param name="capability">The native name in lower case: "tcp", "ipc", "inproc", "tls", "ws", "wss" and others.</param>
    /// <returns>True for tcp, ipc (if the system has Unix domain sockets), inproc, tls, ws and wss. Otherwise false.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="capability"/> is null.</exception>
    public static bool Has(string capability)
    {
        ArgumentNullException.ThrowIfNull(capability);
        return capability switch
        {
            "tcp" or "inproc" or "tls" or "ws" or "wss" => true,
            "ipc" => System.Net.Sockets.Socket.OSSupportsUnixDomainSockets,
            _ => false,
        };
    }
}
