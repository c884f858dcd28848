using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

internal sealed class StreamLink(uint id, RedactedEndpoint endpoint, object origin, Wire? wire)
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

    public PullPeer? Pull { get; set; }

    /// <summary>Set before the close is requested.</summary>
    public bool RetainsUnread { get; set; }

    public object? Session { get; set; }

    public object? View => Volatile.Read(ref _view);

    public object SetView(object view) => Interlocked.CompareExchange(ref _view, view, null) ?? view;

    public bool HasEnded => Volatile.Read(ref _ended) != 0;

    public DisconnectReason EndReason => (DisconnectReason)Math.Max(0, Volatile.Read(ref _ended) - 1);

    public bool TryEnd(DisconnectReason reason) => Interlocked.CompareExchange(ref _ended, (int)reason + 1, 0) == 0;

    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger = null)
    {
        Connection?.RequestClose(reason, mode, linger);
        Pipe?.RequestClose(reason, mode, linger);
    }

    public LinkCounts Count() => Connection is { } connection
        ? new LinkCounts(connection.ReceivedMessages, connection.ReceivedBytes, connection.Outbound.Counts)
        : new LinkCounts(0, Pipe?.ReceivedBytes ?? 0,
            new OutboundCounts { AcceptedBytes = Pipe?.SentBytes ?? 0, WrittenBytes = Pipe?.SentBytes ?? 0 });
}

internal readonly record struct LinkCounts(long ReceivedMessages, long ReceivedBytes, OutboundCounts Outbound);
