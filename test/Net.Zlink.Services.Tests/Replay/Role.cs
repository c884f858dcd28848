namespace Net.Zlink.Services.Tests.Replay;

/// <summary>Something of ours that can be one side of a transcript.</summary>
internal abstract class Role
{
    public static IReadOnlyList<Role> All { get; } =
        [new RegistryRouterRole(), new RegistryPublisherRole(expires: false), new RegistryPublisherRole(expires: true),
        new RegistryPeerRole(), new DiscoveryRole(), new RegistrationRole(), new ReceiverRole(),
        new GatewayRole(hasHeartbeats: false), new GatewayRole(hasHeartbeats: true),
        new SpotSubscriberRole(hasHeartbeats: false), new SpotSubscriberRole(hasHeartbeats: true),
        new SpotPublisherRole(isQueued: false), new SpotPublisherRole(isQueued: true),
        new SpotRegistrationRole()];

    public abstract string Name { get; }

    /// <summary>Whether it can be that side, by socket types, direction and message ids.</summary>
    public abstract bool Plays(ServiceTranscript transcript);

    public abstract Task PlayAsync(ServiceTranscript transcript);

    protected static string Text(byte[] bytes) => System.Text.Encoding.Latin1.GetString(bytes);
}
