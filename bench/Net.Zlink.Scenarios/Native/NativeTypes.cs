using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Net.Zlink.Scenarios.Native;

/// <summary>zlink_msg_t: 64 opaque bytes, aligned as a pointer.</summary>
[InlineArray(8)]
internal struct NativeMessage
{
    private ulong _first;
}

/// <summary>zlink_pollitem_t; the descriptor is an int everywhere but on Windows, where it is as wide as a pointer.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct NativePollItem
{
    public nint Socket;
    public int Descriptor;
    public short Events;
    public short Returned;
}

/// <summary>Numbers of the native header.</summary>
internal static class NativeNumber
{
    public const int ContextIoThreads = 1;
    public const int ContextMaxSockets = 2;

    public const int Pair = 0;
    public const int Pub = 1;
    public const int Sub = 2;
    public const int Dealer = 5;
    public const int Router = 6;
    public const int Stream = 11;

    public const int RoutingId = 5;
    public const int Subscribe = 6;
    public const int Linger = 17;
    public const int Backlog = 19;
    public const int MaxMessageSize = 22;
    public const int SendHighWaterMark = 23;
    public const int ReceiveHighWaterMark = 24;
    public const int ReceiveTimeout = 27;
    public const int SendTimeout = 28;
    public const int LastEndpoint = 32;
    public const int RouterMandatory = 33;
    public const int XPubNoDrop = 69;
    public const int TlsCertificate = 95;
    public const int TlsKey = 96;
    public const int TlsCa = 97;
    public const int TlsHostName = 100;
    public const int TlsTrustSystem = 101;

    public const int DontWait = 1;
    public const int SendMore = 2;

    public const short PollIn = 1;
    public const short PollOut = 2;

    // errno, as Linux numbers them.
    public const int Interrupted = 4;
    public const int Again = 11;
}
