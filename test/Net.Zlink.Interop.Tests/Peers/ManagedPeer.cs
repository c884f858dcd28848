using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>A socket of this library behind the native conventions, alone in a context of its own unless it is given one: when Dispose
/// returns, its endpoints are free.</summary>
internal sealed class ManagedPeer : IPeerSocket
{
    private readonly ZlinkContext _context;
    private readonly bool _ownsContext;
    private readonly ZmpSocket _socket;
    private readonly EventReader _monitor;
    private readonly MessageBuilder _parts;
    private byte[]? _nextPeer;

    public ManagedPeer(NativeSocketType type)
        : this(type, new ZlinkContext()) => _ownsContext = true;

    /// <summary>A socket that shares a context, as inproc needs it.</summary>
    public ManagedPeer(NativeSocketType type, ZlinkContext context)
    {
        _context = context;
        _parts = new MessageBuilder(context.Pool);
        _socket = ManagedSockets.Create(context, type);
        _socket.Options.Linger = TimeSpan.Zero;

        // The native core has no others.
        _monitor = _socket.ReadEvents(NativeEvents.All);
    }

    /// <summary>The socket itself, for what has no native counterpart.</summary>
    public ZmpSocket Socket => _socket;

    public string Bind(string endpoint) => _socket.Bind(endpoint);

    public void Connect(string endpoint)
    {
        if (_nextPeer is { } name)
        {
            _nextPeer = null;
            ((RouterSocket)_socket).Connect(endpoint, name);
        }
        else
        {
            _socket.Connect(endpoint);
        }
    }

    public void Unbind(string endpoint) => _socket.Unbind(endpoint);

    public void Disconnect(string endpoint) => _socket.Disconnect(endpoint);

    public void SetOption(int option, int value) => ManagedOptions.Set(_socket.Options, option, value);

    public void SetOption(int option, ReadOnlySpan<byte> value)
    {
        switch (option)
        {
            case NativeOption.ConnectRoutingId:
                _nextPeer = value.ToArray();
                break;
            case NativeOption.Subscribe:
                Subscribe(value);
                break;
            case NativeOption.Unsubscribe:
                Unsubscribe(value);
                break;
            default:
                ManagedOptions.Set(_socket.Options, option, value);
                break;
        }
    }

    public int TrySetOption(int option, ReadOnlySpan<byte> value) => ManagedNumbers.TrySet(_socket, option, value);

    public string TryGetOption(int option, int capacity) => ManagedNumbers.TryGet(_socket, option, capacity);

    public void Subscribe(ReadOnlySpan<byte> prefix)
    {
        switch (_socket)
        {
            case SubSocket sub:
                sub.Subscribe(prefix);
                break;
            case XPubSocket xpub:
                xpub.Subscribe(prefix);
                break;
            default:
                ((XSubSocket)_socket).Send([1, .. prefix]);
                break;
        }
    }

    public void Unsubscribe(ReadOnlySpan<byte> prefix)
    {
        switch (_socket)
        {
            case SubSocket sub:
                sub.Unsubscribe(prefix);
                break;
            case XPubSocket xpub:
                xpub.Unsubscribe(prefix);
                break;
            default:
                ((XSubSocket)_socket).Send([0, .. prefix]);
                break;
        }
    }

    public PeerSendResult Send(IReadOnlyList<byte[]> parts, TimeSpan timeout)
    {
        _socket.Options.SendTimeout = timeout;
        try
        {
            if (_socket is RouterSocket router)
            {
                SendTo(router, parts);
            }
            else
            {
                Send(parts);
            }

            return PeerSendResult.Sent;
        }
        catch (TimeoutException)
        {
            return PeerSendResult.WouldBlock;
        }
        catch (ZlinkException e) when (e.Error == ZlinkError.HostUnreachable)
        {
            return PeerSendResult.Unreachable;
        }
    }

    public byte[][]? Receive(TimeSpan timeout)
    {
        var socket = (ReceivingSocket)_socket;
        Message message;
        try
        {
            message = socket.Receive(timeout);
        }
        catch (TimeoutException)
        {
            return null;
        }

        using (message)
        {
            byte[][] parts = message.ToArrays();
            return socket is RouterSocket ? [message.RoutingId.ToArray(), .. parts] : parts;
        }
    }

    public void Attend()
    {
        // It does so by itself.
    }

    public PeerEvent? NextEvent(TimeSpan timeout) => ManagedEvents.Next(_monitor, timeout);

    public void Dispose()
    {
        // First the socket, with its own linger time; the context then waits for it.
        _socket.Dispose();
        _parts.Dispose();
        if (_ownsContext)
        {
            _context.Dispose();
        }
    }

    // A single part goes the way of single parts, several that of the builder: both are used.
    private void Send(IReadOnlyList<byte[]> parts)
    {
        switch (_socket)
        {
            case DuplexSocket duplex when parts.Count == 1:
                duplex.Send(parts[0]);
                break;
            case DuplexSocket duplex:
                duplex.Send(Built(parts, 0));
                break;
            case PubSocket pub when parts.Count == 1:
                pub.Send(parts[0]);
                break;
            default:
                ((PubSocket)_socket).Send(Built(parts, 0));
                break;
        }
    }

    private void SendTo(RouterSocket router, IReadOnlyList<byte[]> parts)
    {
        if (parts.Count == 2)
        {
            router.To(parts[0]).Send(parts[1]);
        }
        else
        {
            router.To(parts[0]).Send(Built(parts, 1));
        }
    }

    private MessageBuilder Built(IReadOnlyList<byte[]> parts, int first)
    {
        _parts.Clear(); // of a message that was refused
        for (int i = first; i < parts.Count; i++)
        {
            _parts.Add(parts[i]);
        }

        return _parts;
    }
}
