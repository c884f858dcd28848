using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>A registry of either kind, started.</summary>
internal interface IRegistryRole : IDisposable
{
    string Publisher { get; }

    string Router { get; }
}

/// <summary>A receiver of either kind, bound and connected to its registries. One thread at a time.</summary>
internal interface IReceiverRole : IDisposable
{
    string Endpoint { get; }

    /// <summary>As registries list it.</summary>
    byte[] RoutingId { get; }

    /// <summary>Waits for the answer, which must be yes.</summary>
    void Register(string service, uint weight = 1);

    void UpdateWeight(string service, uint weight);

    void Unregister(string service);

    /// <summary>The next message, the gateway's id first, or null after the timeout.</summary>
    byte[][]? Receive(TimeSpan timeout);

    /// <summary>Sends to the gateway whose id comes first.</summary>
    void Send(params byte[][] message);
}

/// <summary>A gateway of either kind with a discovery of the same. One thread at a time.</summary>
internal interface IGatewayRole : IDisposable
{
    /// <summary>What the discovery has, in its order.</summary>
    IReadOnlyList<NativeReceiverInfo> GetReceivers(string service);

    /// <summary>How many receivers it would send to.</summary>
    int GetReadyCount(string service);

    /// <summary>False if no receiver is ready.</summary>
    bool Send(string service, byte[][] parts);

    /// <summary>False if that receiver is not ready.</summary>
    bool SendTo(string service, byte[] routingId, byte[][] parts);

    /// <summary>The next message of any receiver, or null after the timeout.</summary>
    byte[][]? Receive(TimeSpan timeout);
}
