namespace Net.Zlink;

/// <summary>What this library is and can do.</summary>
public static class ZlinkLibrary
{
    /// <summary>The name of the meter that every context has, for <c>AddMeter</c> (docs/monitoring.md).</summary>
    public const string MeterName = "Net.Zlink";

    /// <summary>The category of every log line, for filters (docs/monitoring.md).</summary>
    public const string LogCategory = "Net.Zlink";

    /// <summary>The version of this library.</summary>
    public static Version Version { get; } = typeof(ZlinkLibrary).Assembly.GetName().Version!;

    /// <summary>The version of the native core whose behaviour and wire protocol this library follows.</summary>
    public static Version NativeVersion { get; } = new(1, 3, 0);

    /// <summary>Whether a transport or feature is built in, as zlink_has tells natively; except for "inproc", to which the native core says
    /// no although it has it.</summary>
    /// <param name="capability">Its native name, in lower case: "tcp", "ipc", "inproc", "tls", "ws", "wss" ...</param>
    /// <returns>True for tcp, ipc (where this system has Unix domain sockets), inproc, tls, ws and wss. False for all else.</returns>
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
