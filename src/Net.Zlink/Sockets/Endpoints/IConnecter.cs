using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>What becomes of the connections that a dialer makes. The dialer calls one member at a time, but for those marked so.</summary>
internal interface IConnecter
{
    /// <summary>Messages are queued. Any thread.</summary>
    bool HasQueued => false;

    /// <summary>Of the last connection. Any thread.</summary>
    long? Writes => null;

    /// <summary>Serves the wire, and tells the dialer of the handshake and the end. False: it was reset at once, and is disposed.</summary>
    bool Begin(Wire wire);

    void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger);

    /// <summary>Accepts nothing more. Any thread.</summary>
    void Close()
    {
    }

    /// <summary>The peer is another one from now on: what is queued is not for it. False after the close.</summary>
    bool Renew() => false;

    /// <summary>No further connection comes. <paramref name="why"/>: the dialer gave up; empty: it was closed.</summary>
    void Release(string why);
}

/// <summary>What a STREAM connection comes from: a listener, or a connect.</summary>
internal interface IConnectionOrigin
{
    void OnConnectionEnded(DisconnectReason reason);
}
