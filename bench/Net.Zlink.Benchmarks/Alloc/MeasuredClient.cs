namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>Our own client side under measurement: one connection made by ConnectAsync, a window of messages on their way.</summary>
internal sealed class MeasuredClient : StreamHandler, IAsyncDisposable
{
    private readonly ZlinkContext _context;
    private readonly StreamSocket _socket;
    private readonly bool _push;
    private readonly int _inFlight;
    private readonly byte[] _payload;
    private TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private uint _peer;
    private int _toSend;
    private int _toReceive;

    /// <param name="context">Owned.</param>
    /// <param name="mode">How it receives: see <see cref="EchoModes"/>.</param>
    /// <param name="inFlight">The window.</param>
    /// <param name="size">Payload bytes.</param>
    public MeasuredClient(ZlinkContext context, string mode, int inFlight, int size)
    {
        _context = context;
        _socket = _context.CreateStream();
        _push = string.Equals(mode, EchoModes.Push, StringComparison.Ordinal);
        _inFlight = inFlight;
        _payload = new byte[size];
        Random.Shared.NextBytes(_payload);
    }

    private EchoCounts Counts { get; } = new();

    public AllocMark Mark() => AllocMark.Now(Counts, _context.Pool);

    public async Task ConnectAsync(string endpoint, CancellationToken cancellation) =>
        _peer = await _socket.ConnectAsync(endpoint, new StreamConnectOptions { Handler = _push ? this : null }, cancellation);

    /// <summary>Sends so many messages and completes when all their replies have come.</summary>
    public async Task RunAsync(int messages, CancellationToken cancellation)
    {
        int window = Math.Min(_inFlight, messages);
        _toSend = messages - window;
        _toReceive = messages;
        _done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        for (int i = 0; i < window; i++)
        {
            await _socket.To(_peer).SendAsync(_payload, cancellation);
        }

        await (_push ? _done.Task.WaitAsync(cancellation) : PullAsync(cancellation));
    }

    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> reply in frames)
        {
            if (OnReply(reply.Span))
            {
                // The window is far below the high-water mark: a refusal would leave the run without its end, and fail it.
                peer.TrySend(_payload);
            }
        }

        return ValueTask.CompletedTask;
    }

    public override void OnDisconnected(StreamPeer peer, Monitoring.DisconnectReason reason) =>
        _done.TrySetException(new InvalidOperationException($"The server ended the connection: {reason}."));

    public async ValueTask DisposeAsync()
    {
        await _socket.DisposeAsync();
        await _context.DisposeAsync();
    }

    private async Task PullAsync(CancellationToken cancellation)
    {
        while (_toReceive > 0)
        {
            ValueTask<StreamMessage> receive = _socket.ReceiveAsync(cancellation);
            if (!receive.IsCompleted)
            {
                Counts.ReceiveWaits++;
            }

            using StreamMessage message = await receive;
            if (message.Kind == StreamMessageKind.Data && OnReply(message.Span))
            {
                await _socket.To(_peer).SendAsync(_payload, cancellation);
            }
        }
    }

    /// <summary>True if another message is to be sent.</summary>
    private bool OnReply(ReadOnlySpan<byte> reply)
    {
        if (!reply.SequenceEqual(_payload))
        {
            throw new InvalidOperationException("A reply differs from what was sent.");
        }

        Counts.Messages++;
        if (--_toReceive == 0)
        {
            _done.TrySetResult();
        }

        return _toSend-- > 0;
    }
}
