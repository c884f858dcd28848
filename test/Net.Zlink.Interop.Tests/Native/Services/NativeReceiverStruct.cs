using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>zlink_receiver_info_t.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeReceiverStruct
{
    public fixed byte Service[256];
    public fixed byte Endpoint[256];
    public NativeRoutingIdStruct RoutingId;
    public uint Weight;
    public ulong RegisteredAt;
}
