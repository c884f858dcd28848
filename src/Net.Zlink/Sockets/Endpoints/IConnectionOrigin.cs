using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>What a STREAM connection comes from: a listener, or a connect.</summary>
internal interface IConnectionOrigin
{
    void OnConnectionEnded(DisconnectReason reason);
}
