using System.IO.Pipelines;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Benchmarks.Common;
using Samples;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>The two sockets and what they do; for PUB and SUB a second two, so that there is a way back.</summary>
internal sealed class ZmpAllocLoop : IAllocLoop
{
    private const string Host = "127.0.0.1";

    // Four times the tiny marks of the modes that wait.
    private const int BatchLength = 16;

    private readonly ZlinkContext _context;
    private readonly X509Certificate2? _certificate;
    private readonly EchoCounts _counts = new();
    private readonly ZmpAllocCase _case;
    private readonly int _mark;
    private readonly byte[] _payload;
    private readonly Func<ReadOnlyMemory<byte>, ValueTask> _send;
    private readonly Func<ReadOnlyMemory<ReadOnlyMemory<byte>>, ValueTask<int>> _sendMany;
    private readonly Func<ReadOnlyMemory<byte>, ReadOnlyMemory<byte>, ValueTask> _answer;
    private readonly ReceivingSocket _forth;
    private readonly ReceivingSocket _back;

    /// <param name="context">Owned.</param>
    /// <param name="what">The case.</param>
    /// <param name="highWaterMark">Of each socket, in both directions.</param>
    public ZmpAllocLoop(ZlinkContext context, ZmpAllocCase what, int highWaterMark)
    {
        _context = context;
        _case = what;
        _mark = highWaterMark;
        _payload = new byte[what.Size];
        Random.Shared.NextBytes(_payload);
        _payload[0] = (byte)'m'; // A first byte of 0 or 1 would make it a topic on XSUB.
        _certificate = what.Transport is "tls" or "wss" ? CertificateMaker.Make($"CN={Host}", [Host]) : null;
        switch (what.Pattern)
        {
            case ZmpAllocCase.PubSub:
                (PubSocket pub, _forth) = ConnectPubSub("forth");
                (PubSocket pubBack, _back) = ConnectPubSub("back");
                _send = payload => pub.SendAsync(payload);
                _sendMany = payloads => pub.SendManyAsync(payloads);
                _answer = (_, payload) => pubBack.SendAsync(payload);
                break;
            case ZmpAllocCase.DealerRouter:
                (RouterSocket router, DealerSocket dealer) = ConnectRouter();
                _answer = (id, payload) => router.To(id).SendAsync(payload);
                if (ZmpModes.IsSlow(what.Mode))
                {
                    // A router's waiting send has an id to remember: the harder one of the two.
                    (_forth, _back) = (dealer, router);
                    ReadOnlyMemory<byte> id = dealer.Options.RoutingId;
                    _send = payload => router.To(id).SendAsync(payload);
                    _sendMany = payloads => router.To(id).SendManyAsync(payloads);
                }
                else
                {
                    (_forth, _back) = (router, dealer);
                    _send = payload => dealer.SendAsync(payload);
                    _sendMany = payloads => dealer.SendManyAsync(payloads);
                }

                break;
            case ZmpAllocCase.XSubXPub:
                (XSubSocket xsub, XPubSocket xpub) = ConnectExtended();
                _answer = (_, payload) => xpub.SendAsync(payload);
                if (string.Equals(what.Mode, ZmpModes.PingPong, StringComparison.Ordinal))
                {
                    (_forth, _back) = (xpub, xsub);
                    _send = payload => xsub.SendAsync(payload);
                    _sendMany = payloads => xsub.SendManyAsync(payloads);
                }
                else
                {
                    // An XSUB never waits: at the mark it drops, and every message here is waited for.
                    (_forth, _back) = (xsub, xpub);
                    _send = payload => xpub.SendAsync(payload);
                    _sendMany = payloads => xpub.SendManyAsync(payloads);
                }

                break;
            default:
                PairSocket bound = Limited(_context.CreatePair());
                PairSocket connected = Limited(_context.CreatePair());
                if (string.Equals(what.Transport, ZmpAllocCase.Pipe, StringComparison.Ordinal))
                {
                    AcceptPipe(bound, connected);
                }
                else
                {
                    connected.Connect(Bind(bound, "pair"));
                }

                (_forth, _back) = (bound, connected);
                _send = payload => connected.SendAsync(payload);
                _sendMany = payloads => connected.SendManyAsync(payloads);
                _answer = (_, payload) => bound.SendAsync(payload);
                break;
        }
    }

    public AllocMark Mark() => AllocMark.Now(_counts, _context.Pool);

    /// <summary>So many messages there, and with ping-pong half of them back.</summary>
    public async Task RunAsync(int messages)
    {
        if (string.Equals(_case.Mode, ZmpModes.PingPong, StringComparison.Ordinal))
        {
            await Task.WhenAll(PingAsync(messages / 2), PongAsync(messages / 2));
        }
        else if (string.Equals(_case.Mode, ZmpModes.Batches, StringComparison.Ordinal))
        {
            await Task.WhenAll(Task.Run(() => SendBatchesAsync(messages)), Task.Run(() => ReceiveBatchesAsync(messages)));
        }
        else
        {
            // On threads of the pool both: one alone would find its messages there and never wait.
            await Task.WhenAll(Task.Run(() => SendAllAsync(messages)), Task.Run(() => ReceiveAllAsync(messages)));
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _context.DisposeAsync();
        _certificate?.Dispose();
    }

    private async Task SendAllAsync(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            await Counted(_send(_payload));
        }
    }

