using Net.Zlink.Services.Tests.Support;
using Xunit;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>What a registry answers over real sockets, byte for byte as the native one, and what it lists then.</summary>
public sealed class RegistryRequestsTests
{
    [Fact]
    public async Task A_receiver_registers_changes_its_weight_and_leaves_and_each_step_is_a_list()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(options => options.Id = 7);
        ListFollower lists = fixture.Follow(registry);
        Assert.Equal("5 of 7, 0: ", await lists.ReadAsync());
        Support.RegistryClient client = fixture.Connect(registry, "recv-1");
        Assert.Equal("0 tcp://a:1 ", await client.AskAsync(Register("echo", "tcp://a:1", 3)));
        Assert.Equal("5 of 7, 1: 1/echo tcp://a:1 id=recv-1 w=3", await lists.ReadAsync());
        Assert.Equal("0 tcp://a:1 ", await client.AskAsync(UpdateWeight("echo", "tcp://a:1", 70000)));
        Assert.Equal("5 of 7, 2: 1/echo tcp://a:1 id=recv-1 w=70000", await lists.ReadAsync());
        await client.SendAsync(Unregister("echo", "tcp://a:1"));
        Assert.Equal("5 of 7, 3: ", await lists.ReadAsync());
    }

    [Fact]
    public async Task A_repeated_REGISTER_is_answered_and_moves_no_list_and_brings_back_a_removed_entry()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        Support.RegistryClient client = fixture.Connect(registry, "x");
        Assert.Equal("0 e ", await client.AskAsync(Register("s", "e", 3)));
        Assert.Equal("0 e ", await client.AskAsync(Register("s", "e", 3)));
        Assert.Equal("0 e ", await client.AskAsync(UpdateWeight("s", "e", 3)));
        Assert.Equal(1ul, registry.GetSnapshot().Sequence);
        Assert.True(registry.Remove(ServiceKind.Receiver, "s", "e"));
        Assert.Equal("0 e ", await client.AskAsync(Register("s", "e", 3)));
        Assert.Equal("e", Assert.Single(registry.GetSnapshot().Entries).Instance.Endpoint);
    }

    [Fact]
    public async Task Lists_are_ordered_by_kind_then_name_then_endpoint_in_the_order_of_bytes()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(options => options.Id = 7);
        Support.RegistryClient client = fixture.Connect(registry, "x");
        foreach ((string service, string endpoint, ushort kind) in new[] { ("b", "2", (ushort)2), ("b", "\u00e9", (ushort)1),
            ("b", "z", (ushort)1), ("B", "9", (ushort)1), ("a", "1", (ushort)2) })
        {
            Assert.Equal($"0 {endpoint} ", await client.AskAsync(Register(service, endpoint, 1, kind)));
        }

        Assert.Equal("5 of 7, 5: 1/B 9 id=x w=1; 1/b z id=x w=1; 1/b \u00e9 id=x w=1; 2/a 1 id=x w=1; 2/b 2 id=x w=1",
            await fixture.Follow(registry).ReadAsync());
    }

    [Fact]
    public async Task A_text_that_native_readers_would_cut_is_refused()
    {
        await using var fixture = new RegistryFixture();
        Support.RegistryClient client = fixture.Connect(fixture.Start(), "x");
        string longest = new('e', 255);
        Assert.Equal($"0 {longest} ", await client.AskAsync(Register("s", longest)));
        Assert.Equal($"2 {longest}e service name or endpoint longer than 255 bytes", await client.AskAsync(Register("s", longest + "e")));
        Assert.Equal("2 e service name or endpoint longer than 255 bytes", await client.AskAsync(Register(longest + "e", "e")));
    }

    [Fact]
    public async Task Beyond_the_limit_of_entries_a_new_one_is_refused_and_a_present_one_is_renewed()
    {
        await using var fixture = new RegistryFixture();
        Support.RegistryClient client = fixture.Connect(fixture.Start(options => options.MaxEntries = 1), "x");
        Assert.Equal("0 a ", await client.AskAsync(Register("s", "a")));
        Assert.Equal("2 b registry full", await client.AskAsync(Register("s", "b")));
        Assert.Equal("0 a ", await client.AskAsync(Register("s", "a", 2)));
    }

    [Fact]
    public async Task The_admission_callback_sees_the_request_and_its_text_goes_back_with_status_2()
    {
        await using var fixture = new RegistryFixture();
        List<RegistrationRequest> asked = [];
        ServiceRegistry registry = fixture.Start(options => options.Admission = (request, _) =>
            {
                asked.Add(request);
                return new(request.Service switch
                {
                    "no" => RegistrationAdmission.Refuse("not here"),
                    "bad" => throw new InvalidOperationException("of the test"),
                    _ => RegistrationAdmission.Accept
                });
            });
        Support.RegistryClient client = fixture.Connect(registry, "x");
        Assert.Equal("2 e not here", await client.AskAsync(Register("no", "e", 5)));
        Assert.Equal("3 e admission failed", await client.AskAsync(Register("bad", "e")));
        Assert.Equal("0 e ", await client.AskAsync(Register("yes", "e")));
        Assert.Equal((ServiceKind.Receiver, "no", "e", 5u, RoutingId.FromText("x")),
            (asked[0].Kind, asked[0].Service, asked[0].Endpoint, asked[0].Weight, asked[0].RoutingId));
        Assert.StartsWith("tcp://127.0.0.1:", asked[0].RemoteAddress, StringComparison.Ordinal);
        Assert.Equal(["yes"], registry.GetSnapshot().Entries.Select(static entry => entry.Instance.Service), StringComparer.Ordinal);
    }
}
