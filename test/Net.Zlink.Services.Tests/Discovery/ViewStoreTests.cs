using System.Text;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class ViewStoreTests
{
    private static readonly TimeSpan Stale = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Restart = TimeSpan.FromSeconds(15);

    private readonly ViewStore _store = new(ServiceKind.Receiver, Stale, Restart);
    private TimeSpan _now;

    [Fact]
    public void Two_registries_show_their_union_and_do_not_replace_each_other()
    {
        var one = new ConnectionView();
        var two = new ConnectionView();
        for (ulong sequence = 1; sequence < 5; sequence++)
        {
            List(one, 1, sequence, ("a", "tcp://1", 1));
            List(two, 2, sequence, ("a", "tcp://2", 1), ("b", "tcp://3", 1));
            Assert.Equal(["tcp://1", "tcp://2"], Endpoints("a"));
        }

        Assert.Equal(["tcp://3"], Endpoints("b"));
        Assert.Equal(1, _store.Services["b"].Version - _store.Services["a"].Version + 1);
    }

    [Fact]
    public void The_younger_entry_counts_where_two_registries_differ()
    {
        var one = new ConnectionView();
        var two = new ConnectionView();
        List(one, 1, 1, ("a", "tcp://1", 1));
        List(two, 2, 1, ("a", "tcp://1", 2));
        Assert.Equal(2u, _store.Services["a"].Instances[0].Weight);
        List(one, 1, 2, ("a", "tcp://1", 3));
        Assert.Equal(3u, _store.Services["a"].Instances[0].Weight);
        List(two, 2, 2, ("a", "tcp://1", 2), ("b", "tcp://1", 1));
        Assert.Equal(3u, _store.Services["a"].Instances[0].Weight);
    }

    [Fact]
    public void Lists_that_were_seen_and_lists_for_peers_change_nothing()
    {
        var view = new ConnectionView();
        Assert.Equal(["a"], List(view, 1, 5, ("a", "tcp://1", 1)));
        Assert.Empty(List(view, 1, 5));
        Assert.Empty(List(view, 1, 4));
        Assert.Empty(_store.OnList(_now, default, view, Encode(MessageIds.RegistrySync, 1, 9, ServiceKind.Receiver)));
        Assert.Empty(_store.OnList(_now, default, view, new Frames([[5, 0], [1], [2]])));
        Assert.Equal((1, 2, 1, 1), _store.Lists);
        Assert.Empty(List(view, 1, 6, ("a", "tcp://1", 1)));
        Assert.Equal(["a"], List(view, 1, 7));
        Assert.Empty(_store.Services);
    }

    [Fact]
    public void Services_of_another_kind_are_not_shown()
    {
        Assert.Empty(_store.OnList(_now, default, new ConnectionView(),
            Encode(MessageIds.ServiceList, 1, 1, ServiceKind.SpotNode, ("a", "tcp://1", 1))));
        Assert.Empty(_store.Services);
    }

    [Fact]
    public void A_weight_of_0_is_1_and_an_endpoint_that_comes_twice_is_one()
    {
        List(new ConnectionView(), 1, 1, ("a", "tcp://1", 0), ("a", "tcp://1", 0));
        Assert.Equal(1u, Assert.Single(_store.Services["a"].Instances).Weight);
    }

    [Fact]
    public void A_reconnection_replaces_the_view_of_its_registry_at_once()
    {
        var before = new ConnectionView();
        List(before, 1, 5, ("a", "tcp://1", 1), ("a", "tcp://2", 1));
        _store.OnConnections(_now, new Dictionary<ConnectionView, string>());
        var after = new ConnectionView();
        List(after, 1, 6, ("a", "tcp://2", 1));
        Assert.Equal(["tcp://2"], Endpoints("a"));
        Assert.Equal([after], _store.Views);
    }

    [Theory]
    [InlineData(1, 1)] // A lower sequence: the registry has a fixed id and began anew.
    [InlineData(1, 5 + (1 << 20))] // A sequence that begins at the clock.
    [InlineData(9, 6)] // Another random id, at the same endpoint.
    public void A_restarted_registry_takes_nothing_away_until_its_receivers_had_time_to_register(uint id, ulong sequence)
    {
        var before = new ConnectionView();
        List(before, 1, 5, ("a", "tcp://1", 1), ("a", "tcp://2", 1));
        _store.OnConnections(_now, new Dictionary<ConnectionView, string> { [before] = "tcp://registry" });
        _store.OnConnections(_now, new Dictionary<ConnectionView, string>());
        var after = new ConnectionView { Endpoint = "tcp://registry" };
        Assert.Empty(List(after, id, sequence, ("a", "tcp://2", 1)));
        Assert.Equal(["tcp://1", "tcp://2"], Endpoints("a"));

        List(after, id, sequence + 1, ("a", "tcp://2", 7));
        Assert.Equal(7u, _store.Services["a"].Instances[1].Weight);
        _now += Restart - TimeSpan.FromTicks(1);
        Assert.Empty(_store.OnTime(_now, default));
        _now += TimeSpan.FromTicks(1);
        Assert.Equal(_now, _store.NextTime);
        Assert.Equal(["a"], _store.OnTime(_now, default));
        Assert.Equal(["tcp://2"], Endpoints("a"));
        Assert.Null(_store.NextTime);
    }

    [Fact]
    public void The_last_view_stays_while_no_registry_is_connected_and_goes_when_it_is_stale_beside_another()
    {
        var one = new ConnectionView();
        List(one, 1, 1, ("a", "tcp://1", 1));
        _store.OnConnections(_now, new Dictionary<ConnectionView, string>());
        _now += TimeSpan.FromDays(1);
        Assert.Null(_store.NextTime);
        Assert.Empty(_store.OnTime(_now, default));
        Assert.Equal(["tcp://1"], Endpoints("a"));

        // One comes back of which nothing was known: those that live had no time to register there.
        List(new ConnectionView(), 2, 1, ("b", "tcp://2", 1));
        Assert.Equal(_now + Restart + Stale, _store.NextTime);
        _now += Restart + Stale - TimeSpan.FromTicks(1);
        Assert.Empty(_store.OnTime(_now, default));
        _now += TimeSpan.FromTicks(1);
        Assert.Equal(["a"], _store.OnTime(_now, default));
        Assert.Equal(["b"], _store.Services.Keys, StringComparer.Ordinal);
    }

    [Fact]
    public void A_view_that_ends_beside_a_registry_that_has_long_been_there_goes_after_the_stale_time_alone()
    {
        var one = new ConnectionView();
        var two = new ConnectionView();
        List(one, 1, 1, ("a", "tcp://1", 1));
        List(two, 2, 1);
        _now += TimeSpan.FromHours(1);
        _store.OnConnections(_now, new Dictionary<ConnectionView, string> { [two] = "tcp://two" });
        Assert.Equal(_now + Stale, _store.NextTime);
    }

    [Fact]
    public void A_registry_that_was_live_too_briefly_to_be_registered_at_takes_nothing_away()
    {
        var one = new ConnectionView();
        List(one, 1, 1, ("a", "tcp://1", 1));
        _store.OnConnections(_now, new Dictionary<ConnectionView, string>());
        for (uint id = 2; id < 10; id++)
        {
            var brief = new ConnectionView();
            List(brief, id, 1);
            _now += Restart + Stale - TimeSpan.FromTicks(1);
            Assert.Empty(_store.OnTime(_now, default));
            _store.OnConnections(_now, new Dictionary<ConnectionView, string>());
            Assert.Null(_store.NextTime);
        }

        Assert.Equal(["tcp://1"], Endpoints("a"));
    }

    [Fact]
    public void A_registry_that_restarts_again_and_again_takes_nothing_away_until_it_has_been_there_for_long_enough()
    {
        ConnectionView view = new() { Endpoint = "tcp://registry" };
        for (uint id = 1; id <= 100; id++)
        {
            view = new ConnectionView { Endpoint = "tcp://registry" };
            List(view, id, 1, ("a", $"tcp://{id % 10}", 1));
            _store.OnConnections(_now, new Dictionary<ConnectionView, string> { [view] = "tcp://registry" });
            _now += Restart - TimeSpan.FromTicks(1);
            _store.OnTime(_now, default);
            if (id < 100)
            {
                _store.OnConnections(_now, new Dictionary<ConnectionView, string>());
            }
        }

        Assert.Equal([view], _store.Views);
        Assert.Equal(10, Endpoints("a").Length);
        _now += TimeSpan.FromTicks(1);
        Assert.Equal(["a"], _store.OnTime(_now, default));
        Assert.Equal(["tcp://0"], Endpoints("a"));
        Assert.Null(_store.NextTime);
    }

    [Fact]
    public void What_a_restarted_registry_lists_again_and_then_drops_goes_at_once()
    {
        var view = new ConnectionView();
        List(view, 1, 5, ("a", "tcp://1", 1));
        List(view, 9, 1);
        Assert.Equal(["tcp://1"], Endpoints("a"));
        List(view, 9, 2, ("a", "tcp://1", 1));
        Assert.Equal(["a"], List(view, 9, 3));
        Assert.Null(_store.NextTime);
    }

    [Fact]
    public void What_a_registry_says_to_have_left_is_known_for_30_s_from_the_first_time_unless_it_is_listed_again()
    {
        var (one, two) = (new ConnectionView(), new ConnectionView());
        List(one, 1, 1, ("a", "tcp://1", 1));
        List(two, 2, 1, ("a", "tcp://2", 1));
        Assert.False(IsRemoved("tcp://1"));
        ListRemoved(one, 1, 2, "tcp://1");
        Assert.True(IsRemoved("tcp://1"));
        _now += ListRemovals.Time / 2;
        ListRemoved(one, 1, 3, "tcp://1");
        List(two, 2, 2); // It vanishes without a word.
        Assert.Equal((true, false), (IsRemoved("tcp://1"), IsRemoved("tcp://2")));
        _now += ListRemovals.Time / 2;
        Assert.False(IsRemoved("tcp://1"));
        ListRemoved(two, 2, 3, "tcp://1");
        List(one, 1, 4, ("a", "tcp://1", 1));
        Assert.False(IsRemoved("tcp://1"));
    }

    private bool IsRemoved(string endpoint) => _store.IsRemoved(_now, "a", endpoint);

    private void ListRemoved(ConnectionView view, uint id, ulong sequence, string endpoint) =>
        _store.OnList(_now, default, view, new Frames(
        [
            BitConverter.GetBytes(MessageIds.ServiceList), BitConverter.GetBytes(id), BitConverter.GetBytes(sequence),
            BitConverter.GetBytes(0),
            ListRemovals.Encode(
                [new EntryKey(new ServiceKey((ushort)ServiceKind.Receiver, new ServiceText("a")), new ServiceText(endpoint))]),
        ]));

    private IReadOnlyCollection<string> List(
        ConnectionView view, uint id, ulong sequence, params ReadOnlySpan<(string Service, string Endpoint, int Weight)> instances) =>
        _store.OnList(_now, default, view, Encode(MessageIds.ServiceList, id, sequence, ServiceKind.Receiver, instances));

    private string[] Endpoints(string service) => [.. _store.Services[service].Instances.Select(static instance => instance.Endpoint)];

    private static Frames Encode(ushort messageId, uint id, ulong sequence, ServiceKind kind,
        params ReadOnlySpan<(string Service, string Endpoint, int Weight)> instances)
    {
        var services = instances.ToArray().GroupBy(static instance => instance.Service, StringComparer.Ordinal).ToArray();
        List<byte[]> frames = [BitConverter.GetBytes(messageId), BitConverter.GetBytes(id), BitConverter.GetBytes(sequence),
            BitConverter.GetBytes(services.Length)];
        foreach (var service in services)
        {
            frames.AddRange([BitConverter.GetBytes((ushort)kind), Encoding.UTF8.GetBytes(service.Key),
                BitConverter.GetBytes(service.Count())]);
            foreach ((_, string endpoint, int weight) in service)
            {
                frames.AddRange([Encoding.UTF8.GetBytes(endpoint), "id"u8.ToArray(), BitConverter.GetBytes(weight)]);
            }
        }

        return new Frames([.. frames]);
    }
}
