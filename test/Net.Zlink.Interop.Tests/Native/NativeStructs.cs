using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>zlink_msg_t: 64 opaque bytes, aligned as a pointer.</summary>
[InlineArray(8)]
internal struct NativeMessageStruct
{
    private ulong _first;
}

/// <summary>zlink_routing_id_t.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeRoutingIdStruct
{
    public byte Size;
    public fixed byte Data[255];

    public byte[] ToArray()
    {
        fixed (byte* data = Data)
        {
            return new ReadOnlySpan<byte>(data, Size).ToArray();
        }
    }
}

/// <summary>zlink_monitor_event_t.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeMonitorEventStruct
{
    public ulong Event;
    public ulong Value;
    public NativeRoutingIdStruct RoutingId;
    public fixed byte LocalAddress[256];
    public fixed byte RemoteAddress[256];
}

/// <summary>zlink_peer_info_t.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativePeerInfoStruct
{
    public NativeRoutingIdStruct RoutingId;
    public fixed byte RemoteAddress[256];
    public ulong ConnectedTime;
    public ulong MessagesSent;
    public ulong MessagesReceived;
}

/// <summary>zlink_pollitem_t; the descriptor is an int everywhere but on Windows, where it is as wide as a pointer.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct NativePollItemStruct
{
    public nint Socket;
    public int Descriptor;
    public NativePollEvents Events;
    public NativePollEvents Returned;
}
