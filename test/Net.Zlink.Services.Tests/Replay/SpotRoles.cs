using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>A node that connects to another one: it subscribes what the recording asks for, and receives what was published.</summary>
/// <param name="hasHeartbeats">With the defaults, and its heartbeats left out of what is compared; else without heartbeats.</param>
internal sealed class SpotSubscriberRole(bool hasHeartbeats) : Role
{
    public override string Name => hasHeartbeats ? "SPOT node with heartbeats, subscribing" : "SPOT node, subscribing";

    public override bool Plays(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Sub, SocketKind.Pub);

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        await using var fixture = new ContextFixture();
        using var listener = new RawListener();
        await using var node = new SpotNode(fixture.Context, new SpotNodeOptions
        {
            SubscriberSocket =
            {
                RoutingId = transcript.IdOfA, HeartbeatInterval = hasHeartbeats ? ServiceHeartbeats.Interval : TimeSpan.Zero,
            },
        });
        SpotSubscriber subscriber = node.CreateSubscriber();
        SpotSubscriber second = node.CreateSubscriber(); // Holds the same filters: the wire has each once.

        // What is sorted in front of the first publication was subscribed before the connection was there.
        TranscriptRecord[] first = [.. transcript.Data.TakeWhile(static record => record.FromA)];
        bool isGreeting = first.Length < transcript.Data.Length && IsInByteOrder(first);
        if (isGreeting)
        {
            Array.ForEach(first, record => Change(subscriber, second, record));
        }

        node.Connect(listener.Endpoint);
        using RawPeer raw = await listener.AcceptAsync();
        var connection = new PlayedConnection(raw, $"{transcript.File}, {Name}", hasHeartbeats);
        await connection.ShakeHandsAsync(transcript, oursIsA: true);
        foreach (TranscriptRecord record in transcript.Data)
        {
            if (record.FromA)
            {
                if (!isGreeting || !first.Contains(record))
                {
                    await node.WaitForPeersAsync(1, Guard.Token).Guarded();
                    Change(subscriber, second, record);
                }

                await connection.ExpectAsync(record);
                continue;
            }

            long received = node.GetStatistics().Received;
            await connection.SendAsync(record);
            await Guard.UntilAsync(() => node.GetStatistics().Received > received, $"{transcript.File}: the node has received it");
            Receive(subscriber, second, record);
        }
    }

    private static bool IsInByteOrder(TranscriptRecord[] filters) =>
        filters.Zip(filters.Skip(1)).All(static pair => pair.First.Parts[0].AsSpan().SequenceCompareTo(pair.Second.Parts[0]) < 0);

    /// <summary>A filter that ends in a colon is a pattern's in all recordings.</summary>
    private static void Change(SpotSubscriber subscriber, SpotSubscriber second, TranscriptRecord record)
    {
        const byte Subscribe = 0x08;
        string text = Text(record.Parts[0]);
        foreach (SpotSubscriber one in (SpotSubscriber[])[second, subscriber])
        {
            switch (((record.Flags & Subscribe) != 0, text.EndsWith(':')))
            {
                case (true, true):
                    one.SubscribePattern($"{text}*");
                    break;
                case (true, false):
                    one.Subscribe(text);
                    break;
                case (false, true):
                    Assert.True(one.UnsubscribePattern($"{text}*"));
                    break;
                default:
                    Assert.True(one.Unsubscribe(text));
                    break;
            }
        }
    }

    /// <summary>Both get it once. What has a longer topic than the exact filter that brought it is the node's to drop.</summary>
    private static void Receive(SpotSubscriber subscriber, SpotSubscriber second, TranscriptRecord record)
    {
        foreach (SpotSubscriber one in (SpotSubscriber[])[subscriber, second])
        {
            bool came = one.TryReceive(out SpotMessage message);
            using (message)
            {
                Assert.Equal(!Text(record.Parts[1]).Contains("dropped-locally", StringComparison.Ordinal), came);
                if (came)
                {
                    Assert.Equal(record.Parts[0], message.TopicBytes.ToArray());
                    Assert.Equal(record.Parts[1..], Enumerable.Range(0, message.PartCount).Select(i => message[i].ToArray()));
                    Assert.False(message.IsLocal);
                }
            }
        }
    }
}

/// <summary>A node that another one is connected to: it publishes what the recording has, directly or through its queue.</summary>
internal sealed class SpotPublisherRole(bool isQueued) : Role
{
    public override string Name => isQueued ? "SPOT node, publishing by its queue" : "SPOT node, publishing";

    public override bool Plays(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Sub, SocketKind.Pub);

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        await using var fixture = new ContextFixture();
        await using var node = new SpotNode(fixture.Context, new SpotNodeOptions
        {
            PublishQueueCapacity = isQueued ? 8 : 0,
            PublisherSocket = { RoutingId = transcript.IdOfB, HeartbeatInterval = TimeSpan.Zero },
        });
        using RawPeer raw = await RawPeer.ConnectAsync(node.Bind("tcp://127.0.0.1:0"));
        var connection = new PlayedConnection(raw, $"{transcript.File}, {Name}");
        await connection.ShakeHandsAsync(transcript, oursIsA: false);
        HashSet<string> held = new(StringComparer.Ordinal);
        foreach (TranscriptRecord record in transcript.Data)
        {
            if (record.FromA)
            {
                await connection.SendAsync(record);
                _ = record.Flags == 0x08 ? held.Add(Text(record.Parts[0])) : held.Remove(Text(record.Parts[0]));
                await UntilHeldAsync(node, connection, record, held);
                continue;
            }

            string topic = Text(record.Parts[0]);
            if (record.Parts.Length == 2)
            {
                Assert.True(node.TryPublish(topic, record.Parts[1]));
            }
            else
            {
                using var parts = new MessageBuilder();
                Array.ForEach(record.Parts[1..], part => parts.Add(part));
                Assert.True(node.TryPublish(topic, parts));
            }

            await connection.ExpectAsync(record);
        }

