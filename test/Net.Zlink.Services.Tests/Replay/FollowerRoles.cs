using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>A SUB of ours that follows the recorded lists; each list is looked at before the next one is sent.</summary>
internal abstract class FollowerRole : Role
{
    public override bool Plays(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Sub, SocketKind.XPub)
            && transcript.Data.All(static record => record.FromA || record.MessageId is MessageIds.ServiceList or MessageIds.RegistrySync);

    /// <summary>Plays the other side.</summary>
    /// <param name="transcript">The recording.</param>
    /// <param name="listener">Where ours connects.</param>
    /// <param name="shown">Waits until a list is shown; whether it is a repeat is said.</param>
    protected async Task PlayAsync(ServiceTranscript transcript, RawListener listener, Func<SortedDictionary<ServiceKey, ListedService>,
        Task> shown)
    {
        using RawPeer raw = await listener.AcceptAsync();
        var connection = new PlayedConnection(raw, $"{transcript.File}, {Name}");
        await connection.ShakeHandsAsync(transcript, oursIsA: true);
        foreach (TranscriptRecord record in transcript.Data)
        {
            if (record.FromA)
            {
                await connection.ExpectAsync(record);
                continue;
            }

            await connection.SendAsync(record);
            var frames = new Frames(record.Parts);
            Assert.True(ServiceListHeader.TryRead(frames, out ServiceListHeader header));
            await shown(ServiceListReader.Read(frames, header));
        }
    }

    protected static ServiceInstance InstanceOf(in ServiceKey key, ListedInstance listed) =>
        new(key.Name.ToString(), listed.Endpoint.ToString()) { RoutingId = listed.RoutingId, Weight = listed.Weight };

    /// <summary>What only our sockets do, ZMP heartbeats, is off; the HELLO is the recorded one.</summary>
    protected static void Configure(SubOptions options, ServiceTranscript transcript)
    {
        options.RoutingId = transcript.IdOfA;
        options.HeartbeatInterval = TimeSpan.Zero;
    }
}

/// <summary>The registry's connection to a peer.</summary>
internal sealed class RegistryPeerRole : FollowerRole
{
    public override string Name => "registry, peer";

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        await using var fixture = new RegistryFixture();
        using var listener = new RawListener();
        Assert.True(ServiceListHeader.TryRead(new Frames(transcript.Data.First(static record => !record.FromA).Parts),
            out ServiceListHeader header));
        ServiceRegistry registry = fixture.Start(options =>
        {
            options.Id = header.RegistryId + 1;
            options.Peers = [listener.Endpoint];
            Configure(options.PeerSocket, transcript);
        });
        await PlayAsync(transcript, listener, list => Guard.UntilAsync(
            () => registry.GetSnapshot().Entries.Select(static entry => (entry.OwnerId, (ushort)entry.Kind, entry.Instance)).SequenceEqual(
                from service in list.Values
                from instance in service.Instances
                select (header.RegistryId, service.Key.Kind, InstanceOf(service.Key, instance))),
            $"{transcript.File}, {Name}: the registry shows its peer's list"));
    }
}

/// <summary>A discovery of each kind.</summary>
internal sealed class DiscoveryRole : FollowerRole
{
    public override string Name => "discovery";

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        foreach (ServiceKind kind in (ServiceKind[])[ServiceKind.Receiver, ServiceKind.SpotNode])
        {
            await using var fixture = new ContextFixture();
            using var listener = new RawListener();
            await using var discovery = new RegistryDirectory(
                fixture.Context, kind, new RegistryDirectoryOptions().With(options => Configure(options.Socket, transcript)));
            discovery.ConnectRegistry(listener.Endpoint);
            await PlayAsync(transcript, listener, list => Guard.UntilAsync(
                () => discovery.GetServices().Where(static service => service.IsAvailable).SelectMany(static service => service.Instances)
                    .OrderBy(static instance => instance.Service, StringComparer.Ordinal)
                        .ThenBy(static instance => instance.Endpoint, StringComparer.Ordinal).SequenceEqual(
                    from service in list.Values
                    where service.Key.Kind == (ushort)kind
                    from instance in service.Instances
                    select InstanceOf(service.Key, instance)),
                $"{transcript.File}, {Name} of {kind}: it shows the list"));
        }
    }
}
