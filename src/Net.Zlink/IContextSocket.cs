using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>What a context needs of its sockets, whatever their type, to end them in order.</summary>
internal interface IContextSocket
{
    /// <summary>Completes when the socket was closed and its last connection is gone.</summary>
    Task AllClosed { get; }

    /// <summary>It was disposed, and may still deliver what it had accepted.</summary>
    bool IsClosed { get; }

    SocketMonitors Monitors { get; }

    /// <summary>Begins to end the socket; what was accepted is delivered within the socket's own linger time.</summary>
    void BeginClose(DisconnectReason reason);

    /// <summary>Ends what is still there, without waiting for anybody.</summary>
    void Abort();

    /// <summary>Enters what could not be delivered.</summary>
    void AddTo(UndeliveredSummary counters);
}
