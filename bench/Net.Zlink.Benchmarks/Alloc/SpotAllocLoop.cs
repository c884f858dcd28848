using Net.Zlink.Services;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>One or two SPOT nodes, and what they do.</summary>
internal sealed class SpotAllocLoop : IAllocLoop
{
    private const string Topic = "zone:12:34";
    private const int BatchSize = 64;

    // Eight copies of each are under way, and the library keeps 4,096 leases for reuse. PUB may count more than this: a message can have
    // arrived before its write is accounted for, hence NoDrop.
    private const int MostUnderWay = 400;

    private readonly ZlinkContext _context;
    private readonly EchoCounts _counts = new();
    private readonly SpotAllocCase _case;
    private readonly byte[] _payload;
    private readonly ReadOnlyMemory<byte>[] _batch = new ReadOnlyMemory<byte>[BatchSize];
    private readonly SpotNode _publishing;
    private readonly SpotNode _subscribing;
    private readonly SpotPublisher _publisher;
    private readonly SpotSubscriber[] _subscribers;
    private readonly long[] _received;
    private bool _isReady;

    /// <param name="context">Owned.</param>
    /// <param name="what">The case.</param>
    /// <param name="highWaterMark">Of each socket, in both directions.</param>
    public SpotAllocLoop(ZlinkContext context, SpotAllocCase what, int highWaterMark)
    {
        _context = context;
        _case = what;
        _payload = new byte[what.Size];
        Array.Fill(_batch, _payload);
        _publishing = new SpotNode(context, new SpotNodeOptions
        {
            PublishQueueCapacity = what.Mode is SpotAllocCase.Queued ? highWaterMark : 0,
            PublisherSocket = { NoDrop = true, SendHighWaterMark = highWaterMark },
        });
        _subscribing = what.Mode is SpotAllocCase.Local or SpotAllocCase.Queued ? _publishing
            : new SpotNode(context, new SpotNodeOptions { SubscriberSocket = { ReceiveHighWaterMark = highWaterMark } });
        if (_subscribing != _publishing)
        {
            _subscribing.Connect(_publishing.Bind("tcp://127.0.0.1:*"));
        }

        _publisher = _publishing.CreatePublisher(Topic);
        _subscribers = [.. Enumerable.Range(0, what.Mode is SpotAllocCase.Eight ? 8 : 1).Select(_ => _subscribing.CreateSubscriber())];
        _received = new long[_subscribers.Length];
        Array.ForEach(_subscribers, static subscriber => subscriber.Subscribe(Topic));
    }

    public AllocMark Mark() => AllocMark.Now(_counts, _context.Pool);

    public async Task RunAsync(int messages)
    {
        await GetReadyAsync();
        int each = messages / _subscribers.Length / BatchSize * BatchSize;
        Array.Clear(_received);
        if (_case.Mode is SpotAllocCase.RemoteWaits)
        {
            await PingAsync(each);
            return;
        }

        await Task.WhenAll([Task.Run(() => PublishAllAsync(each)),
            .. Enumerable.Range(0, _subscribers.Length).Select(i => Task.Run(() => ReceiveAllAsync(i, each)))]);
    }

    public async ValueTask DisposeAsync()
    {
        await _subscribing.DisposeAsync();
        await _publishing.DisposeAsync();
        await _context.DisposeAsync();
    }

    private async Task PingAsync(int messages)
    {
        SpotMessage[] received = new SpotMessage[1];
        for (int i = 0; i < messages; i++)
        {
            ValueTask<SpotMessage> receive = Counted(_subscribers[0].ReceiveAsync());
            await _publisher.PublishAsync(_payload);
            received[0] = await receive;
            Check(received);
        }
    }

    private async Task PublishAllAsync(int messages)
    {
        for (int sent = 0; sent < messages;)
        {
            while (sent - _received.Min() >= MostUnderWay)
            {
                await Task.Yield();
            }

            if (_case.Mode is SpotAllocCase.Batches)
            {
                await _publisher.PublishManyAsync(_batch);
                sent += BatchSize;
            }
            else
            {
                await _publisher.PublishAsync(_payload);
                sent++;
            }
        }
    }

    private async Task ReceiveAllAsync(int subscriber, int messages)
    {
        SpotMessage[] batch = new SpotMessage[_case.Mode is SpotAllocCase.Batches ? BatchSize : 1];
        for (int received = 0; received < messages;)
        {
            if (batch.Length == 1)
            {
                batch[0] = await Counted(_subscribers[subscriber].ReceiveAsync());
                received += Check(batch.AsSpan());
            }
            else
            {
                int count = await Counted(_subscribers[subscriber].ReceiveManyAsync(batch));
                received += Check(batch.AsSpan(0, count));
            }

            Volatile.Write(ref _received[subscriber], received);
        }
    }

    /// <summary>Once: waits until the subscription has reached the publishing node.</summary>
    private async Task GetReadyAsync()
    {
        if (_isReady)
        {
            return;
        }

        _isReady = true;
        byte[] mark = [1];
        while (_subscribers.Any(static subscriber => subscriber.GetStatistics().Matched == 0))
        {
            await _publisher.PublishAsync(mark);
            await Task.Delay(1);
        }

        // All that was published has arrived when this has.
        byte[] last = [2];
        await _publisher.PublishAsync(last);
        foreach (SpotSubscriber subscriber in _subscribers)
        {
            bool isLast = false;
            while (!isLast)
            {
                using SpotMessage message = await subscriber.ReceiveAsync();
                isLast = message.Span.SequenceEqual(last);
            }
        }
    }

    private int Check(Span<SpotMessage> messages)
    {
        foreach (SpotMessage message in messages)
        {
            if (!message.Span.SequenceEqual(_payload))
            {
                throw new InvalidOperationException("A message arrived with other bytes than it was published with.");
            }

            Interlocked.Increment(ref _counts.Messages);
            message.Dispose();
        }

        return messages.Length;
    }

    /// <summary>Not an async method: the wait itself is what is measured, not a second state machine around it.</summary>
    private ValueTask<T> Counted<T>(ValueTask<T> wait)
    {
        if (!wait.IsCompleted)
        {
            Interlocked.Increment(ref _counts.ReceiveWaits);
        }

        return wait;
    }
}
