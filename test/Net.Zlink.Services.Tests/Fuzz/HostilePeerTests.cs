using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Design 5.5: each role is sent any bytes, and goes on. A fixture fails the test if a buffer does not come back.</summary>
public class HostilePeerTests
{
    private static readonly Func<ServiceRequest, CancellationToken, ValueTask> Echo = static (request, cancellation) =>
        request.ExpectsReply ? request.ReplyAsync(request.Memory, cancellation) : default;

    [Fact]
    public async Task A_gateway_ends_each_request_once_and_goes_on_whatever_its_receivers_send()
    {
        var hostile = new HostileMessages();
        for (int round = 0; round < Faults.Rounds(2, more: 10, byHand: 200); round++)
        {
            await using var scene = new GatewayScene();
            (RouterSocket receiver, string endpoint) = await scene.AddRawAsync("hostile");
            Task[] asked = [.. Enumerable.Range(0, 20).Select(_ => AskAsync(scene.Client))];
            var ids = new List<ulong>();
            RoutingId gateway = default;
            while (ids.Count < asked.Length)
            {
                using Message request = await receiver.ReceiveAsync(Guard.Token).Guarded();
                Assert.True(RequestEnvelope.TryRead(request.Span, out RequestEnvelope envelope));
                ids.Add(envelope.Id);
                gateway = request.RoutingId.Copy();
            }

            await HostileMessages.SendAsync(
                (message, cancellation) => receiver.To(gateway.ToArray()).SendAsync(message, cancellation), hostile.Envelopes([.. ids]));

            // A receiver that serves takes its place: what is still open ends with the connection.
            receiver.Dispose();
            await Task.WhenAll(asked).Guarded();
            scene.Unlist(endpoint);
            await scene.AddServingAsync("good", Echo);
            Assert.Equal("x", await scene.AskAsync("x"));
            while (scene.Gateway.TryReceive(out GatewayMessage message))
            {
                message.Dispose();
            }

            Assert.Equal((0, 21), (scene.Gateway.GetStatistics().OutstandingRequests, scene.Gateway.GetStatistics().StartedRequests));
        }

        static async Task AskAsync(ServiceClient client)
        {
            try
            {
                using ServiceReply reply = await client.RequestAsync("x"u8.ToArray(), Guard.Limit, Guard.Token);
            }
            catch (Exception e) when (e is ServiceException or TimeoutException)
            {
                // Failed, refused, too late or lost, as the bytes say.
            }
        }
    }

    [Fact]
    public async Task A_receiver_goes_on_whatever_a_gateway_sends()
    {
        var hostile = new HostileMessages();
        await using var fixture = new ContextFixture();
        await using var receiver = new ServiceReceiver(fixture.Context);
        using var gateway = new ScriptedGateway(fixture.Context, receiver.Bind("tcp://127.0.0.1:*"));
        _ = receiver.ServeAsync(Echo, cancellationToken: Guard.Token);
        for (int round = 0; round < Faults.Rounds(2, more: 10, byHand: 200); round++)
        {
            await HostileMessages.SendAsync(gateway.Socket.SendAsync, hostile.Envelopes(7, 8));
        }

        gateway.Request(4711, "good");
        ScriptedGateway.Answer answer;
        do
        {
            answer = await gateway.ReceiveAsync();
        }
        while (answer.Id != 4711);

        Assert.True((EnvelopeKind.Reply, "good") == (answer.Kind, answer.Text), $"{answer} with seed {hostile.Seed}");
        await Guard.UntilAsync(() => receiver.GetStatistics().Running == 0, $"each request ends with seed {hostile.Seed}");
    }

