namespace Net.Zlink.Sockets.Endpoints;

/// <summary>
/// The endpoints of a socket that are no longer dialled, with the reason: a protocol error that the next attempt would meet again. They are
/// kept whole, since two may differ in the query only.
/// </summary>
internal sealed class GivenUpEndpoints
{
    private const int MaxEndpoints = 16;

    private readonly Lock _gate = new();
    private readonly List<(string Endpoint, string Why)> _all = [];

    public (RedactedEndpoint Endpoint, string Why)[] All
    {
        get
        {
            lock (_gate)
            {
                return [.. _all.Select(static one => (new RedactedEndpoint(one.Endpoint), one.Why))];
            }
        }
    }

    public void Add(string endpoint, string why)
    {
        lock (_gate)
        {
            Remove(endpoint);
            if (_all.Count == MaxEndpoints)
            {
                _all.RemoveAt(0);
            }

            _all.Add((endpoint, why));
        }
    }

    public void Forget(string endpoint)
    {
        lock (_gate)
        {
            Remove(endpoint);
        }
    }

    private void Remove(string endpoint) => _all.RemoveAll(one => string.Equals(one.Endpoint, endpoint, StringComparison.Ordinal));
}
