using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Porting;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>Sets and reads options of our sockets by their native numbers, and tells as <see cref="NativeSocket"/> does what comes of
/// it.</summary>
internal static class ManagedNumbers
{
    private delegate void Setter<in T>(T socket, int number, ReadOnlySpan<byte> value);

    private delegate int Getter<in T>(T socket, int number, Span<byte> value);

    public static int TrySet(ZmpSocket socket, int number, ReadOnlySpan<byte> value) =>
        TrySet<ZmpSocket>(socket, NativeOptions.Set, number, value);

    public static int TrySet(StreamSocket socket, int number, ReadOnlySpan<byte> value) =>
        TrySet<StreamSocket>(socket, NativeOptions.Set, number, value);

    public static string TryGet(ZmpSocket socket, int number, int capacity) =>
        TryGet<ZmpSocket>(socket, NativeOptions.Get, number, capacity);

    public static string TryGet(StreamSocket socket, int number, int capacity) =>
        TryGet<StreamSocket>(socket, NativeOptions.Get, number, capacity);

    private static int TrySet<T>(T socket, Setter<T> set, int number, ReadOnlySpan<byte> value)
    {
        try
        {
            set(socket, number, value);
            return 0;
        }
        catch (ZlinkException e)
        {
            return e.Error.ToNativeNumber();
        }
    }

    private static string TryGet<T>(T socket, Getter<T> get, int number, int capacity)
    {
        byte[] value = new byte[capacity];
        try
        {
            return OptionText.Of(value.AsSpan(0, get(socket, number, value)));
        }
        catch (ZlinkException e)
        {
            return OptionText.Of(e.Error.ToNativeNumber());
        }
    }
}
