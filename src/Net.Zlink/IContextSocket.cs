using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>A socket of any type, as its context ends it.</summary>
internal interface IContextSocket
{
    /// <summary>Completes when the socket is closed and its last connection has ended.</summary>
    Task AllClosed { get; }

    /// <summary>Disposed; it may still deliver accepted messages.</summary>
    bool IsClosed { get; }

    SocketMonitors Monitors { get; }

    /// <summary>Starts to close the socket. Accepted messages are delivered within its linger time.</summary>
    void BeginClose(DisconnectReason reason);

    void Abort();

    void AddTo(UndeliveredSummary counters);
}
