using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Played;

/// <summary>The played end of one connection. It always reads, so the implementation is never held up.</summary>
internal abstract class PlayedConnection(int number, Signal changed, Func<long> clock) : IDisposable
{
    private readonly MemoryStream _received = new();
    private readonly List<(int Count, long At)> _arrivals = [];
    private volatile bool _isDropped;

    public int Number => number;

    /// <summary>0 where there are none.</summary>
    public abstract int LocalPort { get; }

    public abstract int RemotePort { get; }

    /// <summary>How many bytes the other side has sent so far, as far as they were read.</summary>
    public int ReceivedCount
    {
        get
        {
            lock (Gate)
            {
                return (int)_received.Length;
            }
        }
    }

    /// <summary>How many bytes were sent on this end.</summary>
    public int SentCount { get; private set; }

    /// <summary>How the other side ended its sending; null while it has not.</summary>
    public CloseKind? End { get; protected set; }

    /// <summary>True once this end has closed, shut down sending, or dropped the connection.</summary>
    public bool ClosedHere { get; private set; }

    /// <summary>True once the connection was dropped: what was to be sent may have gone with it.</summary>
    public bool IsDropped => _isDropped;

    /// <summary>Reading and its bookkeeping are one: when nothing is under way, <see cref="Received"/> has all.</summary>
    protected Lock Gate { get; } = new();

    protected Signal Changed => changed;

    public byte[] Received(int from)
    {
        lock (Gate)
        {
            return _received.GetBuffer().AsSpan(from, (int)_received.Length - from).ToArray();
        }
    }

    /// <summary>When, by the replay's clock, the first <paramref name="count"/> bytes were there.</summary>
    public long ArrivalOf(int count)
    {
        lock (Gate)
        {
            return _arrivals.First(arrival => arrival.Count >= count).At;
        }
    }

    /// <summary>Takes in what there is for this end.</summary>
    public abstract void Drain();

    /// <summary>Sends all of it. A connection that the other side has closed swallows it: that may fail, and is no fault.</summary>
    public Task SendAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellation)
    {
        SentCount += bytes.Length;
        return WriteAsync(bytes, cancellation);
    }

    /// <summary>Ends sending and reads on until the other side has closed.</summary>
    public void ShutdownSend()
    {
        ClosedHere = true;
        if (!_isDropped)
        {
            EndSending();
        }
    }

    /// <summary>The network, or a scripted listener, drops the connection.</summary>
    public void Drop(CloseKind how)
    {
        Drain();
        lock (Gate)
        {
            ClosedHere = true;
            if (!_isDropped)
            {
                _isDropped = true;
                Leave(how);
            }
        }

        changed.Set();
    }

    public void Dispose() => Drop(CloseKind.Rst); // No TIME_WAIT: a run makes thousands of connections.

    protected abstract Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellation);

    protected abstract void EndSending();

    /// <summary>Under the gate.</summary>
    protected abstract void Leave(CloseKind how);

    /// <summary>Under the gate.</summary>
    protected void Add(ReadOnlySpan<byte> bytes)
    {
        _received.Write(bytes);
        _arrivals.Add(((int)_received.Length, clock()));
    }
}