    private async Task ReceiveAllAsync(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            using Message message = await Counted(_forth.ReceiveAsync(), ref _counts.ReceiveWaits);
            Check(message);
        }
    }

    private async Task SendBatchesAsync(int messages)
    {
        var batch = new ReadOnlyMemory<byte>[BatchLength];
        Array.Fill(batch, _payload);
        for (int sent = 0; sent < messages;)
        {
            sent += await Counted(_sendMany(batch.AsMemory(0, Math.Min(BatchLength, messages - sent))), ref _counts.SendWaits);
        }
    }

    private async Task ReceiveBatchesAsync(int messages)
    {
        var batch = new Message[BatchLength];
        for (int received = 0; received < messages;)
        {
            int count = await Counted(_forth.ReceiveManyAsync(batch), ref _counts.ReceiveWaits);
            foreach (Message message in batch.AsSpan(0, count))
            {
                Check(message);
                message.Dispose();
            }

            received += count;
        }
    }

    private async Task PingAsync(int roundTrips)
    {
        for (int i = 0; i < roundTrips; i++)
        {
            await Counted(_send(_payload));
            using Message message = await Counted(_back.ReceiveAsync(), ref _counts.ReceiveWaits);
            Check(message);
        }
    }

    private async Task PongAsync(int roundTrips)
    {
        for (int i = 0; i < roundTrips; i++)
        {
            using Message message = await Counted(_forth.ReceiveAsync(), ref _counts.ReceiveWaits);
            Check(message);
            await Counted(_answer(message.RoutingId, message.Memory));
        }
    }

    /// <summary>Not an async method: the wait itself is what is measured, not a second state machine around it.</summary>
    private static ValueTask<T> Counted<T>(ValueTask<T> wait, ref long waits)
    {
        if (!wait.IsCompleted)
        {
            Interlocked.Increment(ref waits);
        }

        return wait;
    }

    private ValueTask Counted(ValueTask send)
    {
        if (!send.IsCompleted)
        {
            Interlocked.Increment(ref _counts.SendWaits);
        }

        return send;
    }

    private void Check(in Message message)
    {
        Interlocked.Increment(ref _counts.Messages);
        if (!message.Span.SequenceEqual(_payload))
        {
            throw new InvalidOperationException("A message arrived with other bytes than it was sent with.");
        }
    }

    private (PubSocket Publisher, SubSocket Subscriber) ConnectPubSub(string name)
    {
        // Every message is waited for, so none may be dropped.
        PubSocket publisher = Limited(_context.CreatePub(new PubOptions { NoDrop = true }));
        SubSocket subscriber = Limited(_context.CreateSub());
        subscriber.Subscribe("");
        subscriber.Connect(Bind(publisher, name));
        Settling.Until(publisher, static publisher => publisher.TopicCount > 0);
        return (publisher, subscriber);
    }

    private (XSubSocket Subscriber, XPubSocket Publisher) ConnectExtended()
    {
        XPubSocket publisher = Limited(_context.CreateXPub(new XPubOptions { NoDrop = true }));
        XSubSocket subscriber = Limited(_context.CreateXSub());
        subscriber.Connect(Bind(publisher, "extended"));
        subscriber.Send([1]); // Everything.
        publisher.Receive().Dispose();
        return (subscriber, publisher);
    }

    private (RouterSocket Router, DealerSocket Dealer) ConnectRouter()
    {
        RouterSocket router = Limited(_context.CreateRouter(new RouterOptions { Mandatory = true }));
        DealerSocket dealer = Limited(_context.CreateDealer());
        dealer.Connect(Bind(router, "router"));
        Settling.Until((router, dealer), static both => both.router.To(both.dealer.Options.RoutingId).TrySend("hello"u8));
        dealer.Receive().Dispose();
        return (router, dealer);
    }

    private static void AcceptPipe(PairSocket one, PairSocket other)
    {
        // The pool's scheduler allocates for each completion.
        var options = new PipeOptions(readerScheduler: PipeScheduler.Inline, writerScheduler: PipeScheduler.Inline);
        var forth = new Pipe(options);
        var back = new Pipe(options);
        _ = one.AcceptAsync(new Side(back.Reader, forth.Writer));
        _ = other.AcceptAsync(new Side(forth.Reader, back.Writer));
    }

    private sealed record Side(PipeReader Input, PipeWriter Output) : IDuplexPipe;

    private string Bind(ZmpSocket socket, string name) => socket.Bind(_case.Transport switch
    {
        "ipc" => "ipc://*",
        "inproc" => "inproc://" + name,
        _ => $"{_case.Transport}://{Host}:*",
    });

    private T Limited<T>(T socket)
        where T : ZmpSocket
    {
        socket.Options.SendHighWaterMark = _mark;
        socket.Options.ReceiveHighWaterMark = _mark;
        socket.Options.Tls.Certificate = _certificate;
        socket.Options.Tls.VerifyPeer = false; // Nobody has issued it.
        return socket;
    }
}
