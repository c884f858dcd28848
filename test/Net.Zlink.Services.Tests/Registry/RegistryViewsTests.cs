using Xunit;
using static Net.Zlink.Services.RegistryEventType;

namespace Net.Zlink.Services.Tests;

/// <summary>What a registry makes of its peers' lists: views, owners, restarts, echoes, timeouts.</summary>
public sealed class RegistryViewsTests
{
    private static readonly TimeSpan Lease = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan PeerTimeout = TimeSpan.FromSeconds(90);

    private readonly RegistryState _state = new(
        new RegistrySettings(1, Lease, PeerTimeout), sequence: 0);
    private TimeSpan _now;

    [Fact]
    public void An_entry_that_its_owner_drops_stays_while_another_peer_lists_it()
    {
        // Natively the second list was "equal", and is never looked at again.
        var (a, b) = (new PeerView("tcp://a:1"), new PeerView("tcp://b:1"));
        List(a, 2, 1, "e");
        List(b, 3, 1, "e");
        List(a, 2, 2);
        Assert.Equal(["e"], Listed());
        List(b, 3, 2);
        Assert.Empty(Listed());
    }

    [Fact]
    public void A_receiver_that_moved_to_a_peer_is_listed_when_its_own_entry_expires()
    {
        Handle(MessageIds.Register, "e");
        List(new PeerView("tcp://a:1"), 2, 1, sync: true, "e");
        Pass(Lease);
        Assert.Equal((1, "e"), (_state.OwnCount, Assert.Single(Listed())));
        Pass(RegistryState.ShortestTick);
        Assert.Equal((0, "e"), (_state.OwnCount, Assert.Single(Listed())));
    }

    [Fact]
    public void What_has_left_by_word_here_or_at_a_peer_is_named_for_30_s_unless_it_is_listed_again()
    {
        Handle(MessageIds.Register, "own");
        Handle(MessageIds.Register, "expires");
        var peer = new PeerView("tcp://a:1");
        List(peer, 2, 1, sync: true, "left", "vanished");
        Assert.Empty(Named());
        Handle(MessageIds.Unregister, "own");
        List(peer, 2, 2, sync: true, removed: ["left", "unknown"], "vanished");
        List(peer, 2, 3, sync: true, removed: ["left"]);
        Assert.Equal(["left", "own"], Named());
        Handle(MessageIds.Register, "own");
        Assert.Equal(["left"], Named());
        Pass(Lease + RegistryState.ShortestTick); // Both that are registered here expire, which is no word.
        Assert.Equal((0, "left"), (_state.OwnCount, Assert.Single(Named())));
        List(peer, 2, 4, sync: true, "left");
        Assert.Empty(Named());
        List(peer, 2, 5, sync: true, removed: ["left"]);
        Pass(ListRemovals.Time);
        Assert.Equal(["left"], Named());
        Pass(RegistryState.ShortestTick);
        Assert.Empty(Named());
    }

    [Fact]
    public void A_list_names_the_1000_newest_removals()
    {
        for (int i = 0; i < 1_100; i++)
        {
            Handle(MessageIds.Register, $"e{i}");
            Handle(MessageIds.Unregister, $"e{i}");
        }

        Assert.Equal([.. Enumerable.Range(100, 1_000).Select(static i => $"e{i}").Order(StringComparer.Ordinal)], Named());
    }

    [Fact]
    public void A_restarted_peer_with_its_old_number_and_a_lower_list_is_believed_at_once()
    {
        List(new PeerView("tcp://a:1"), 2, 1000, "old");
        List(new PeerView("tcp://a:2"), 2, 0, "new");
        Assert.Equal(["new"], Listed());
    }

    [Fact]
    public void A_restarted_peer_with_another_number_at_the_same_address_takes_its_old_entries_away()
    {
        List(new PeerView("tcp://a:1"), 2, 5, "old");
        List(new PeerView("tcp://a:1"), 99, 0, "new");
        Assert.Equal(["new"], Listed());
    }

    [Fact]
    public void A_late_list_of_a_connection_that_was_replaced_is_not_taken()
    {
        var old = new PeerView("tcp://a:1");
        List(old, 2, 1, "e");
        List(new PeerView("tcp://a:1"), 2, 0);
        List(old, 2, 2, "e");
        Assert.Empty(Listed());
    }

    [Fact]
    public void A_peer_that_sends_its_own_entries_is_not_asked_for_what_it_learned()
    {
        var a = new PeerView("tcp://a:1");
        List(a, 2, 1, sync: true, "own");
        List(a, 2, 1, "own", "learned");
        List(a, 2, 2, "own", "learned");
        Assert.Equal(["own"], Listed());
    }

    [Fact]
    public void The_echo_of_a_removed_entry_does_not_bring_it_back_until_a_list_came_without_it()
    {
        var native = new PeerView("tcp://a:1");
        Handle(MessageIds.Register, "e");
        List(native, 2, 1, "e");
        Handle(MessageIds.Unregister, "e");
        List(native, 2, 2, "e", "f");
        Assert.Equal(["f"], Listed());
        List(native, 2, 3, "f");
        List(native, 2, 4, "e", "f");
        Assert.Equal(["e", "f"], Listed());
    }

