using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal interface IContextSocket
{
    Task AllClosed { get; }

    bool IsClosed { get; }

    SocketMonitors Monitors { get; }

    /// <summary>Accepted messages are delivered within its linger time.</summary>
    void BeginClose(DisconnectReason reason);

    void Abort();

    SocketCounters Counters { get; }

    int LinkCount { get; }
}
