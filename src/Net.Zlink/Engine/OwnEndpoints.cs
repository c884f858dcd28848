namespace Net.Zlink.Engine;

/// <summary>
/// The former endpoints of this context's listeners. The shutdown does not wait for messages to them: a test that binds, connects, sends
/// and disposes before the handshake would take the whole shutdown timeout.
/// </summary>
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

    public bool IsGone(string endpoint)
    {
        lock (_gate)
        {
            return _isEnding && _former.Contains(endpoint);
        }
    }
}
