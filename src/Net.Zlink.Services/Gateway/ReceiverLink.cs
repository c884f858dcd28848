using System.Buffers.Binary;

namespace Net.Zlink.Services;

/// <summary>Where the connection to a receiver stands.</summary>
internal enum LinkState
{
    /// <summary>The first attempt to connect is under way.</summary>
    Connecting,

    /// <summary>The handshake is complete.</summary>
    Ready,

    /// <summary>The last attempt failed, or the connection ended. It is dialled again.</summary>
    Lost,

    /// <summary>It is not dialled: its endpoint is no endpoint, or was given up.</summary>
    Unusable,
}

/// <summary>One endpoint that a gateway connects to, by a name that the gateway gives it: routing ids of lists may be equal, or change
/// while the endpoint stays.</summary>
/// <param name="endpoint">As the directory lists it.</param>
/// <param name="number">Unique in the gateway.</param>
/// <remarks>What can be set is guarded by the lock of the <see cref="LinkTable"/>, except the count of outstanding requests.</remarks>
internal sealed class ReceiverLink(string endpoint, uint number)
{
    private ServiceInstance _receiver = new("", endpoint);
    private long _outstanding;

    public string Endpoint { get; } = endpoint;

    public uint Number { get; } = number;

    /// <summary>What the ROUTER calls it: 00 and the number, big-endian.</summary>
    public byte[] Name { get; } = NameOf(number);

    public LinkState State { get; set; }

    /// <summary>Its receiver has said that it is about to end. Until its next connection.</summary>
    public bool IsDraining { get; set; }

    /// <summary>How often its handshake was complete.</summary>
    public int Connections { get; set; }

    /// <summary>Since when it is in its state.</summary>
    public DateTimeOffset Since { get; set; }

    /// <summary>Why it is not connected, for people.</summary>
    public string? Trouble { get; set; }

    /// <summary>The services that list it, in the order in which they came to.</summary>
    public List<ServicePool> Pools { get; } = [];

    /// <summary>What the directory says of it; of several services that list it, what the first of them says. Read without the
    /// lock.</summary>
    public ServiceInstance Receiver
    {
        get => Volatile.Read(ref _receiver);
        set => Volatile.Write(ref _receiver, value);
    }

    /// <summary>Counts how often the last service has dropped it: a removal that was meant for an earlier time sees that it was listed
    /// again.</summary>
    public int Removals { get; set; }

    /// <summary>Requests that wait for its reply.</summary>
    public long Outstanding => Volatile.Read(ref _outstanding);

    public bool IsInPools => State == LinkState.Ready && !IsDraining;

    public bool IsInproc => Endpoint.StartsWith("inproc:", StringComparison.Ordinal);

    public void BeginRequest() => Interlocked.Increment(ref _outstanding);

    public void EndRequest() => Interlocked.Decrement(ref _outstanding);

    /// <summary>The number in a name that this class made; 0 for any other routing id.</summary>
    public static uint NumberIn(ReadOnlySpan<byte> name) => name is [0, _, _, _, _] ? BinaryPrimitives.ReadUInt32BigEndian(name[1..]) : 0;

    private static byte[] NameOf(uint number)
    {
        byte[] name = new byte[1 + sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(name.AsSpan(1), number);
        return name;
    }
}
