namespace Net.Zlink.Services;

/// <summary>Checks the text of an endpoint without connecting: a text that is none must throw at once and not be tried for ever.</summary>
internal static class EndpointCheck
{
    private static ReadOnlySpan<byte> PeerName => "x"u8;

    public static void ThrowIfInvalid(ZlinkContext context, string endpoint)
    {
        // Connect reads the text first and then finds that the name of the peer is in use, so nothing is connected.
        using RouterSocket socket = context.CreateRouter(new RouterOptions { Immediate = true, Linger = TimeSpan.Zero });
        socket.Connect($"inproc://{Guid.NewGuid():N}", PeerName);
        try
        {
            socket.Connect(endpoint, PeerName);
        }
        catch (ZlinkException e) when (e.Error == ZlinkError.AddressInUse)
        {
        }
    }
}

/// <summary>What sockets do not do over inproc, as in the native core: there are no connection events, and nothing connects anew when the
/// binder has ended and comes again. So these endpoints are looked at from time to time.</summary>
internal static class InprocEndpoints
{
    public static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);

    public static bool IsInproc(string endpoint) => endpoint.StartsWith("inproc:", StringComparison.Ordinal);

    /// <summary>Connects those that the socket has no connection to.</summary>
    public static void ConnectMissing(ZmpSocket socket, IEnumerable<string> endpoints)
    {
        foreach (string endpoint in endpoints.Where(IsInproc).Except(socket.ConnectedEndpoints, StringComparer.Ordinal))
        {
            try
            {
                socket.Connect(endpoint);
            }
            catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
            {
                // Another socket has the name, or the context is ending: it is tried again.
            }
        }
    }
}

/// <summary>An endpoint for spans, logs, exceptions and descriptions, without secrets. It is made only where something is
/// shown.</summary>
internal readonly record struct RedactedEndpoint(string Endpoint)
{
    public static implicit operator RedactedEndpoint(string endpoint) => new(endpoint);

    public override string ToString() => ZlinkEndpoint.WithoutSecrets(Endpoint);
}
