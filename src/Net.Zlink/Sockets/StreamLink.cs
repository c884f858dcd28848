using System.Buffers.Binary;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamLink(uint id, RedactedEndpoint endpoint, IConnectionOrigin? origin, Wire? wire, StreamHub? hub = null)
    : LaneOwner
{
    // 0: not announced yet, 1: a peer, else the reason + 2: one word holds the end and its reason.
    private int _state;
    private object? _view;

    /// <summary>What a number that no peer has stands for: a peer that has left.</summary>
    public static StreamLink Unknown(uint id)
    {
        var link = new StreamLink(id, "", origin: null, wire: null);
        link.TryEnd(DisconnectReason.Local, out _);
        return link;
    }

    public uint Id => id;

    public RedactedEndpoint Endpoint => endpoint;

    /// <summary>Null: it stands for no connection.</summary>
    public IConnectionOrigin? Origin => origin;

    /// <inheritdoc cref="Origin"/>
    public Wire? Wire => wire;

    public string RemoteText => wire?.RemoteText(endpoint) ?? "no connection";

    public (string Local, string Remote) Ends => origin is BoundListener ? (wire!.LocalTextOfAccepted(endpoint), RemoteText)
        : (wire!.LocalText(endpoint), endpoint.ToString());

    public Connection? Connection { get; set; }

    /// <summary>Null: it has frames. A pipe's completes when its handler is not to be awaited any more.</summary>
    public TaskCompletionSource? Abandoned { get; set; }

    /// <summary>Null also of a pipe.</summary>
    public Connection? Framed => Abandoned is null ? Connection : null;

    /// <summary>The messages of a pulled peer.</summary>
    public InboundLane? Lane { get; private set; }

    /// <summary>Set before the close is requested.</summary>
    public bool RetainsUnread { get; set; }

    public object? View => Volatile.Read(ref _view);

    public object SetView(object view) => Interlocked.CompareExchange(ref _view, view, null) ?? view;

    /// <summary>It can be sent to: it was announced, and has not ended.</summary>
    public bool IsPeer => Volatile.Read(ref _state) == 1;

    public bool HasEnded => Volatile.Read(ref _state) > 1;

    public DisconnectReason EndReason => (DisconnectReason)Math.Max(0, Volatile.Read(ref _state) - 2);

    public override Connection? Reader => Connection;

    public override QueueCounts Outbound => Connection is not { } connection ? default
        : Abandoned is null ? connection.Outbound.Counts
        : connection.Outbound.Counts with { QueuedMessages = 0, TakenMessages = 0, DroppedMessages = 0 };

    /// <inheritdoc/>
    /// <remarks>A handler and a pipe have no lane: what was read is delivered. Bytes are those of the connection.</remarks>
    public override QueueCounts Inbound
    {
        get
        {
            QueueCounts counts = Lane?.Counts ?? new QueueCounts { TakenMessages = Framed?.ReceivedMessages ?? 0 };
            counts.TakenBytes = (Connection?.ReceivedBytes ?? 0) - counts.DroppedBytes - counts.QueuedBytes;
            return counts;
        }
    }

    public bool TryBegin() => Interlocked.CompareExchange(ref _state, 1, 0) == 0;

    public bool TryEnd(DisconnectReason reason, out bool wasPeer)
    {
        wasPeer = Interlocked.CompareExchange(ref _state, (int)reason + 2, 1) == 1;
        return wasPeer || Interlocked.CompareExchange(ref _state, (int)reason + 2, 0) == 0;
    }

    public InboundLane AddLane(QueueLimits limits)
    {
        Lane = new InboundLane(limits, hub!.Host.Queued, hub.Total) { NotifiesOfConnect = true };
        Lane.BelongTo(this);
        return Lane;
    }

    public SendStatus TrySend(ReadOnlySpan<byte> payload)
    {
        var message = new OutgoingMessage(payload);
        return TrySend(message);
    }

    public SendStatus TrySend(in OutgoingMessage message) => HasEarlierWaiter ? SendStatus.Full : Append(message);

    /// <summary>Frames of received memory, all or none.</summary>
    public SendStatus TrySend(Slab slab, int offset, int length, int frames)
    {
        if (Framed is not { } connection)
        {
            return Unframed;
        }

        if (HasEarlierWaiter)
        {
            return SendStatus.Full;
        }

        SendStatus status = connection.Outbound.TryAppendShared(slab, offset, length, frames, out bool schedule);
        if (schedule)
        {
            connection.ScheduleFlush();
        }

        return status;
    }

    /// <summary>Not behind those that wait: for the first of these.</summary>
    public SendStatus Append(in OutgoingMessage message)
    {
        if (Framed is not { } connection)
        {
            return Unframed;
        }

        SendStatus status = connection.Outbound.TryAppend(message, out bool schedule);
        if (schedule)
        {
            connection.ScheduleFlush();
        }

        return status;
    }

    public void OnCapacity() => hub!.BlockedSends.Retry(RouteOf(stackalloc byte[sizeof(uint)]), connection: null);

    /// <summary>What those that wait to send to it stand behind.</summary>
    public ReadOnlySpan<byte> RouteOf(Span<byte> space)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(space, id);
        return space;
    }

    /// <summary>Without a connection of frames it is a pipe, or stands for a number that no peer has.</summary>
    public SendStatus Unframed => Abandoned is null ? SendStatus.Closed : SendStatus.NotFramed;

    private bool HasEarlierWaiter => hub is { BlockedSends: { IsEmpty: false } waiting }
        && waiting.HasEarlierWaiter(new SendTarget(RouteOf(stackalloc byte[sizeof(uint)])));

    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger = null)
    {
        if (mode != CloseMode.Orderly)
        {
            Abandoned?.TrySetResult();
        }

        Connection?.RequestClose(reason, mode, linger);
    }

    public override UndeliveredLink Undelivered(long messages, long bytes) => new(id, endpoint, RemoteText, messages, bytes);

    public override void OnLaneCapacity() => Connection!.Resume();
}
