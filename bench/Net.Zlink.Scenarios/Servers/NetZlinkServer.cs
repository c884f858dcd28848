using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Wire;
using Samples;

namespace Net.Zlink.Scenarios.Servers;

/// <summary>Our STREAM socket, push (a handler on the peer's shard) or pull (one task that receives and answers).</summary>
internal sealed class NetZlinkServer : IEchoServer
{
    private readonly ZlinkContext _context;
    private readonly StreamSocket _stream;
    private readonly Task _pulling = Task.CompletedTask;

    public NetZlinkServer(Address address, ServerSettings settings, bool isPull)
    {
        _context = new ZlinkContext(new ZlinkContextOptions { ShardCount = settings.Shards });
        var options = new StreamOptions
        {
            Backlog = settings.Backlog,
            SendHighWaterMark = settings.HighWaterMark,
            ReceiveHighWaterMark = settings.HighWaterMark,

            // A client that does not answer our end of a connection holds the server's own end up for no longer.
            CloseTimeout = TimeSpan.FromSeconds(1),

            // Of pull: the task below never blocks.
            AllowSynchronousContinuations = true,
        };
        if (address.IsTls)
        {
            options.Tls.Certificate = CertificateMaker.Make($"CN={address.Host}", [address.Host]);
        }

        _stream = _context.CreateStream(options);
        try
        {
            Endpoint = isPull ? _stream.Bind(settings.Endpoint) : _stream.Bind(settings.Endpoint, new EchoHandler());
        }
        catch (ZlinkException e)
        {
            _context.Dispose();
            throw new RequestException($"Net.Zlink cannot listen on {settings.Endpoint}: {e.Message}", e);
        }

        if (isPull)
        {
            _pulling = Task.Run(PullAsync);
        }
    }

    public string Endpoint { get; }

    public ServerCounts GetCounts()
    {
        SocketStatistics statistics = _stream.GetStatistics();
        return new ServerCounts(statistics.Peers,
            statistics.DroppedMessages + statistics.DroppedUnreadMessages + statistics.RefusedConnections + statistics.AcceptErrors);
    }

    public async ValueTask DisposeAsync()
    {
        await _context.DisposeAsync();
        await _pulling;
    }

    private async Task PullAsync()
    {
        // 256 messages spread the cost of a wake-up thin and still leave the first one answered within some 100 us.
        var batch = new StreamMessage[256];
        try
        {
            while (true)
            {
                int count = await _stream.ReceiveManyAsync(batch);
                for (int next = 0; next < count;)
                {
                    int first = next++;
                    if (batch[first].Kind == StreamMessageKind.Data)
                    {
                        // What one peer has sent comes together, and goes back together.
                        while (next < count && batch[next].Kind == StreamMessageKind.Data && batch[next].PeerId == batch[first].PeerId)
                        {
                            next++;
                        }

                        int sent = _stream.SendMany(batch[first].PeerId, batch.AsSpan(first, next - first));
                        if (sent < next - first)
                        {
                            await SendRestAsync(batch.AsMemory(first + sent, next - first - sent));
                        }
                    }
                }
            }
        }
        catch (Exception e) when (e is ZlinkException { Error: ZlinkError.ContextTerminated } or ObjectDisposedException)
        {
            // The server ends.
        }
    }

    /// <summary>The peer has no room for these, or is gone.</summary>
    private async Task SendRestAsync(ReadOnlyMemory<StreamMessage> messages)
    {
        for (int i = 0; i < messages.Length; i++)
        {
            using StreamMessage message = messages.Span[i];
            try
            {
                await _stream.To(message.PeerId).SendAsync(message.Payload);
            }
            catch (ZlinkException e) when (e.Error == ZlinkError.HostUnreachable)
            {
                // It left while we waited.
            }
        }
    }

    private sealed class EchoHandler : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            int sent = peer.SendMany(frames);
            return sent == frames.Count ? ValueTask.CompletedTask : SendRestAsync(peer, frames, sent);
        }

        private static async ValueTask SendRestAsync(StreamPeer peer, StreamFrames frames, int alreadySent)
        {
            try
            {
                int index = 0;
                foreach (ReadOnlyMemory<byte> frame in frames)
                {
                    if (index++ >= alreadySent)
                    {
                        await peer.SendAsync(frame);
                    }
                }
            }
            catch (ZlinkException)
            {
                // The peer left, or the server ends, while we waited.
            }
        }
    }
}
