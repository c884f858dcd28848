namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>One client for the time of its life.</summary>
internal interface ISoakClient : IAsyncDisposable
{
    ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellation);

    /// <summary>The next message's number (<see cref="SoakMessage"/>), or -1 if it is broken.</summary>
    ValueTask<long> ReceiveAsync(CancellationToken cancellation);

    /// <summary>How it stands, for a fault.</summary>
    string Describe();
}

/// <summary>PAIR or DEALER.</summary>
internal sealed class DuplexClient(DuplexSocket socket) : ISoakClient
{
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellation) => socket.SendAsync(payload, cancellation);

    public async ValueTask<long> ReceiveAsync(CancellationToken cancellation)
    {
        using Message message = await socket.ReceiveAsync(cancellation);
        return SoakMessage.Read(message.Span);
    }

    public string Describe() => socket.Describe();

    public ValueTask DisposeAsync() => socket.DisposeAsync();
}

/// <summary>ROUTER.</summary>
internal sealed class RouterClient(RouterSocket socket, byte[] serverId) : ISoakClient
{
    // A mandatory router refuses to send before it knows its peer.
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(5);

    private bool _isKnown;

    public async ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellation)
    {
        while (!_isKnown)
        {
            if (socket.To(serverId).TrySend(payload.Span))
            {
                _isKnown = true;
                return;
            }

            await Task.Delay(Step, cancellation);
        }

        await socket.To(serverId).SendAsync(payload, cancellation);
    }

    public async ValueTask<long> ReceiveAsync(CancellationToken cancellation)
    {
        using Message message = await socket.ReceiveAsync(cancellation);
        return SoakMessage.Read(message.Span);
    }

    public string Describe() => socket.Describe();

    public ValueTask DisposeAsync() => socket.DisposeAsync();
}

/// <summary>SUB: receives only.</summary>
internal sealed class SubClient(SubSocket socket) : ISoakClient
{
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellation) => throw new NotSupportedException();

    public async ValueTask<long> ReceiveAsync(CancellationToken cancellation)
    {
        using Message message = await socket.ReceiveAsync(cancellation);
        return SoakMessage.Read(message.Span);
    }

    public string Describe() => socket.Describe();

    public ValueTask DisposeAsync() => socket.DisposeAsync();
}

/// <summary>STREAM, by pull.</summary>
internal sealed class StreamClient(StreamSocket socket, uint server) : ISoakClient
{
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellation) =>
        socket.To(server).SendAsync(payload, cancellation);

    public async ValueTask<long> ReceiveAsync(CancellationToken cancellation)
    {
        while (true)
        {
            using StreamMessage message = await socket.ReceiveAsync(cancellation);
            if (message.Kind != StreamMessageKind.Connected)
            {
                return message.Kind == StreamMessageKind.Data ? SoakMessage.Read(message.Span) : -1;
            }
        }
    }

    public string Describe() => socket.Describe();

    public ValueTask DisposeAsync() => socket.DisposeAsync();
}
