namespace Net.Zlink.Services.Tests.Replay;

/// <summary>Something of ours that can be one side of a transcript.</summary>
internal abstract class Role
{
    /// <summary>All roles that are ours; those of SPOT are not yet.</summary>
    public static IReadOnlyList<Role> All { get; } =
        [new RegistryRouterRole(), new RegistryPublisherRole(expires: false), new RegistryPublisherRole(expires: true),
        new RegistryPeerRole(), new DiscoveryRole(), new RegistrationRole(), new ReceiverRole(), new GatewayRole()];

    public abstract string Name { get; }

    /// <summary>Whether it can be that side, by socket types, direction and message ids.</summary>
    public abstract bool Plays(ServiceTranscript transcript);

    public abstract Task PlayAsync(ServiceTranscript transcript);

    /// <summary>Why a file is not ours yet, by its socket types and messages; null: it is.</summary>
    public static string? NotYet(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Sub, SocketKind.Pub)
            ? "both sides: SPOT publications and filters (SUB and PUB)"
        : transcript.TypeOfA == SocketKind.Dealer
            && transcript.Data.All(static record => !record.FromA || record.Parts.ElementAtOrDefault(1) is [2, 0])
            ? "side a: a SPOT node's requests (type 2)"
        : null;

    protected static string Text(byte[] bytes) => System.Text.Encoding.Latin1.GetString(bytes);
}
