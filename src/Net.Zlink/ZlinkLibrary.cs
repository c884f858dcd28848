namespace Net.Zlink;

/// <summary>The names, versions and features of this library.</summary>
public static class ZlinkLibrary
{
    /// <summary>The name of every context's meter, for <c>AddMeter</c> (docs/monitoring.md).</summary>
    public const string MeterName = "Net.Zlink";

    /// <summary>The category of every log message, for filters (docs/monitoring.md).</summary>
    public const string LogCategory = "Net.Zlink";

    /// <summary>The version of this library.</summary>
    public static Version Version { get; } = typeof(ZlinkLibrary).Assembly.GetName().Version!;

    /// <summary>The version of the native core that this library follows.</summary>
    public static Version NativeVersion { get; } = new(1, 3, 0);

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
