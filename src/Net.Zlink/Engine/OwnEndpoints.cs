namespace Net.Zlink.Engine;

/// <summary>The former endpoints of this context's listeners. Any thread.</summary>
/// <remarks>
/// The context's shutdown does not wait for messages to them: their listener is gone. Otherwise a test that binds, connects, sends and
/// disposes before the handshake takes the whole shutdown timeout.
/// </remarks>
internal sealed class OwnEndpoints
{
    // Limits a program that binds one port after another for years; a test binds some dozens.
    private const int MaxEndpoints = 1_000;

    private readonly Lock _gate = new();
    private readonly HashSet<string> _former = new(StringComparer.Ordinal);
    private bool _isEnding;

    public void End()
    {
        lock (_gate)
        {
            _isEnding = true;
        }
    }

    public void Enter(string endpoint)
    {
        lock (_gate)
        {
            _former.Remove(endpoint);
        }
    }

    public void Leave(string endpoint)
    {
        lock (_gate)
        {
            if (_former.Count < MaxEndpoints)
            {
                _former.Add(endpoint);
            }
        }
    }

    /// <summary>The context ends, and the endpoint was its own.</summary>
    public bool IsGone(string endpoint)
    {
        lock (_gate)
        {
            return _isEnding && _former.Contains(endpoint);
        }
    }
}
