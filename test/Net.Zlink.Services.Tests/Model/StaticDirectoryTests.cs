using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The directory that an application fills, and what every directory's readers are promised.</summary>
public sealed class StaticDirectoryTests
{
    [Fact]
    public void Instances_are_shown_by_service_in_the_order_of_the_bytes_of_their_endpoints()
    {
        var directory = new StaticDirectory(new ServiceInstance("a", "z"), new ServiceInstance("b", "x"),
            new ServiceInstance("a", "\u00e9"), new ServiceInstance("a", "Z"));
        Assert.Equal(["Z", "z", "\u00e9"], directory.GetService("a").Instances.Select(static instance => instance.Endpoint),
            StringComparer.Ordinal);
        Assert.True(directory.GetService("b").IsAvailable);
        Assert.Equal((false, 0L), (directory.GetService("c").IsAvailable, directory.GetService("c").Version));
    }

    [Fact]
    public async Task A_reader_begins_with_what_is_there_and_sees_what_was_added_removed_and_updated()
    {
        var clock = new ManualTimeProvider();
        var directory = new StaticDirectory(clock, new ServiceInstance("a", "1"), new ServiceInstance("a", "2"));
        await using IAsyncEnumerator<ServiceChange> changes = directory.WatchAsync("a", Guard.Token).GetAsyncEnumerator(Guard.Token);
        Assert.True(await changes.MoveNextAsync().Guarded());
        Assert.Equal(["1", "2"], changes.Current.Added.Select(static instance => instance.Endpoint), StringComparer.Ordinal);
        clock.Advance(TimeSpan.FromSeconds(1));
        directory.SetService("b", new ServiceInstance("b", "9"));
        directory.SetService("a", new ServiceInstance("a", "2") { Weight = 5 }, new ServiceInstance("a", "3"));
        Assert.True(await changes.MoveNextAsync().Guarded());
        ServiceChange change = changes.Current;
        Assert.Equal(["3"], change.Added.Select(static one => one.Endpoint), StringComparer.Ordinal);
        Assert.Equal(["1"], change.Removed.Select(static one => one.Endpoint), StringComparer.Ordinal);
        Assert.Equal([5u], change.Updated.Select(static one => one.Weight));
        Assert.Equal(3, change.After.Version);
        Assert.Equal(clock.GetUtcNow(), change.After.ChangedAt);
    }

    [Fact]
    public async Task A_slow_reader_misses_states_between_and_never_the_last_one()
    {
        var directory = new StaticDirectory();
        await using IAsyncEnumerator<ServiceChange> changes = directory.WatchAsync(cancellationToken: Guard.Token)
            .GetAsyncEnumerator(Guard.Token);
        ValueTask<bool> first = changes.MoveNextAsync();
        directory.SetService("a", new ServiceInstance("a", "0"));
        Assert.True(await first.Guarded());
        for (uint weight = 2; weight <= 1000; weight++)
        {
            directory.SetService("a", new ServiceInstance("a", "0") { Weight = weight });
        }

        Assert.True(await changes.MoveNextAsync().Guarded());
        Assert.Equal((1u, 1000u), (changes.Current.Before.Instances[0].Weight, changes.Current.After.Instances[0].Weight));
    }

    [Fact]
    public async Task A_service_that_loses_all_its_instances_and_gets_some_again_is_seen_to_do_both()
    {
        var directory = new StaticDirectory(new ServiceInstance("a", "1"));
        await using IAsyncEnumerator<ServiceChange> changes = directory.WatchAsync(cancellationToken: Guard.Token)
            .GetAsyncEnumerator(Guard.Token);
        Assert.True(await changes.MoveNextAsync().Guarded());
        directory.SetService("a");
        Assert.True(await changes.MoveNextAsync().Guarded());
        Assert.Equal((1, false), (changes.Current.Removed.Count(), changes.Current.After.IsAvailable));
        directory.SetService("a", new ServiceInstance("a", "1"));
        Assert.True(await changes.MoveNextAsync().Guarded());
        Assert.Single(changes.Current.Added);
    }

    [Fact]
    public void A_service_without_instances_is_not_kept_and_has_a_greater_version_when_it_comes_again()
    {
        var directory = new StaticDirectory(new ServiceInstance("a", "1"));
        long first = directory.GetService("a").Version;
        directory.SetService("a");
        Assert.Equal((false, 0L), (directory.GetService("a").IsAvailable, directory.GetService("a").Version));
        directory.SetService("a", new ServiceInstance("a", "1"));
        Assert.InRange(directory.GetService("a").Version, first + 1, long.MaxValue);
    }

    [Fact]
    public void The_same_instances_again_are_no_change_and_wrong_ones_are_refused()
    {
        var directory = new StaticDirectory(new ServiceInstance("a", "1"));
        directory.SetService("a", new ServiceInstance("a", "1"));
        Assert.Equal(1, directory.GetService("a").Version);
        Assert.Throws<ArgumentException>(() => directory.SetService("a", new ServiceInstance("b", "1")));
        Assert.Throws<ArgumentException>(() => new StaticDirectory(new ServiceInstance("a", "")));
        Assert.Throws<ArgumentException>(() => new StaticDirectory(new ServiceInstance("a", "1") { Weight = 0 }));
    }
}
