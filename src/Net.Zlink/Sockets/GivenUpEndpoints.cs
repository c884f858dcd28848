using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Sockets;

/// <summary>The endpoints that a socket was told to connect to and tries no more, each with the reason: a fault of the protocol, which the
/// next attempt would meet again. Any thread.</summary>
internal sealed class GivenUpEndpoints
{
    // For people: so many they look at, and a program that connects anew after each fault keeps no more.
    private const int MaxEndpoints = 16;

    private readonly Lock _gate = new();
    private readonly List<(string Endpoint, string Why)> _all = [];

    /// <summary>The latest of them, oldest first.</summary>
    public (string Endpoint, string Why)[] All
    {
        get
        {
            lock (_gate)
            {
                return [.. _all];
            }
        }
    }

    /// <summary>No further attempt is made.</summary>
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

    /// <summary>It was connected to, or let go of, once more.</summary>
    public void Forget(string endpoint)
    {
        lock (_gate)
        {
            Remove(endpoint);
        }
    }

    /// <summary>The one that was given up last.</summary>
    public bool TryGetLast([NotNullWhen(true)] out string? endpoint, [NotNullWhen(true)] out string? why)
    {
        lock (_gate)
        {
            (endpoint, why) = _all.Count == 0 ? default : _all[^1];
            return endpoint is not null && why is not null;
        }
    }

    private void Remove(string endpoint) => _all.RemoveAll(one => string.Equals(one.Endpoint, endpoint, StringComparison.Ordinal));
}
