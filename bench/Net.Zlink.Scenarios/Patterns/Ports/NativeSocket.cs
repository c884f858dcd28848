using System.Runtime.InteropServices;
using System.Text;
using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>A socket of the native library. Its errors are exceptions: a measurement has none.</summary>
internal sealed unsafe class NativeSocket : IDisposable
{
    // The endpoint that a wildcard was resolved to; the native library's own limit.
    private const int LongestEndpoint = 256;

    private readonly bool _isBorrowed;
    private nint _handle;

    public NativeSocket(nint context, NativeSocketType type)
    {
        _handle = NativeFunctions.zlink_socket(context, type);
        Check(_handle == 0 ? -1 : 0, "socket");

        // A measurement that failed must not wait for what it could not send.
        Set(NativeOption.Linger, 0);
    }

    private NativeSocket(nint handle)
    {
        Check(handle == 0 ? -1 : 0, "socket of a service");
        _handle = handle;
        _isBorrowed = true;
    }

    /// <summary>A socket that a native service owns and closes.</summary>
    public static NativeSocket Borrow(nint handle) => new(handle);

    public void Set(int option, int value) =>
        Check(NativeFunctions.zlink_setsockopt(_handle, option, (byte*)&value, sizeof(int)), $"option {option}");

    public void Set(int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* bytes = value)
        {
            Check(NativeFunctions.zlink_setsockopt(_handle, option, bytes, (nuint)value.Length), $"option {option}");
        }
    }

    public void Set(int option, string value) => Set(option, Encoding.UTF8.GetBytes(value));

    /// <summary>Binds, and returns the endpoint with its wildcards resolved.</summary>
    public string Bind(string endpoint)
    {
        Check(NativeFunctions.zlink_bind(_handle, endpoint), $"bind {endpoint}");
        byte* last = stackalloc byte[LongestEndpoint];
        nuint length = LongestEndpoint;
        Check(NativeFunctions.zlink_getsockopt(_handle, NativeOption.LastEndpoint, last, ref length), "last endpoint");
        return Encoding.UTF8.GetString(MemoryMarshal.CreateReadOnlySpanFromNullTerminated(last));
    }

    public void Connect(string endpoint) => Check(NativeFunctions.zlink_connect(_handle, endpoint), $"connect {endpoint}");

    public void Send(ReadOnlySpan<byte> payload, NativeFlags flags)
    {
        fixed (byte* bytes = payload)
        {
            Check(NativeFunctions.zlink_send(_handle, bytes, (nuint)payload.Length, flags), "send");
        }
    }

    /// <summary>False if it cannot be sent now, or its peer is not there.</summary>
    public bool TrySend(ReadOnlySpan<byte> payload, NativeFlags flags)
    {
        fixed (byte* bytes = payload)
        {
            return NativeFunctions.zlink_send(_handle, bytes, (nuint)payload.Length, flags | NativeFlags.DontWait) >= 0;
        }
    }

    /// <summary>One part, waited for. Returns its length.</summary>
    public int Receive(Span<byte> payload)
    {
        fixed (byte* bytes = payload)
        {
            int length = NativeFunctions.zlink_recv(_handle, bytes, (nuint)payload.Length, NativeFlags.None);
            Check(length, "recv");
            return length;
        }
    }

    /// <summary>One part; -1 if there is none.</summary>
    public int TryReceive(Span<byte> payload)
    {
        fixed (byte* bytes = payload)
        {
            int length = NativeFunctions.zlink_recv(_handle, bytes, (nuint)payload.Length, NativeFlags.DontWait);
            if (length < 0 && NativeFunctions.LastError != NativeErrno.Again)
            {
                Check(length, "recv");
            }

            return length;
        }
    }

    /// <summary>Waits until a message can be received; with no time at all, looks.</summary>
    public bool Poll(int milliseconds)
    {
        var item = new NativePollItemStruct { Socket = _handle, Events = NativePollEvents.In };
        int ready = NativeFunctions.zlink_poll(&item, 1, new CLong(milliseconds));
        Check(ready, "poll");
        return ready > 0;
    }

    public void Dispose()
    {
        if (_handle != 0 && !_isBorrowed)
        {
            _ = NativeFunctions.zlink_close(_handle);
            _handle = 0;
        }
    }

    public static void Check(int result, string what)
    {
        if (result < 0)
        {
            int error = NativeFunctions.LastError;
            throw new NativeException($"{what}: {Marshal.PtrToStringUTF8((nint)NativeFunctions.zlink_strerror(error))} ({error})", error);
        }
    }
}

/// <summary>A native call failed.</summary>
internal sealed class NativeException(string message, int error) : Exception(message)
{
    public int Error => error;
}
