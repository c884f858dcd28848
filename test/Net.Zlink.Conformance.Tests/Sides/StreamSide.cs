using System.Buffers.Binary;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Sides;

/// <summary>The library's STREAM, used in its native shape: parts in, parts out, and a payload of the single byte 00 closes the
/// peer.</summary>
internal sealed class StreamSide : IImplementedSide
{
    private readonly SideContext _context;
    private readonly StreamSocket _socket;
    private readonly NativeStreamView _native;
    private readonly StreamConnectOptions _connectOptions;
    private readonly bool _tellKinds;
    private SideMonitor? _monitor;

    public StreamSide(SideRequest request)
    {
        _tellKinds = request.TellKinds;
        _context = new SideContext(request);
        (StreamOptions options, _connectOptions) = OptionsOf(request.Side);
        _socket = _context.Context.CreateStream(options);
        _native = new NativeStreamView(_socket);
    }

    public void OpenMonitor() => _monitor = new SideMonitor(_socket.ReadEvents(SideMonitor.Watched), static e => $"peer {e.PeerId}");

    public string Bind(string endpoint) => _socket.Bind(endpoint);

    public void Connect(string endpoint) => _ = ConnectAsync(endpoint);

    public void Set(SideOption option) => throw new NotSupportedYetException($"setting {option.Name} on a STREAM that is in use");

    public void Subscribe(byte[] topic) => throw new NotSupportedYetException("subscribe on STREAM, which has no topics");

    public void Unsubscribe(byte[] topic) => throw new NotSupportedYetException("unsubscribe on STREAM, which has no topics");

    public string? Send(IReadOnlyList<byte[]> parts)
    {
        try
        {
            for (int i = 0; i < parts.Count; i++)
            {
                _native.SendPart(parts[i], more: i < parts.Count - 1);
            }

            return null;
        }
        catch (ZlinkException fault)
        {
            return fault.Error.ToNativeName();
        }
    }

    public void Close() => _socket.Dispose();

    public bool TryReceive(out ReceivedMessage message)
    {
        if (_tellKinds && _socket.TryReceive(out StreamMessage typed))
        {
            message = Told(typed);
            return true;
        }

        if (!_tellKinds && _native.TryReceive(out NativeStreamMessage native))
        {
            message = new ReceivedMessage([native.Id, native.Payload]);
            return true;
        }

        message = null!;
        return false;
    }

    public async ValueTask<ReceivedMessage> ReceiveAsync(CancellationToken cancellation)
    {
        if (_tellKinds)
        {
            return Told(await _socket.ReceiveAsync(cancellation));
        }

        NativeStreamMessage message = await _native.ReceiveAsync(cancellation);
        return new ReceivedMessage([message.Id, message.Payload]);
    }

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
        await _context.DisposeAsync();
    }

    private static (StreamOptions Options, StreamConnectOptions Connect) OptionsOf(Side side)
    {
        var options = new StreamOptions();
        var connect = new StreamConnectOptions { Reconnect = true }; // As every native connecting socket does.
        foreach (SideOption option in side.Options)
        {
            switch (option.Name)
            {
                case "MAXMSGSIZE":
                    options.MaxMessageSize = option.Value.Number < 0 ? options.MaxMessageSize : option.Value.Number;
                    break;
                case "HANDSHAKE_IVL":
                    options.HandshakeInterval = TimeSpan.FromMilliseconds(option.Value.Number);
                    break;
                case "RECONNECT_IVL" when option.Value.Number < 0:
                    connect.Reconnect = false;
                    break;
                case "RECONNECT_IVL":
                    connect.ReconnectInterval = TimeSpan.FromMilliseconds(option.Value.Number);
                    break;
                default:
                    throw new NotSupportedYetException($"option {option.Name} on STREAM");
            }
        }

        return (options, connect);
    }

    private static ReceivedMessage Told(StreamMessage typed)
    {
        using (typed)
        {
            byte[] id = new byte[sizeof(uint)];
            BinaryPrimitives.WriteUInt32BigEndian(id, typed.PeerId);
            return typed.Kind switch
            {
                StreamMessageKind.Connected => new ReceivedMessage([id, [1]], Kind: "connected"),
                StreamMessageKind.Disconnected => new ReceivedMessage([id, [0]], Kind: "disconnected"),
                _ => new ReceivedMessage([id, typed.Payload.ToArray()], Kind: "data"),
            };
        }
    }

    private async Task ConnectAsync(string endpoint)
    {
        try
        {
            await _socket.ConnectAsync(endpoint, _connectOptions, CancellationToken.None);
        }
        catch (Exception fault) when (fault is ZlinkException or ObjectDisposedException)
        {
            // The replay sees that no connection came.
        }
    }
}
