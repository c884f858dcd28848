using System.Buffers;
using System.Threading.Channels;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>A socket that sends each message to several others, and these: as fast as it goes, each on a task of its own.</summary>
internal sealed class FanoutAllocLoop : IAllocLoop
{
    private readonly ZlinkContext _context;
    private readonly EchoCounts _counts = new();
    private readonly FanoutAllocCase _case;
    private readonly (int Send, int Receive) _marks;
    private readonly int _window;
    private readonly byte[] _payload;
    private readonly ReturningMemory? _memory;
    private readonly ReceivingSocket[] _receivers;
    private readonly Func<ReadOnlyMemory<byte>, ValueTask> _send;
    private readonly Func<IMemoryOwner<byte>, ValueTask> _handOver;
    private readonly Channel<int> _caughtUp = Channel.CreateBounded<int>(FanoutAllocCase.Peers);

    /// <param name="context">Owned.</param>
    /// <param name="what">The case.</param>
    /// <param name="highWaterMark">As for <see cref="FanoutAllocCase.MarksOf"/>.</param>
    public FanoutAllocLoop(ZlinkContext context, FanoutAllocCase what, int highWaterMark)
    {
        _context = context;
        _case = what;
        _marks = what.MarksOf(highWaterMark);
        _window = Math.Max(1, _marks.Send / 2); // At no mark, whatever still lies in a queue when the next window begins.
        _payload = new byte[what.Size];
        Random.Shared.NextBytes(_payload);
        _payload[0] = (byte)'m'; // A first byte of 0 or 1 would make it a topic on XSUB.

        // More than a queue takes in: what a send waits for is room there, not memory.
        _memory = what.HandsOver ? new ReturningMemory(_payload, 2 * _marks.Send) : null;
        switch (what.Sender)
        {
            case FanoutAllocCase.Pub:
                // Every message is waited for, so none may be dropped.
                PubSocket pub = Limited(_context.CreatePub(new PubOptions { NoDrop = true }));
                _receivers = Subscribe(pub, static pub => pub.TopicCount);
                _send = payload => pub.SendAsync(payload);
                _handOver = memory => pub.SendAsync(memory, what.Size);
                break;
            case FanoutAllocCase.XPub:
                XPubSocket xpub = Limited(_context.CreateXPub(new XPubOptions { NoDrop = true }));
                _receivers = Subscribe(xpub, static xpub => xpub.TopicCount);
                _send = payload => xpub.SendAsync(payload);
                _handOver = memory => xpub.SendAsync(memory, what.Size);
                break;
            default:
                XSubSocket xsub = Limited(_context.CreateXSub());
                _receivers = Publish(xsub);
                _send = payload => xsub.SendAsync(payload);
                _handOver = memory => xsub.SendAsync(memory, what.Size);
                break;
        }
    }

    public AllocMark Mark() => AllocMark.Now(_counts, _context.Pool);

    /// <inheritdoc/>
    /// <remarks>Counted is what arrives, as everywhere: several of each.</remarks>
    public Task RunAsync(int messages) =>
        Task.WhenAll([Task.Run(() => SendAllAsync(messages)),
            .. _receivers.Select(receiver => Task.Run(() => ReceiveAllAsync(receiver, messages)))]);

    public ValueTask DisposeAsync() => _context.DisposeAsync();

    private async Task SendAllAsync(int messages)
    {
        for (int i = 1; i <= messages; i++)
        {
            await Counted(_memory is null ? _send(_payload) : _handOver(await _memory.TakeAsync()), ref _counts.SendWaits);
            for (int receiver = 0; EndsWindow(i) && receiver < _receivers.Length; receiver++)
            {
                await _caughtUp.Reader.ReadAsync();
            }
        }
    }

    private async Task ReceiveAllAsync(ReceivingSocket receiver, int messages)
    {
        for (int i = 1; i <= messages; i++)
        {
            ValueTask<Message> receive = receiver.ReceiveAsync();
            if (!receive.IsCompleted)
            {
                Interlocked.Increment(ref _counts.ReceiveWaits);
            }

            using Message message = await receive;
            Interlocked.Increment(ref _counts.Messages);
            if (!message.Span.SequenceEqual(_payload))
            {
                throw new InvalidOperationException("A message arrived with other bytes than it was sent with.");
            }

            if (EndsWindow(i))
            {
                _caughtUp.Writer.TryWrite(i);
            }
        }
    }

    private bool EndsWindow(int messages) => _case.IsPaced && messages % _window == 0;

    /// <summary>Not an async method: the wait itself is what is measured, not a second state machine around it.</summary>
    private static ValueTask Counted(ValueTask wait, ref long waits)
    {
        if (!wait.IsCompleted)
        {
            Interlocked.Increment(ref waits);
        }

        return wait;
    }

    /// <summary>Subscribers to everything, each of which the publisher knows.</summary>
    private ReceivingSocket[] Subscribe<T>(T publisher, Func<T, int> topicsOf)
        where T : ZmpSocket
    {
        string endpoint = Bind(publisher, "publisher");
        SubSocket[] subscribers = [.. Enumerable.Range(0, FanoutAllocCase.Peers).Select(_ => Limited(_context.CreateSub()))];
        for (int i = 0; i < subscribers.Length; i++)
        {
            subscribers[i].Subscribe("");
            // Behind the other, and nobody else's: the publisher counts topics, not who has them. No message matches it.
            subscribers[i].Subscribe($"own {i}");
            subscribers[i].Connect(endpoint);
        }

        Settling.Until(publisher, publisher => topicsOf(publisher) >= 1 + subscribers.Length);
        return subscribers;
    }

    /// <summary>Publishers to which the XSUB sends, each of which knows it.</summary>
    private ReceivingSocket[] Publish(XSubSocket xsub)
    {
        XPubSocket[] publishers = [.. Enumerable.Range(0, FanoutAllocCase.Peers).Select(_ => Limited(_context.CreateXPub()))];
        for (int i = 0; i < publishers.Length; i++)
        {
            xsub.Connect(Bind(publishers[i], $"publisher{i}"));
        }

        xsub.Send([1]); // Everything.
        foreach (XPubSocket publisher in publishers)
        {
            publisher.Receive().Dispose();
        }

        return publishers;
    }

    private string Bind(ZmpSocket socket, string name) => socket.Bind(_case.IsInproc ? "inproc://" + name : "tcp://127.0.0.1:*");

    private T Limited<T>(T socket)
        where T : ZmpSocket
    {
        (socket.Options.SendHighWaterMark, socket.Options.ReceiveHighWaterMark) = _marks;
        return socket;
    }
}
