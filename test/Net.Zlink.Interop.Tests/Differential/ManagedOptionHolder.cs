using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>One of our sockets, for its options by their native numbers.</summary>
internal sealed class ManagedOptionHolder(NativeSocketType type, ZlinkContext context) : IDisposable
{
    private readonly StreamSocket? _stream = type is NativeSocketType.Stream ? context.CreateStream() : null;

    private readonly ZlinkSocket? _socket = type is NativeSocketType.Stream ? null : ManagedSockets.Create(context, type);

    /// <summary>0, or an error's number.</summary>
    public int TrySetOption(int number, ReadOnlySpan<byte> value)
    {
        try
        {
            if (_stream is not null)
            {
                NativeOptions.Set(_stream, number, value);
            }
            else
            {
                NativeOptions.Set(_socket!, number, value);
            }

            return 0;
        }
        catch (ZlinkException e)
        {
            return (int)e.Error;
        }
    }

    /// <summary>As <see cref="NativeSocket.TryGetOption"/> tells it.</summary>
    public string TryGetOption(int number, int room)
    {
        byte[] value = new byte[room];
        try
        {
            int length = _stream is not null ? NativeOptions.Get(_stream, number, value) : NativeOptions.Get(_socket!, number, value);
            return OptionText.Of(value.AsSpan(0, length));
        }
        catch (ZlinkException e)
        {
            return OptionText.Of((int)e.Error);
        }
    }

    public void Dispose()
    {
        _stream?.Dispose();
        _socket?.Dispose();
    }
}
