namespace Net.Zlink.Engine;

/// <summary>The endpoints that sockets of this context listened at and do no more. Any thread.</summary>
/// <remarks>
/// At the context's end what was sent to one of them is not waited for: who would take it has gone with the context. Else every test that binds, connects, sends and disposes its context before the handshake is through
/// would take the whole shutdown timeout.
/// </remarks>
internal sealed class OwnEndpoints
{
    // A program that binds one port after the other for years keeps no more; a test binds some dozens.
    private const int MaxEndpoints = 1_000;

    private readonly Lock _gate = new();
    private readonly HashSet<string> _left = new(StringComparer.Ordinal);
    private bool _isEnding;

    /// <summary>The context ends: nobody will listen there again.</summary>
    public void End()
    {
        lock (_gate)
        {
            _isEnding = true;
        }
    }

    /// <summary>A socket listens there from now on.</summary>
    public void Enter(string endpoint)
    {
        lock (_gate)
        {
            _left.Remove(endpoint);
        }
    }

    /// <summary>It does no more.</summary>
    public void Leave(string endpoint)
    {
        lock (_gate)
        {
            if (_left.Count < MaxEndpoints)
            {
                _left.Add(endpoint);
            }
        }
    }

    /// <summary>The context ends, and the endpoint was its own.</summary>
    public bool IsGone(string endpoint)
    {
        lock (_gate)
        {
            return _isEnding && _left.Contains(endpoint);
        }
    }
}
