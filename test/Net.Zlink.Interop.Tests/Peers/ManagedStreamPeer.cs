using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>A STREAM of this library in the native shape, [id, payload], alone in a context of its own.</summary>
internal sealed class ManagedStreamPeer : IPeerSocket
{
    private readonly ZlinkContext _context = new();
    private readonly StreamSocket _socket;
    private readonly NativeStreamView _view;
    private readonly EventReader _monitor;

    public ManagedStreamPeer()
    {
        _socket = _context.CreateStream();
        _socket.Options.Linger = TimeSpan.Zero;
        _view = new NativeStreamView(_socket);
        _monitor = _socket.ReadEvents(NativeEvents.All);
    }

    public string Bind(string endpoint) => _socket.Bind(endpoint);

    public void Unbind(string endpoint) => _socket.Unbind(endpoint);

    // Natively there is no such thing.
    public void Connect(string endpoint) => throw new NotSupportedException();

    public void Disconnect(string endpoint) => throw new NotSupportedException();

    public void Subscribe(ReadOnlySpan<byte> prefix) => throw new NotSupportedException();

    public void Unsubscribe(ReadOnlySpan<byte> prefix) => throw new NotSupportedException();

    public void SetOption(int option, int value) =>
        throw new ArgumentOutOfRangeException(nameof(option), option, "none that these tests set");

    public void SetOption(int option, ReadOnlySpan<byte> value)
    {
        switch (option)
        {
            case NativeOption.MaxMessageSize:
                _socket.Options.MaxMessageSize = BitConverter.ToInt64(value) is >= 0 and var size ? size
                    : new StreamOptions().MaxMessageSize;
                break;
            case NativeOption.TlsCert:
                _socket.Options.Tls.CertificateFile = Encoding.UTF8.GetString(value);
                break;
            case NativeOption.TlsKey:
                _socket.Options.Tls.KeyFile = Encoding.UTF8.GetString(value);
                break;
            case NativeOption.TlsCa:
                _socket.Options.Tls.CaFile = Encoding.UTF8.GetString(value);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(option), option, "none that these tests set");
        }
    }

    public int TrySetOption(int option, ReadOnlySpan<byte> value) => ManagedNumbers.TrySet(_socket, option, value);

    public string TryGetOption(int option, int capacity) => ManagedNumbers.TryGet(_socket, option, capacity);

    public PeerSendResult Send(IReadOnlyList<byte[]> parts, TimeSpan timeout)
    {
        try
        {
            for (int i = 0; i < parts.Count; i++)
            {
                _view.SendPart(parts[i], more: i + 1 < parts.Count);
            }

            return PeerSendResult.Sent;
        }
        catch (ZlinkException e) when (e.Error is ZlinkError.Again or ZlinkError.HostUnreachable)
        {
            return e.Error == ZlinkError.Again ? PeerSendResult.WouldBlock : PeerSendResult.Unreachable;
        }
    }

    public byte[][]? Receive(TimeSpan timeout)
    {
        if (!_view.TryReceive(out NativeStreamMessage message))
        {
            if (timeout <= TimeSpan.Zero)
            {
                return null;
            }

            using var limit = new CancellationTokenSource(timeout);
            try
            {
                message = _view.ReceiveAsync(limit.Token).AsTask().GetAwaiter().GetResult();
            }
            catch (OperationCanceledException)
            {
                return null;
            }
        }

        return [message.Id, message.Payload];
    }

    public void Attend()
    {
        // It does so by itself.
    }

    public PeerEvent? NextEvent(TimeSpan timeout) => ManagedEvents.Next(_monitor, timeout);

    public void Dispose()
    {
        _socket.Dispose();
        _context.Dispose();
    }
}
