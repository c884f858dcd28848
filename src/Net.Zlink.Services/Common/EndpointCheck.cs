namespace Net.Zlink.Services;

/// <summary>Checks the text of an endpoint without connecting: a text that is none must throw at once and not be tried for ever.</summary>
internal static class EndpointCheck
{
    private static ReadOnlySpan<byte> PeerName => "x"u8;

    /// <exception cref="ZlinkException">That is no endpoint that a socket can connect to.</exception>
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
