using Net.Zlink.Services;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>A gateway and the ROUTER that it sends to, and what they do.</summary>
internal sealed class ServiceAllocLoop : IAllocLoop
{
    private const string Service = "svc";
    private const int AtOnce = 64;

    private readonly ZlinkContext _context;
    private readonly EchoCounts _counts = new();
    private readonly ServiceAllocCase _case;
    private readonly byte[] _payload;
    private readonly RouterSocket _receiver;
    private readonly ServiceGateway _gateway;
    private readonly ServiceClient _client;

    /// <param name="context">Owned.</param>
    /// <param name="what">The case.</param>
    /// <param name="highWaterMark">Of each socket, in both directions.</param>
    public ServiceAllocLoop(ZlinkContext context, ServiceAllocCase what, int highWaterMark)
    {
        _context = context;
        _case = what;
        _payload = new byte[what.Size];
        _receiver = context.CreateRouter(new RouterOptions { SendHighWaterMark = highWaterMark, ReceiveHighWaterMark = highWaterMark });
        string endpoint = _receiver.Bind("tcp://127.0.0.1:*");
        _gateway = new ServiceGateway(context, new StaticDirectory(new ServiceInstance(Service, endpoint)),
            new ServiceGatewayOptions { Socket = { SendHighWaterMark = highWaterMark, ReceiveHighWaterMark = highWaterMark } });
        _client = _gateway.GetClient(Service);
    }

    public AllocMark Mark() => AllocMark.Now(_counts, _context.Pool);

    public async Task RunAsync(int messages)
    {
        await _client.WaitUntilReadyAsync();
        switch (_case.Mode)
        {
            case ServiceAllocCase.Request:
                await Task.WhenAll(Task.Run(() => RequestAllAsync(messages / 2)), Task.Run(() => EchoAsync(messages / 2)));
                break;
            case ServiceAllocCase.Requests:
                int each = messages / 2 / AtOnce;
                await Task.WhenAll([Task.Run(() => EchoAsync(each * AtOnce)),
                    .. Enumerable.Range(0, AtOnce).Select(_ => Task.Run(() => RequestAllAsync(each)))]);
                break;
            case ServiceAllocCase.Answers:
                await Task.WhenAll(Task.Run(() => AskAllAsync(messages / 2)), Task.Run(() => EchoAsync(messages / 2)));
                break;
            default:
                await Task.WhenAll(Task.Run(() => SendAllAsync(messages)), Task.Run(() => ReceiveAllAsync(messages)));
                break;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _gateway.DisposeAsync();
        await _context.DisposeAsync();
    }

    private async Task SendAllAsync(int messages)
    {
        bool tries = string.Equals(_case.Mode, ServiceAllocCase.Flood, StringComparison.Ordinal);
        for (int i = 0; i < messages; i++)
        {
            if (tries && _client.TrySend(_payload))
            {
                continue;
            }

            ValueTask send = _client.SendAsync(_payload); // At the mark a flood waits, too: each message is waited for at the other end.
            if (!send.IsCompleted)
            {
                Interlocked.Increment(ref _counts.SendWaits);
            }

            await send;
        }
    }

    private async Task ReceiveAllAsync(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            using Message message = await Counted(_receiver.ReceiveAsync());
            Check(message.Span);
        }
    }

    private async Task EchoAsync(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            using Message message = await Counted(_receiver.ReceiveAsync());
            Interlocked.Increment(ref _counts.Messages);
            if (_receiver.To(message).TrySend(message) is { IsSent: false, Reason: var reason })
            {
                throw new InvalidOperationException($"An echo was not sent: {reason}.");
            }
        }
    }

    private async Task RequestAllAsync(int requests)
    {
        for (int i = 0; i < requests; i++)
        {
            using ServiceReply reply = await Counted(_client.RequestAsync(_payload));
            Check(reply.Span);
        }
    }

    private async Task AskAllAsync(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            await _client.SendAsync(_payload);
            using GatewayMessage message = await Counted(_gateway.ReceiveAsync());
            Check(message.Span);
        }
    }

    private void Check(ReadOnlySpan<byte> received)
    {
        Interlocked.Increment(ref _counts.Messages);
        if (!received.SequenceEqual(_payload))
        {
            throw new InvalidOperationException("A message arrived with other bytes than it was sent with.");
        }
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
