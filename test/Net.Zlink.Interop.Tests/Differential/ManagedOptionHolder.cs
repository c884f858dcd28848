using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>One of our sockets, for its options by their native numbers.</summary>
internal sealed class ManagedOptionHolder(NativeSocketType type, ZlinkContext context) : IDisposable
{
    private readonly StreamSocket? _stream = type is NativeSocketType.Stream ? context.CreateStream() : null;

    private readonly ZmpSocket? _socket = type is NativeSocketType.Stream ? null : ManagedSockets.Create(context, type);

    /// <summary>0, or an error's number.</summary>
    public int TrySetOption(int number, ReadOnlySpan<byte> value) => _stream is null ? ManagedNumbers.TrySet(_socket!, number, value)
        : ManagedNumbers.TrySet(_stream, number, value);

    /// <summary>As <see cref="NativeSocket.TryGetOption"/> tells it.</summary>
    public string TryGetOption(int number, int capacity) => _stream is null ? ManagedNumbers.TryGet(_socket!, number, capacity)
        : ManagedNumbers.TryGet(_stream, number, capacity);

    public void Dispose()
    {
        _stream?.Dispose();
        _socket?.Dispose();
    }
}