    [Fact]
    public async Task A_registry_goes_on_whatever_clients_subscribers_and_peers_send()
    {
        var hostile = new HostileMessages();
        await using var fixture = new RegistryFixture();
        using XPubSocket peer = fixture.Context.CreateXPub(new XPubOptions { Linger = TimeSpan.Zero });
        ServiceRegistry registry = fixture.Start(options => (options.Peers, options.MaxEntries) = ([peer.Bind("tcp://127.0.0.1:0")], 50));
        using Message subscription = await peer.ReceiveAsync(Guard.Token).Guarded();
        using Support.RegistryClient client = fixture.Connect(registry, "hostile");
        using XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(registry.PublisherEndpoint);
        for (int round = 0; round < Faults.Rounds(2, more: 10, byHand: 200); round++)
        {
            byte[][][] messages = [.. hostile.Frames().Where(static message => message.Length <= 16)];
            await HostileMessages.SendAsync(client.Socket.SendAsync, messages);
            await HostileMessages.SendAsync(peer.SendAsync, hostile.Frames());
            await HostileMessages.SendAsync(subscriber.SendAsync, [.. messages.Select(static message => message[..1])]);
        }

        Support.RegistryClient good = fixture.Connect(registry, "good");
        byte[][] entry = Support.RegistryClient.Register("good", "tcp://127.0.0.1:1");
        string ack = await good.AskAsync(entry);
        Assert.True(ack is "0 tcp://127.0.0.1:1 " || ack.EndsWith("registry full", StringComparison.Ordinal),
            $"{ack} with seed {hostile.Seed}");
        Assert.True(registry.GetSnapshot().OwnEntries <= 50, $"seed {hostile.Seed}");
        Assert.NotEmpty(registry.Describe());
    }

    [Fact]
    public async Task A_discovery_and_its_gateway_go_on_whatever_a_registry_publishes()
    {
        var hostile = new HostileMessages();
        await using var fixture = new ContextFixture();
        using XPubSocket registry = fixture.Context.CreateXPub(new XPubOptions { Linger = TimeSpan.Zero });
        await using var discovery = new RegistryDirectory(fixture.Context);
        await using var gateway = new ServiceGateway(fixture.Context, discovery);
        gateway.GetClient("svc");
        discovery.ConnectRegistry(registry.Bind("tcp://127.0.0.1:0"));
        using Message subscription = await registry.ReceiveAsync(Guard.Token).Guarded();
        for (int round = 0; round < Faults.Rounds(2, more: 10, byHand: 200); round++)
        {
            await HostileMessages.SendAsync(registry.SendAsync, hostile.Frames());
        }

        await HostileMessages.SendAsync(registry.SendAsync,
        [
            [
                Support.RegistryClient.U16(5), Support.RegistryClient.U32(99), Support.RegistryClient.U64(1), Support.RegistryClient.U32(1),
                Support.RegistryClient.U16(1), Support.RegistryClient.Text("good"), Support.RegistryClient.U32(1),
                Support.RegistryClient.Text("tcp://127.0.0.1:1"), Support.RegistryClient.Text("id"), Support.RegistryClient.U32(1),
            ],
        ]);
        ServiceSnapshot good = await discovery.WaitForAsync("good", cancellationToken: Guard.Token).Guarded();
        Assert.Equal("tcp://127.0.0.1:1", Assert.Single(good.Instances).Endpoint);
        Assert.NotEmpty(discovery.Describe());
        Assert.NotEmpty(gateway.Describe());
    }

    [Fact]
    public async Task Payloads_that_are_envelopes_arrive_as_they_were_sent_in_requests_and_replies()
    {
        var hostile = new HostileMessages();
        await using var scene = new GatewayScene();
        await scene.AddServingAsync("mirror", static (request, cancellation) =>
        {
            using var reply = new MessageBuilder();
            for (int i = 0; i < request.PartCount; i++)
            {
                reply.Add(request[i].Span);
            }

            Assert.True(request.TryReply(reply));
            Assert.Equal(0, reply.Count);
            return default;
        });
        for (int round = 0; round < Faults.Rounds(1, more: 5, byHand: 100); round++)
        {
            foreach (byte[][] message in hostile.Envelopes())
            {
                using var builder = new MessageBuilder();
                Array.ForEach(message, part => builder.Add(part));
                using ServiceReply reply = await scene.Client.RequestAsync(builder, Guard.Limit, Guard.Token).AsTask().Guarded();
                Assert.Equal(Show(message), Show([.. Enumerable.Range(0, reply.PartCount).Select(index => reply[index].ToArray())]));
                if (message is [{ Length: 0 }])
                {
                    continue; // As a plain message that is what a probe sends, which no handler sees.
                }

                builder.Clear();
                Array.ForEach(message, part => builder.Add(part));
                Assert.True(scene.Client.TrySend(builder));
                using GatewayMessage back = await scene.Gateway.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(Show(message), Show([.. Enumerable.Range(0, back.PartCount).Select(index => back[index].ToArray())]));
            }
        }

        static string Show(byte[][] parts) => string.Join('|', parts.Select(Convert.ToHexString));
    }
}