    [Fact]
    public void An_entry_that_a_native_peer_goes_on_listing_comes_back_after_the_time_of_peers()
    {
        // A receiver that moved there before the peer heard of the removal would otherwise be lost for good.
        var native = new PeerView("tcp://a:1");
        Handle(MessageIds.Register, "e");
        List(native, 2, 1, "e");
        Handle(MessageIds.Unregister, "e");
        for (int i = 0; i < 3; i++)
        {
            Pass(PeerTimeout / 3);
            List(native, 2, 2 + (ulong)i, "e");
        }

        Pass(RegistryState.ShortestTick);
        Assert.Equal(["e"], Listed());
    }

    [Fact]
    public void A_view_goes_when_its_connection_was_over_for_a_lease_or_silent_for_the_time_of_peers()
    {
        var (lost, silent) = (new PeerView("tcp://a:1"), new PeerView("tcp://b:1"));
        List(lost, 2, 1, "lost");
        List(silent, 3, 1, "silent");
        RegistryState.ConnectionLost(_now, lost);
        Pass(Lease);
        Assert.Equal(["lost", "silent"], Listed());
        Pass(RegistryState.ShortestTick);
        Assert.Equal(["silent"], Listed());
        Pass(PeerTimeout - Lease - RegistryState.ShortestTick);
        Assert.Equal(["silent"], Listed());
        Pass(RegistryState.ShortestTick);
        Assert.Empty(Listed());
        Assert.Equal([PeerUp, Learned, PeerUp, Learned, PeerDown, Lost, PeerDown, Lost],
            _state.DequeueEvents().Select(static one => one.Type));
        List(silent, 3, 1, "silent");
        Assert.Equal(["silent"], Listed());
    }

    [Fact]
    public void A_registry_that_did_not_run_for_an_hour_expires_nobody()
    {
        Handle(MessageIds.Register, "own");
        List(new PeerView("tcp://a:1"), 2, 1, "peer's");
        _now += TimeSpan.FromHours(1);
        _state.Tick(_now);
        Assert.Equal(["own", "peer's"], Listed());
        Pass(Lease + RegistryState.ShortestTick);
        Assert.Equal(["peer's"], Listed());
    }

    [Fact]
    public void A_list_under_its_own_number_is_reported_once_and_not_taken()
    {
        var other = new PeerView("tcp://a:1");
        List(other, 1, 5, "e");
        List(other, 1, 6, "e");
        Assert.Equal([IdConflict], _state.DequeueEvents().Select(static one => one.Type));
        Assert.Empty(Listed());
        Assert.False(_state.WantsList(_now, new PeerView("tcp://self:1"), new ServiceListHeader(MessageIds.ServiceList, 1, 7, 0),
            isOwnSocket: true));
        Assert.Empty(_state.DequeueEvents());
    }

    [Fact]
    public void A_change_of_weight_is_a_sign_of_life()
    {
        Handle(MessageIds.Register, "e");
        Pass(Lease);
        Handle(MessageIds.UpdateWeight, "e");
        Pass(Lease);
        Assert.Equal(["e"], Listed());
    }

    [Fact]
    public void A_peer_that_lists_the_same_again_changes_no_list()
    {
        var a = new PeerView("tcp://a:1");
        List(a, 2, 1, "e");
        ulong before = _state.Sequence;
        List(a, 2, 2, "e");
        List(new PeerView("tcp://b:1"), 3, 1, "e");
        Assert.Equal(before, _state.Sequence);
    }

    private void Handle(ushort message, string endpoint) =>
        _state.Handle(_now, new RegistryRequest(message, new EntryKey(new ServiceKey(1, new ServiceText("s")), new ServiceText(endpoint))),
        new RegistrySender(default, "place"));

    private void List(PeerView view, uint registry, ulong sequence, params string[] endpoints) =>
        List(view, registry, sequence, sync: false, endpoints);

    /// <summary>What a list would name, by name.</summary>
    private string[] Named()
    {
        var frames = new Frames([[], [], [], [], _state.RemovalsAt(_now)]);
        return [.. ListRemovals.Read(frames).Select(static key => key.Endpoint.ToString()).Order(StringComparer.Ordinal)];
    }

    private void List(PeerView view, uint registry, ulong sequence, bool sync, params string[] endpoints) =>
        List(view, registry, sequence, sync, removed: [], endpoints);

    private void List(PeerView view, uint registry, ulong sequence, bool sync, string[] removed, params string[] endpoints)
    {
        var header = new ServiceListHeader(sync ? MessageIds.RegistrySync : MessageIds.ServiceList, registry, sequence, 1);
        if (_state.WantsList(_now, view, header))
        {
            var key = new ServiceKey(1, new ServiceText("s"));
            SortedDictionary<ServiceKey, ListedService> services = [];
            if (endpoints.Length > 0)
            {
                services.Add(key, new ListedService(key, [.. endpoints.Select(
                    static endpoint => new ListedInstance(new ServiceText(endpoint), default, 1))]));
            }

            _state.TakeList(_now, view, header, services,
                [.. removed.Select(endpoint => new EntryKey(key, new ServiceText(endpoint)))]);
        }
    }

    private void Pass(TimeSpan time)
    {
        for (TimeSpan end = _now + time; _now < end;)
        {
            _now += RegistryState.ShortestTick;
            _state.Tick(_now);
        }
    }

    private string[] Listed() => [.. _state.All.SelectMany(static service => service.Instances)
        .Select(static instance => instance.Endpoint.ToString())];
}
