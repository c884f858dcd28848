namespace Net.Zlink.Services;

/// <summary>Checks the text of an endpoint without connecting. An invalid text must throw at once instead of being retried.</summary>
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

/// <summary>Polls inproc endpoints, because inproc does not reconnect when the binder returns, as in the native core.</summary>
internal static class InprocEndpoints
{
    public static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);

    public static bool IsInproc(string endpoint) => endpoint.StartsWith("inproc:", StringComparison.Ordinal);

    /// <summary>Connects the inproc endpoints to which the socket has no connection.</summary>
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
                // The name is in use, or the context is ending: the next poll tries again.
            }
        }
    }
}

/// <summary>An endpoint for spans, logs, exceptions and descriptions, without secrets. The text is built only when it is
/// used.</summary>
internal readonly record struct RedactedEndpoint(string Endpoint)
{
    public static implicit operator RedactedEndpoint(string endpoint) => new(endpoint);

    public override string ToString() => ZlinkEndpoint.WithoutSecrets(Endpoint);
}