        // Nothing that no filter of the other side matches has been sent in between: the next thing to be read is this.
        if (held.Count > 0)
        {
            Assert.True(node.TryPublish("no-such-filter", "x"u8));
            Assert.True(node.TryPublish(held.First(), "last"u8));
            Assert.Equal("last", Text((await connection.ReadAsync(fromA: false)).Parts[1]));
        }
    }

    /// <summary>The node says nothing about filters: what it sends does. A filter that is held brings a message, one that is not brings
    /// none in front of one that is.</summary>
    private static async Task UntilHeldAsync(SpotNode node, PlayedConnection connection, TranscriptRecord record, HashSet<string> held)
    {
        string text = Text(record.Parts[0]);
        string? other = held.FirstOrDefault(filter => !text.StartsWith(filter, StringComparison.Ordinal));
        if (held.Contains(text))
        {
            Task<TranscriptRecord> read = connection.ReadAsync(fromA: false);
            while (!read.IsCompleted)
            {
                node.TryPublish(text, "probe"u8); // False while the queue is full of probes: one is on its way.
                await Task.WhenAny(read, Task.Run(static async () => await Task.Yield()));
            }

            await DrainAsync(node, connection, await read, text);
        }
        else if (other is not null)
        {
            string seen;
            do
            {
                Assert.True(node.TryPublish(text, "probe"u8));
                Assert.True(node.TryPublish(other, "mark"u8));
                seen = Text((await connection.ReadAsync(fromA: false)).Parts[1]);
                if (string.Equals(seen, "probe", StringComparison.Ordinal))
                {
                    Assert.Equal("mark", Text((await connection.ReadAsync(fromA: false)).Parts[1]));
                }
            }
            while (!string.Equals(seen, "mark", StringComparison.Ordinal));
        }
    }

    private static async Task DrainAsync(SpotNode node, PlayedConnection connection, TranscriptRecord read, string text)
    {
        await node.PublishAsync(text, "end"u8.ToArray(), Guard.Token).Guarded();
        while (!string.Equals(Text(read.Parts[1]), "end", StringComparison.Ordinal))
        {
            read = await connection.ReadAsync(fromA: false);
        }
    }
}

/// <summary>A node's connection to a registry. The native node has three of them, one for each kind of request; ours has one, on which a
/// recorded request comes behind what it needs.</summary>
internal sealed class SpotRegistrationRole : Role
{
    private static readonly TimeSpan HeartbeatInterval = TimeSpan.FromHours(1);

    public override string Name => "SPOT node, registration";

    public override bool Plays(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Dealer, SocketKind.Router)
            && transcript.Data.Where(static record => record.FromA).All(static record => record.Parts is [_, [2, 0], ..]);

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        using var listener = new RawListener();
        await using var node = new SpotNode(fixture.Context, new SpotNodeOptions
        {
            RoutingId = transcript.IdOfA,
            HeartbeatInterval = HeartbeatInterval,
            RegistrySocket = { HeartbeatInterval = TimeSpan.Zero },
        });
        node.ConnectRegistry(listener.Endpoint);
        TranscriptRecord[] requests = [.. transcript.Data.Where(static record => record.FromA)];
        string endpoint = Text(requests[0].Parts[3]);
        ServiceRegistration registration = node.Register(Text(requests[0].Parts[2]), endpoint);
        using RawPeer raw = await listener.AcceptAsync();
        var connection = new PlayedConnection(raw, $"{transcript.File}, {Name}");
        await connection.ShakeHandsAsync(transcript, oursIsA: true);
        TranscriptRecord register = await connection.ReadAsync(fromA: true);
        Assert.Equal(MessageIds.Register, register.MessageId);
        if (requests[0].MessageId == MessageIds.Register)
        {
            connection.Same(requests[0], register);
        }

        TranscriptRecord? ack = transcript.Data.FirstOrDefault(static record => !record.FromA);
        await connection.SendAsync(ack ?? Ack(endpoint));
        await Guard.UntilAsync(() => registration.State == RegistrationState.Registered, $"{transcript.File}: it is acknowledged");
        foreach (TranscriptRecord request in requests.Where(static request => request.MessageId != MessageIds.Register))
        {
            Task? end = request.MessageId == MessageIds.Unregister ? registration.DisposeAsync().AsTask() : null;
            Task<TranscriptRecord> reading = connection.ReadAsync(fromA: true);
            while (end is null && !reading.IsCompleted)
            {
                clock.Advance(HeartbeatInterval / 30); // Two intervals without a heartbeat would be a pause of the node.
                await fixture.SettleAsync();
            }

            connection.Same(request, await reading);
            await (end ?? Task.CompletedTask).Guarded();
        }
    }

    private static TranscriptRecord Ack(string endpoint)
    {
        byte[] bytes = System.Text.Encoding.Latin1.GetBytes(endpoint);
        return TranscriptRecord.Parse(fromA: false,
        [
            0x5A, 1, 1, 0, 0, 0, 0, 2, 2, 0, 0x5A, 1, 1, 0, 0, 0, 0, 1, 0, 0x5A, 1, 1, 0, 0, 0, 0, (byte)bytes.Length, .. bytes,
            0x5A, 1, 0, 0, 0, 0, 0, 0,
        ]);
    }
}
