namespace Net.Zlink;

internal sealed class ProxyFlow(ProxyPort from, ProxyPort to, ProxyPort? capture)
{
    public const int Burst = 1000;

    // Received and waiting for capacity: at most one, because unreceived messages slow their sender.
    private Message _pending;
    private bool _isCaptured;
    private int _parts;
    private long _bytes;
    private long _undeliverable;

    public ProxyCounter Received { get; } = new();

    public ProxyCounter Sent { get; } = new();

    public long Undeliverable => Volatile.Read(ref _undeliverable);

    public bool HasPending => !_pending.IsNothing;

    public int Advance()
    {
        // Not received before there is capacity: until then it counts against its sender's high-water mark.
        if (!HasPending && !to.HasCapacity)
        {
            return 0;
        }

        int moved = 0;
        while (moved < Burst && (HasPending || Receive()) && PassOn())
        {
            moved++;
        }

        return moved;
    }

    public void Drop()
    {
        if (HasPending)
        {
            CompletePending(delivered: false);
        }
    }

    private bool Receive()
    {
        if (!from.TryReceive(out _pending))
        {
            return false;
        }

        _isCaptured = capture is null;
        _parts = _pending.PartCount;
        _bytes = _pending.ByteCount;
        if (from.IsRouter)
        {
            _parts++;
            _bytes += _pending.RoutingId.Length;
        }

        Received.Add(_parts, _bytes);
        return true;
    }

    private bool PassOn()
    {
        if (!_isCaptured && !Capture())
        {
            return false;
        }

        SendResult result = to.TrySend(_pending, from.IsRouter);
        if (result.Reason == SendFailure.Full)
        {
            return false;
        }

        CompletePending(delivered: result);
        return true;
    }

    private bool Capture()
    {
        using Message copy = _pending.Copy();
        SendResult result = capture!.TrySend(copy, from.IsRouter);
        if (result.Reason == SendFailure.TooManyParts)
        {
            CountUndeliverable(); // The copy only. The message is passed: its sender must not stop others by its shape.
        }

        _isCaptured = result.Reason != SendFailure.Full;
        return _isCaptured;
    }

    private void CompletePending(bool delivered)
    {
        _pending.Dispose();
        _pending = default;
        if (delivered)
        {
            Sent.Add(_parts, _bytes);
        }
        else
        {
            CountUndeliverable();
        }
    }

    private void CountUndeliverable() => Volatile.Write(ref _undeliverable, _undeliverable + 1);
}

internal sealed class ProxyCounter
{
    private long _messages;
    private long _parts;
    private long _bytes;

    public ProxyTraffic Traffic => new()
    {
        Messages = Volatile.Read(ref _messages),
        Parts = Volatile.Read(ref _parts),
        Bytes = Volatile.Read(ref _bytes),
    };

    public void Add(int parts, long bytes)
    {
        Volatile.Write(ref _messages, _messages + 1);
        Volatile.Write(ref _parts, _parts + parts);
        Volatile.Write(ref _bytes, _bytes + bytes);
    }
}
