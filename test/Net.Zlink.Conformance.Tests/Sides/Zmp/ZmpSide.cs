using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>A side of one of the seven ZMP types: what they have in common, and in between what each does in its own way.</summary>
internal abstract class ZmpSide : IImplementedSide
{
    private readonly SideRequest _request;
    private readonly SideContext _context;
    private ZmpSocket? _socket;
    private SideMonitor? _monitor;

    protected ZmpSide(SideRequest request)
    {
        _request = request;
        _context = new SideContext(request);
    }

    /// <summary>Makes the socket of a side and sets the options of its file, in their order.</summary>
    public static TSide Open<TSide>(TSide side)
        where TSide : ZmpSide
    {
        side._socket = side.Create(side._context.Context);
        side._socket.Options.Linger = TimeSpan.Zero; // As in the recordings.
        foreach (SideOption option in side._request.Side.Options)
        {
            side.Set(option);
        }

        return side;
    }

    public void OpenMonitor() => _monitor = new SideMonitor(_socket!.ReadEvents(SideMonitor.Watched), static e => ConnectionOf(e));

    public string Bind(string endpoint) => _socket!.Bind(endpoint);

    public virtual void Connect(string endpoint) => _socket!.Connect(endpoint);

    public void Set(SideOption option)
    {
        if (!SetOwn(option) && !ZmpOptionNames.TrySet(_socket!.Options, option))
        {
            throw new NotSupportedYetException($"option {option.Name} on {_request.Side.Type}");
        }
    }

    public virtual void Subscribe(byte[] topic) => throw new NotSupportedYetException($"subscribe on {_request.Side.Type}");

    public virtual void Unsubscribe(byte[] topic) => throw new NotSupportedYetException($"unsubscribe on {_request.Side.Type}");

    public abstract string? Send(IReadOnlyList<byte[]> parts);

    public void Close() => _socket!.Dispose();

    public abstract bool TryReceive(out ReceivedMessage message);

    public abstract ValueTask<ReceivedMessage> ReceiveAsync(CancellationToken cancellation);

    public bool TryReadEvent(out ReceivedEvent received)
    {
        received = null!;
        return _monitor is not null && _monitor.TryRead(out received);
    }

    public ValueTask<ReceivedEvent> ReadEventAsync(CancellationToken cancellation) => _monitor!.ReadAsync(cancellation);

    public Task WhenIdleAsync() => _context.WhenIdleAsync();

    public IReadOnlyList<string> GetOutstandingBuffers() => _context.GetOutstandingBuffers();

    public async ValueTask DisposeAsync()
    {
        _monitor?.Dispose();
        _socket?.Dispose();
        await _context.DisposeAsync();
    }

    protected abstract ZmpSocket Create(ZlinkContext context);

    /// <summary>Sets an option that only this type has; false if it is none of those.</summary>
    protected virtual bool SetOwn(SideOption option) => false;

    /// <summary>A message of these parts, in memory of the context's own pool.</summary>
    protected MessageBuilder Build(IEnumerable<byte[]> parts)
    {
        var message = new MessageBuilder(_context.Pool);
        foreach (byte[] part in parts)
        {
            message.Add(part);
        }

        return message;
    }

    /// <summary>Connections of one socket differ in their two addresses.</summary>
    private static string ConnectionOf(in SocketEvent socketEvent) => $"{socketEvent.LocalAddress} to {socketEvent.RemoteAddress}";
}
