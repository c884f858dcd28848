namespace Net.Zlink.Services;

/// <summary>Checks the text of an endpoint without connecting. An invalid text must throw at once instead of being retried.</summary>
internal static class EndpointCheck
{
    public static void ThrowIfInvalid(string endpoint)
    {
        try
        {
            var parsed = ZlinkEndpoint.Parse(endpoint);
            if (!parsed.CanConnect)
            {
                throw new ZlinkException(
                    ZlinkError.InvalidArgument, $"No socket can connect to {parsed}: write the host, and the port that Bind returned.");
            }
        }
        catch (FormatException e)
        {
            throw new ZlinkException(ZlinkError.InvalidArgument, e.Message, e);
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
