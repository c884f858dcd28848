using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>A socket of the native core, alone in a context of its own unless it is given one: when Dispose returns, its endpoints are
/// free.</summary>
internal sealed class NativePeer : IPeerSocket
{
    private readonly NativeSocketType _type;
    private readonly NativeContext _context;
    private readonly bool _ownsContext;
    private readonly NativeSocket _socket;
    private readonly NativeMonitor _monitor;

    public NativePeer(NativeSocketType type)
        : this(type, new NativeContext()) => _ownsContext = true;

    /// <summary>A socket that shares a context, as inproc needs it.</summary>
    public NativePeer(NativeSocketType type, NativeContext context)
    {
        _type = type;
        _context = context;
        _socket = _context.CreateSocket(type);
        _socket.SetOption(NativeOption.Linger, 0);
        _monitor = _socket.OpenMonitor();
    }

    public string Bind(string endpoint)
    {
        _socket.Bind(endpoint);
        return _socket.LastEndpoint;
    }

    public void Connect(string endpoint) => _socket.Connect(endpoint);

    public void Unbind(string endpoint) => _socket.Unbind(endpoint);

    public void Disconnect(string endpoint) => _socket.Disconnect(endpoint);

    public void SetOption(int option, int value) => _socket.SetOption(option, value);

    public void SetOption(int option, ReadOnlySpan<byte> value) => _socket.SetOption(option, value);

    public int TrySetOption(int option, ReadOnlySpan<byte> value) => _socket.TrySetOption(option, value);

    public string TryGetOption(int option, int capacity) => _socket.TryGetOption(option, capacity);

    public void Subscribe(ReadOnlySpan<byte> prefix) => ChangeSubscription(NativeOption.Subscribe, 1, prefix);

    public void Unsubscribe(ReadOnlySpan<byte> prefix) => ChangeSubscription(NativeOption.Unsubscribe, 0, prefix);

    public PeerSendResult Send(IReadOnlyList<byte[]> parts, TimeSpan timeout) => _socket.Send(parts, timeout) switch
    {
        NativeSendResult.Sent => PeerSendResult.Sent,
        NativeSendResult.WouldBlock => PeerSendResult.WouldBlock,
        _ => PeerSendResult.Unreachable,
    };

    public byte[][]? Receive(TimeSpan timeout) => _socket.Receive(timeout);

    public void Attend()
    {
        // Of all calls that look at what peers did this is the one that changes nothing: asked for its events, a socket takes a message out
        // of its queue to see whether there is one.
        try
        {
            _socket.Disconnect("inproc://nobody has this name");
        }
        catch (NativeException e) when (e.Error == NativeErrno.NotFound)
        {
        }
    }

    public PeerEvent? NextEvent(TimeSpan timeout) =>
        _monitor.Receive(timeout) is { } read ? new PeerEvent(read.Type, read.Value, read.RoutingId, read.LocalAddress, read.RemoteAddress)
            : null;

    public void Dispose()
    {
        _socket.Dispose();
        if (_ownsContext)
        {
            _context.Dispose();
        }
    }

    private void ChangeSubscription(int option, byte command, ReadOnlySpan<byte> prefix)
    {
        if (_type is NativeSocketType.XSub)
        {
            _socket.Send([[command, .. prefix]], TimeSpan.Zero);
        }
        else
        {
            _socket.SetOption(option, prefix);
        }
    }
}
