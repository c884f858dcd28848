using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>A receiver's connection to a registry: it is made to do what the recorded requests ask for.</summary>
internal sealed class RegistrationRole : Role
{
    private static readonly TimeSpan HeartbeatInterval = TimeSpan.FromHours(1);

    public override string Name => "receiver, registration";

    /// <summary>Only well-formed requests of receivers, each about something that this connection has registered.</summary>
    public override bool Plays(ServiceTranscript transcript)
    {
        HashSet<string> registered = new(StringComparer.Ordinal);
        return (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Dealer, SocketKind.Router)
            && transcript.Data.Where(static record => record.FromA).All(record =>
            record.Parts is [_, [1, 0], { Length: > 0 }, { Length: > 0 }, ..]
                && (record.MessageId == MessageIds.Register ? record.Parts.Length == 5 && registered.Add(Key(record))
                : registered.Contains(Key(record))));
    }

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var listener = new RawListener();
        await using var receiver = new ServiceReceiver(fixture.Context, new ServiceReceiverOptions
        {
            Socket = { RoutingId = transcript.IdOfA },
            HeartbeatInterval = HeartbeatInterval,
            RegistrySocket = { HeartbeatInterval = TimeSpan.Zero },
        });
        receiver.ConnectRegistry(listener.Endpoint);
        RawPeer? raw = null;
        PlayedConnection? connection = null;
        Dictionary<string, ServiceRegistration> registrations = new(StringComparer.Ordinal);
        List<Task> tasks = [];
        try
        {
            foreach (TranscriptRecord record in transcript.Data)
            {
                if (!record.FromA)
                {
                    await connection!.SendAsync(record);
                    continue;
                }

                (string service, string endpoint) = (Text(record.Parts[2]), Text(record.Parts[3]));
                uint Weight() => new Frames(record.Parts).ReadWeight(4);
                switch (record.MessageId)
                {
                    case MessageIds.Register:
                        registrations[Key(record)] = receiver.Register(service, endpoint, Weight());
                        break;
                    case MessageIds.UpdateWeight:
                        await Guard.UntilAsync(() => registrations[Key(record)].State == RegistrationState.Registered,
                            $"{transcript.File}: the registration is acknowledged");
                        tasks.Add(registrations[Key(record)].UpdateWeightAsync(Weight(), Guard.Token));
                        break;
                    case MessageIds.Unregister:
                        await Task.WhenAll(tasks).Guarded();
                        tasks.Add(registrations[Key(record)].DisposeAsync().AsTask());
                        break;
                    default:
                        await Guard.UntilAsync(() => registrations[Key(record)].State == RegistrationState.Registered,
                            $"{transcript.File}: the registration is acknowledged");
                        break;
                }

                if (connection is null)
                {
                    raw = await listener.AcceptAsync();
                    connection = new PlayedConnection(raw, $"{transcript.File}, {Name}");
                    await connection.ShakeHandsAsync(transcript, oursIsA: true);
                }

                Task<TranscriptRecord> reading = connection.ReadAsync(fromA: true);
                while (record.MessageId == MessageIds.Heartbeat && !reading.IsCompleted)
                {
                    clock.Advance(HeartbeatInterval / 30); // Two intervals without a heartbeat would be a pause of the receiver.
                    await fixture.SettleAsync();
                }

                TranscriptRecord came = await reading;
                while (came.MessageId == MessageIds.Heartbeat && record.MessageId != MessageIds.Heartbeat)
                {
                    came = await connection.ReadAsync(fromA: true); // How many heartbeats there are is not compared.
                }

                connection.Same(record, came);
            }

            await Task.WhenAll(tasks).Guarded();
        }
        finally
        {
            raw?.Dispose();
        }
    }

    private static string Key(TranscriptRecord record) => $"{Text(record.Parts[2])} {Text(record.Parts[3])}";
}

/// <summary>A receiver's ROUTER, which gateways connect to: it reads the recorded messages and sends the recorded answers.</summary>
internal sealed class ReceiverRole : Role
{
    public override string Name => "receiver, requests";

    public override bool Plays(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Router, SocketKind.Router);

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        await using var fixture = new ContextFixture();
        await using var receiver =
            new ServiceReceiver(fixture.Context, new ServiceReceiverOptions { Socket = { RoutingId = transcript.IdOfB } });
        using RawPeer raw = await RawPeer.ConnectAsync(receiver.Bind("tcp://127.0.0.1:0"));
        var connection = new PlayedConnection(raw, $"{transcript.File}, {Name}");
        await connection.ShakeHandsAsync(transcript, oursIsA: false);
        using var answer = new MessageBuilder();
        foreach (TranscriptRecord record in transcript.Data)
        {
            if (record.FromA)
            {
                await connection.SendAsync(record);
                using ServiceRequest request = await receiver.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(record.Parts, request.Message.ToArrays());
            }
            else
            {
                Array.ForEach(record.Parts, part => answer.Add(part));
                Assert.True(receiver.Socket.To(transcript.IdOfA).TrySend(answer));
                await connection.ExpectAsync(record);
            }
        }
    }
}

/// <summary>A gateway's ROUTER: it sends the recorded messages, those of one part to any receiver, others to the one that the directory
/// names, and reads the recorded answers.</summary>
/// <param name="hasHeartbeats">With the defaults, and its heartbeats left out of what is compared; else without heartbeats.</param>
internal sealed class GatewayRole(bool hasHeartbeats) : Role
{
    private const string Service = "service";

    public override string Name => hasHeartbeats ? "gateway with heartbeats" : "gateway";

    public override bool Plays(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Router, SocketKind.Router);

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        await using var fixture = new ContextFixture();
        using var listener = new RawListener();
        await using var gateway = new ServiceGateway(
            fixture.Context,
            new StaticDirectory(new ServiceInstance(Service, listener.Endpoint) { RoutingId = transcript.IdOfB }),
            new ServiceGatewayOptions
            {
                Socket =
                {
                    RoutingId = transcript.IdOfA,
                    Linger = TimeSpan.Zero,
                    HeartbeatInterval = hasHeartbeats ? ServiceHeartbeats.Interval : TimeSpan.Zero,
                },
            });
        ServiceClient client = gateway.GetClient(Service);
        using RawPeer raw = await listener.AcceptAsync();
        var connection = new PlayedConnection(raw, $"{transcript.File}, {Name}", hasHeartbeats);
        await connection.ShakeHandsAsync(transcript, oursIsA: true);
        await client.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        using var message = new MessageBuilder();
        foreach (TranscriptRecord record in transcript.Data)
        {
            if (!record.FromA)
            {
                await connection.SendAsync(record);
                using GatewayMessage answer = await gateway.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(record.Parts, answer.Message.ToArrays());
                continue;
            }

            if (record.Parts is [byte[] only])
            {
                Assert.True(client.TrySend(only));
            }
            else
            {
                Array.ForEach(record.Parts, part => message.Add(part));
                Assert.True(client.To(transcript.IdOfB).TrySend(message));
            }

            await connection.ExpectAsync(record);
        }
    }
}
