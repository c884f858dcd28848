using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A program that opens a socket with one routing id, sends, closes it, and opens the next: several connections with that id are
/// at the ROUTER before the first of them has ended.</summary>
public sealed class ReopenedClientTests
{
    private const int Clients = 20;

    private static readonly byte[] Id = "client"u8.ToArray();

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [SlowInlineData("ipc://*")]
    [InlineData("ws://127.0.0.1:*")]
    [InlineData("inproc://reopened")]
    public async Task Every_message_of_20_clients_that_are_opened_and_closed_with_one_routing_id_arrives(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Linger = TimeSpan.Zero });
        endpoint = router.Bind(endpoint);
        for (int round = SlowTests.Rounds(3, 100); round > 0; round--)
        {
            for (int i = 0; i < Clients; i++)
            {
                DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id });
                client.Connect(endpoint);
                client.Send($"{i}");
                client.Disconnect(endpoint);
                client.Dispose();
            }

            HashSet<string> received = [];
            while (received.Count < Clients)
            {
                using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
                Assert.True(received.Add(message.GetString()), $"{message.GetString()} came twice");
            }
        }

        Assert.Equal(0, router.GetStatistics().RefusedConnections);
    }
}
