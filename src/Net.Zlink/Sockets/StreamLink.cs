using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamLink(uint id, RedactedEndpoint endpoint, object origin, Wire? wire, StreamHub? hub = null) : LaneOwner
{
    private int _ended; // The reason + 1, so that one word holds the end and its reason.
    private object? _view;

    /// <summary>What a number that no peer has stands for: a peer that has left.</summary>
    public static StreamLink Unknown(uint id)
    {
        var link = new StreamLink(id, "", origin: "", wire: null);
        link.TryEnd(DisconnectReason.Local);
        return link;
    }

    public uint Id => id;

    public RedactedEndpoint Endpoint => endpoint;

    public object Origin => origin;

    public EndPoint? RemoteEndPoint => wire?.RemoteEndPoint;

    public EndPoint? LocalEndPoint => wire?.LocalEndPoint;

    public X509Certificate2? RemoteCertificate => wire?.RemoteCertificate;

    public UpgradeHead? Request => wire?.Request;

    public string? SubProtocol => wire?.SubProtocol;

    public string RemoteText => wire?.RemoteText(endpoint) ?? "no connection";

    public (string Local, string Remote) Ends => origin is BoundListener ? (wire!.LocalTextOfAccepted(endpoint), RemoteText)
        : (wire!.LocalText(endpoint), endpoint.ToString());

    public Connection? Connection { get; set; }

    public PipeConnection? Pipe { get; set; }

    /// <summary>The messages of a pulled peer.</summary>
    public InboundLane? Lane { get; private set; }

    /// <summary>Set before the close is requested.</summary>
    public bool RetainsUnread { get; set; }

    public object? Session { get; set; }

    public object? View => Volatile.Read(ref _view);

    public object SetView(object view) => Interlocked.CompareExchange(ref _view, view, null) ?? view;

    public bool HasEnded => Volatile.Read(ref _ended) != 0;

    public DisconnectReason EndReason => (DisconnectReason)Math.Max(0, Volatile.Read(ref _ended) - 1);

    public override Connection? Reader => Connection;

    public override OutboundCounts Outbound => Connection is { } connection ? connection.Outbound.Counts
        : new OutboundCounts { AcceptedBytes = Pipe?.SentBytes ?? 0, WrittenBytes = Pipe?.SentBytes ?? 0 };

    /// <inheritdoc/>
    /// <remarks>A handler and a pipe have no lane: what was read is delivered.</remarks>
    public override LaneCounts Inbound => (Lane?.Counts ?? default) with
    {
        Received = Connection?.ReceivedMessages ?? 0,
        ReceivedBytes = Connection?.ReceivedBytes ?? Pipe?.ReceivedBytes ?? 0
    };

    public bool TryEnd(DisconnectReason reason) => Interlocked.CompareExchange(ref _ended, (int)reason + 1, 0) == 0;

    public void AddLane(QueueLimits limits)
    {
        Lane = new InboundLane(limits, hub!.Host.Budget, hub.Total) { NotifiesOfConnect = true };
        Lane.BelongTo(this);
    }

    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger = null)
    {
        Connection?.RequestClose(reason, mode, linger);
        Pipe?.RequestClose(reason, mode, linger);
    }

    public override UndeliveredLink Undelivered(long messages, long bytes) => new(id, endpoint, RemoteText, messages, bytes);

    public override void Announce(InboundLane lane, int messages) => hub!.Receive.Enqueue(lane, messages);

    public override void OnLaneCapacity()
    {
        Connection!.Resume();
        hub!.Total?.PausedReaders.ResumeWaiters();
    }
}
