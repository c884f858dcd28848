using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>An entry belongs to who registered it, whatever connection is used: over real sockets.</summary>
public sealed class RegistryOwnershipTests
{
    [Fact]
    public async Task A_raw_client_that_unregisters_or_weighs_what_another_registered_changes_nothing()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        Support.RegistryClient owner = fixture.Connect(registry, "owner");
        Assert.Equal("0 tcp://127.0.0.1:17010 ", await owner.AskAsync(Register("quotes", "tcp://127.0.0.1:17010")));
        using RawPeer raw = await RawPeer.ConnectAsync(registry.RouterEndpoint);
        await raw.SendAsync(Convert.FromHexString("5A01020000000004" + "01050161" + "5A01020000000001" + "04"));
        byte[] entry = [.. Frame("quotes"u8.ToArray(), more: true), .. Frame("tcp://127.0.0.1:17010"u8.ToArray(), more: false)];
        for (int i = 0; i < 5; i++)
        {
            await raw.SendAsync((byte[])[.. Frame([3, 0], more: true), .. Frame([1, 0], more: true), .. entry]);
        }

        await Guard.UntilAsync(() => registry.GetSnapshot().RefusedRequests == 5, "each UNREGISTER is counted as refused");
        Support.RegistryClient stranger = fixture.Connect(registry, "stranger");
        Assert.Equal("ff tcp://127.0.0.1:17010 not the owner",
            await stranger.AskAsync(UpdateWeight("quotes", "tcp://127.0.0.1:17010", uint.MaxValue)));
        Assert.Equal((1u, 1ul), (Assert.Single(registry.GetSnapshot().Entries).Instance.Weight, registry.GetSnapshot().Sequence));
        Assert.Equal("0 tcp://127.0.0.1:17010 ", await owner.AskAsync(UpdateWeight("quotes", "tcp://127.0.0.1:17010", 2)));

        static byte[] Frame(byte[] body, bool more) => [0x5A, 1, (byte)(more ? 1 : 0), 0, 0, 0, 0, (byte)body.Length, .. body];
    }

    [Fact]
    public async Task Of_two_receivers_with_one_endpoint_the_one_that_leaves_takes_its_own_row_alone()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        Support.RegistryClient first = fixture.Connect(registry, "first");
        Support.RegistryClient second = fixture.Connect(registry, "second");
        await first.AskAsync(Register("s", "e", 1));
        await second.AskAsync(Register("s", "e", 2));
        Assert.Equal("second", Listed(registry));
        // Its answered heartbeat: nothing new, and no list.
        ulong before = registry.GetSnapshot().Sequence;
        await first.AskAsync(Register("s", "e", 1));
        Assert.Equal(("second", before), (Listed(registry), registry.GetSnapshot().Sequence));
        await second.SendAsync(Unregister("s", "e"));
        await Guard.UntilAsync(() => Listed(registry) is "first", "the row is that of the first receiver");
        await first.SendAsync(Unregister("s", "e"));
        await Guard.UntilAsync(() => Listed(registry) is "", "the entry goes with its last owner");
    }

    [Fact]
    public async Task A_killed_receiver_that_comes_again_under_another_id_and_leaves_is_gone_at_once()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        Support.RegistryClient killed = fixture.Connect(registry, "killed");
        await killed.AskAsync(Register("s", "e"));
        Support.RegistryClient restarted = fixture.Connect(registry, "restarted");
        await restarted.AskAsync(Register("s", "e"));
        killed.Dispose();
        await Guard.UntilAsync(() => registry.GetSnapshot().Clients == 1, "the connection of the killed one has ended");
        await restarted.SendAsync(Unregister("s", "e"));
        await Guard.UntilAsync(() => registry.GetSnapshot().Entries.All(static entry => entry.Instance.Endpoint is not "e"),
            "nothing of it stays");
    }

    [Fact]
    public async Task A_late_UNREGISTER_of_the_former_process_leaves_the_new_one_listed()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        Support.RegistryClient former = fixture.Connect(registry, "former");
        await former.AskAsync(Register("s", "e"));
        Support.RegistryClient present = fixture.Connect(registry, "present");
        await present.AskAsync(Register("s", "e"));
        await former.SendAsync(Unregister("s", "e"));
        Assert.Equal("0 probe ", await former.AskAsync(Register("s", "probe")));
        Assert.Equal("present",
            registry.GetSnapshot().Entries.Single(static entry => entry.Instance.Endpoint is "e").Instance.RoutingId.ToString());
    }

    [Theory]
    [InlineData("tcp://192.0.2.1:40000", "192.0.2.1")]
    [InlineData("tls://[::ffff:192.0.2.1]:40000", "192.0.2.1")]
    [InlineData("ws://[2001:db8::5]:40000", "2001:db8::5")]
    [InlineData("ipc:///tmp/x", "ipc")]
    [InlineData("", "inproc")]
    public void The_address_of_a_sender_is_without_its_port(string remoteAddress, string address) =>
        Assert.Equal(address, RegistrySender.AddressOf(remoteAddress));

    [Fact]
    public void A_ninth_owner_from_elsewhere_is_refused_and_one_from_a_known_place_replaces_the_oldest_of_it()
    {
        var owners = new EntryOwners();
        var instance = new ListedInstance(new ServiceText("e"), default, 1);
        for (int i = 0; i < 8; i++)
        {
            Assert.True(owners.Add(default, new RegistrySender(RoutingId.FromText("x"), $"{i}"), instance));
        }

        Assert.False(owners.Add(default, new RegistrySender(RoutingId.FromText("x"), "elsewhere"), instance));
        Assert.True(owners.Add(default, new RegistrySender(RoutingId.FromText("y"), "3"), instance with { Weight = 2 }));
        Assert.Equal((8, 2u), (owners.Count, owners.Newest.Weight));
    }

    private static string Listed(ServiceRegistry registry) =>
        registry.GetSnapshot().Entries is [var one] ? one.Instance.RoutingId.ToString() : "";
}
