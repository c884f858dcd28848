using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class RegistryLinkTests
{
    private static readonly TimeSpan HeartbeatInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan AckTimeout = TimeSpan.FromSeconds(4);

    private static readonly int MaxLength = SlowTests.Rounds(6, all: 7);

    /// <summary>What may happen to a link, in any order.</summary>
    private enum Step
    {
        Ready,
        Lost,
        Ack,
        Refusal,
        Interval,
        Suspension,
        Register,
        Update,
        Remove,
    }

    [Fact]
    public void No_order_of_up_to_seven_events_matches_an_answer_to_another_request_or_leaves_a_wrong_state()
    {
        Step[] steps = Enum.GetValues<Step>();
        long orders = 0;
        Extend(new Step[MaxLength], 0);
        Assert.True(orders > 10_000, $"only {orders} orders were tried");

        void Extend(Step[] order, int length)
        {
            foreach (Step step in length < MaxLength ? steps : [])
            {
                order[length] = step;
                if (new Scene().Run(order.AsSpan(0, length + 1))) // Else it is the same as without the last step.
                {
                    orders++;
                    Extend(order, length + 1);
                }
            }
        }
    }

    [Fact]
    public void A_stale_answer_is_not_taken_for_the_next_one()
    {
        // The native receiver takes whatever comes next: after a call that timed out each answer is that of the request before.
        var link = new RegistryLink(HeartbeatInterval, AckTimeout);
        var entry = new LinkEntry(new ServiceText("echo"), 1);
        link.Start();
        link.Add(TimeSpan.Zero, entry);
        link.OnReady(TimeSpan.Zero, 1);
        link.OnTick(AckTimeout);
        Assert.Equal(RegistrationState.Unreachable, entry.State);
        link.OnTick(AckTimeout + RegistryLink.ReconnectInterval);
        link.OnReady(AckTimeout + RegistryLink.ReconnectInterval, 2);

        link.OnAck(AckTimeout * 2, 1, AckStatus.Done, "");
        Assert.Equal(RegistrationState.Pending, entry.State);
        link.OnAck(AckTimeout * 2, 2, AckStatus.Refused, "no");
        Assert.Equal((RegistrationState.Refused, "no"), (entry.State, entry.Detail));
        link.OnAck(AckTimeout * 2, 2, AckStatus.Done, "");
        Assert.Equal((RegistrationState.Refused, 1), (entry.State, link.UnexpectedAcks));
    }

    [Fact]
    public void Every_registered_service_is_kept_alive_each_interval()
    {
        (RegistryLink link, LinkEntry[] entries) = Registered("a", "b", "c");
        link.Commands.Clear();
        link.OnTick(HeartbeatInterval);
        Assert.Equal(entries.Select(static entry => new LinkCommand(LinkAction.Send, MessageIds.Heartbeat, entry)), link.Commands);
        link.Commands.Clear();
        link.OnTick(HeartbeatInterval * 1.5);
        Assert.Empty(link.Commands);
        Assert.Equal(HeartbeatInterval * 2, link.NextTick);
    }

    [Fact]
    public void A_pause_of_more_than_two_intervals_registers_anew()
    {
        (RegistryLink link, LinkEntry[] entries) = Registered("a", "b");
        link.Commands.Clear();
        link.OnTick((HeartbeatInterval * 2) + TimeSpan.FromTicks(1));
        Assert.Equal(entries.Select(static entry => new LinkCommand(LinkAction.Send, MessageIds.Register, entry, 1)), link.Commands);
        Assert.All(entries, static entry => Assert.Equal(RegistrationState.Registered, entry.State));
    }

    [Fact]
    public void Pauses_between_connections_grow_to_five_seconds_and_begin_anew_behind_an_answer()
    {
        var link = new RegistryLink(HeartbeatInterval, AckTimeout);
        link.Start();
        TimeSpan now = TimeSpan.Zero;
        List<double> pauses = [];
        for (int i = 0; i < 7; i++)
        {
            link.OnReady(now, link.Connection);
            link.OnLost(now, link.Connection, "gone");
            pauses.Add((link.NextTick!.Value - now).TotalMilliseconds);
            now = link.NextTick.Value;
            link.OnTick(now);
        }

        Assert.Equal([200, 400, 800, 1600, 3200, 5000, 5000], pauses);
        link.OnReady(now, link.Connection);
        link.Add(now, new LinkEntry(new ServiceText("a"), 1));
        link.OnAck(now, link.Connection, AckStatus.Done, "");
        link.OnLost(now, link.Connection, "gone");
        Assert.Equal(now + RegistryLink.ReconnectInterval, link.NextTick);
    }

    [Fact]
    public void A_registration_without_an_answer_on_two_connections_is_reported_once()
    {
        var link = new RegistryLink(HeartbeatInterval, AckTimeout);
        link.Start();
        var entry = new LinkEntry(new ServiceText("a"), 1);
        link.Add(TimeSpan.Zero, entry);
        TimeSpan now = TimeSpan.Zero;
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(i >= 2 ? 1 : 0, link.Commands.Count(static command => command.Action == LinkAction.WarnUnanswered));
            link.OnReady(now, link.Connection);
            now += AckTimeout;
            link.OnTick(now);
            now = link.NextTick!.Value;
            link.OnTick(now);
        }

        Assert.Contains("another receiver", entry.Detail, StringComparison.Ordinal);
        Assert.Equal(1, link.Commands.Count(static command => command.Action == LinkAction.WarnUnanswered));
    }

    [Fact]
    public void An_entry_that_the_registry_has_lost_is_registered_anew_with_the_new_weight()
    {
        (RegistryLink link, LinkEntry[] entries) = Registered("a");
        link.UpdateWeight(TimeSpan.Zero, entries[0], 9);
        link.Commands.Clear();
        link.OnAck(TimeSpan.Zero, 1, AckStatus.NotFound, "provider not found");
        Assert.Equal([new LinkCommand(LinkAction.Send, MessageIds.Register, entries[0], 9)], link.Commands);
        link.OnAck(TimeSpan.Zero, 1, AckStatus.Done, "");
        Assert.Equal((RegistrationState.Registered, 9u), (entries[0].State, entries[0].AcceptedWeight));
    }

    [Fact]
    public void A_refused_registration_is_asked_again_after_pauses_that_double_up_to_a_minute_and_says_why_meanwhile()
    {
        (RegistryLink link, LinkEntry[] entries) = Registered();
        var entry = new LinkEntry(new ServiceText("a"), 3);
        link.Add(TimeSpan.Zero, entry);
        TimeSpan now = TimeSpan.Zero;
        List<double> pauses = [];
        for (int i = 0; i < 6; i++)
        {
            link.Commands.Clear();
            link.OnAck(now, 1, AckStatus.Refused, "registry full");
            Assert.Equal((RegistrationState.Refused, "registry full"), (entry.State, entry.Detail));
            Assert.Equal(i == 0 ? 1 : 0, link.Commands.Count(static command => command.Action == LinkAction.WarnRefused));
            pauses.Add((entry.RetryAt!.Value - now).TotalSeconds);
            link.Commands.Clear();
            for (TimeSpan due = entry.RetryAt.Value; now < due;)
            {
                Assert.Empty(link.Commands);
                Assert.True(link.NextTick > now);
                now = link.NextTick!.Value;
                link.OnTick(now);
            }

            Assert.Equal([new LinkCommand(LinkAction.Send, MessageIds.Register, entry, 3)], link.Commands);
            Assert.Equal((RegistrationState.Refused, null), (entry.State, entry.RetryAt));
        }

        Assert.Equal([5, 10, 20, 40, 60, 60], pauses);
        Assert.Empty(entries);
        link.OnAck(now, 1, AckStatus.Done, "");
        Assert.Equal((RegistrationState.Registered, 3u), (entry.State, entry.AcceptedWeight));
        link.OnLost(now, 1, "gone");
        now = link.NextTick!.Value;
        link.OnTick(now);
        link.OnReady(now, 2);
        link.OnAck(now, 2, AckStatus.Refused, "no");
        Assert.Equal(now + RegistryLink.RefusalPause, entry.RetryAt);
    }

    [Fact]
    public void Links_that_are_refused_at_one_moment_do_not_ask_again_at_one_moment()
    {
        TimeSpan?[] retries = [.. new[] { 0, 0.5, 1 }.Select(static spread =>
        {
            var link = new RegistryLink(HeartbeatInterval, AckTimeout, spread);
            var entry = new LinkEntry(new ServiceText("a"), 1);
            link.Start();
            link.Add(TimeSpan.Zero, entry);
            link.OnReady(TimeSpan.Zero, 1);
            link.OnAck(TimeSpan.Zero, 1, AckStatus.Refused, "no");
            return entry.RetryAt;
        })];
        Assert.Equal([TimeSpan.FromSeconds(5), TimeSpan.FromSeconds(5.625), TimeSpan.FromSeconds(6.25)], retries);
    }

    [Fact]
    public void A_refused_weight_leaves_the_entry_alive_and_is_asked_again()
    {
        (RegistryLink link, LinkEntry[] entries) = Registered("a");
        link.UpdateWeight(TimeSpan.Zero, entries[0], 9);
        link.OnAck(TimeSpan.Zero, 1, AckStatus.Refused, "too heavy");
        Assert.Equal((RegistrationState.Refused, 1u), (entries[0].State, entries[0].AcceptedWeight));
        link.Commands.Clear();
        link.OnTick(HeartbeatInterval);
        Assert.Equal([new LinkCommand(LinkAction.Send, MessageIds.UpdateWeight, entries[0], 9),
            new LinkCommand(LinkAction.Send, MessageIds.Heartbeat, entries[0])], link.Commands);
        link.OnAck(HeartbeatInterval, 1, AckStatus.Refused, "too heavy");
        link.UpdateWeight(HeartbeatInterval, entries[0], 2);
        Assert.Equal(RegistrationState.Pending, entries[0].State);
        link.OnAck(HeartbeatInterval, 1, AckStatus.Done, "");
        Assert.Equal((RegistrationState.Registered, 2u), (entries[0].State, entries[0].AcceptedWeight));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Each_second_heartbeat_is_a_REGISTER_only_where_the_registry_says_that_it_is_ours(bool isOurs)
    {
        (RegistryLink link, LinkEntry[] entries) = Registered("a");
        link.UpdateWeight(TimeSpan.Zero, entries[0], 4);
        link.OnAck(TimeSpan.Zero, 1, AckStatus.Done, "", isOurs);
        link.Commands.Clear();
        List<ushort> sent = [];
        TimeSpan now = TimeSpan.Zero;
        for (int i = 0; i < 6; i++)
        {
            now += HeartbeatInterval;
            link.OnTick(now);
            LinkCommand command = Assert.Single(link.Commands);
            link.Commands.Clear();
            sent.Add(command.MessageId);
            Assert.Equal(RegistrationState.Registered, entries[0].State);
            if (command.MessageId == MessageIds.Register)
            {
                Assert.Equal(4u, command.Weight);
                link.OnAck(now, 1, AckStatus.Done, "", isOurs);
                Assert.Equal(now, entries[0].AcceptedAt);
            }
        }

        ushort second = isOurs ? MessageIds.Register : MessageIds.Heartbeat;
        Assert.Equal([MessageIds.Heartbeat, second, MessageIds.Heartbeat, second, MessageIds.Heartbeat, second], sent);
        Assert.Equal(0, link.Reregistrations);
    }

    [Fact]
    public void A_refused_answer_to_a_heartbeat_is_a_refusal_and_is_asked_again()
    {
        (RegistryLink link, LinkEntry[] entries) = Registered("a");
        link.UpdateWeight(TimeSpan.Zero, entries[0], 4);
        link.OnAck(TimeSpan.Zero, 1, AckStatus.Done, "", hasAnsweredHeartbeats: true);
        link.OnTick(HeartbeatInterval);
        link.OnTick(HeartbeatInterval * 2);
        link.OnAck(HeartbeatInterval * 2, 1, AckStatus.Refused, "not any more", hasAnsweredHeartbeats: true);
        Assert.Equal((RegistrationState.Refused, "not any more"), (entries[0].State, entries[0].Detail));
        link.Commands.Clear();
        link.OnTick(HeartbeatInterval * 3);
        Assert.Equal([new LinkCommand(LinkAction.Send, MessageIds.Register, entries[0], 4)], link.Commands);
    }

    [Fact]
    public void An_entry_of_a_native_registry_that_lists_lack_for_two_heartbeats_is_unconfirmed_and_nothing_more_is_sent()
    {
        (RegistryLink link, LinkEntry[] entries) = Registered("a");
        TimeSpan now = TimeSpan.Zero;
        Assert.Equal(RegistrationState.Registered, Beat(null));
        Assert.Equal(RegistrationState.Registered, Beat(false));
        Assert.Equal(RegistrationState.Registered, Beat(true));
        Assert.Equal(RegistrationState.Registered, Beat(false));
        Assert.Equal(RegistrationState.Registered, Beat(null));
        Assert.Equal(RegistrationState.Unconfirmed, Beat(false));
        Assert.Equal(RegistrationState.Unconfirmed, Beat(false));
        Assert.Equal(RegistrationState.Registered, Beat(true));
        Assert.Equal(1, link.Commands.Count(static command => command.Action == LinkAction.WarnUnconfirmed));
        Assert.Equal(8, link.Commands.Count(static command => command.MessageId == MessageIds.Heartbeat));
        Assert.Equal(9, link.Commands.Count);

        RegistrationState Beat(bool? isSeen)
        {
            if (now == TimeSpan.Zero)
            {
                link.Commands.Clear();
            }

            now += HeartbeatInterval;
            entries[0].IsSeen = isSeen;
            link.OnTick(now);
            return entries[0].State;
        }
    }

    [Fact]
    public void A_weight_that_another_owner_holds_registers_anew()
    {
        (RegistryLink link, LinkEntry[] entries) = Registered("a");
        link.UpdateWeight(TimeSpan.Zero, entries[0], 9);
        link.Commands.Clear();
        link.OnAck(TimeSpan.Zero, 1, AckStatus.Malformed, "not the owner", hasAnsweredHeartbeats: true);
        Assert.Equal([new LinkCommand(LinkAction.Send, MessageIds.Register, entries[0], 9)], link.Commands);
    }

    private static (RegistryLink Link, LinkEntry[] Entries) Registered(params string[] services)
    {
        var link = new RegistryLink(HeartbeatInterval, AckTimeout);
        link.Start();
        LinkEntry[] entries = [.. services.Select(static service => new LinkEntry(new ServiceText(service), 1))];
        Array.ForEach(entries, entry => link.Add(TimeSpan.Zero, entry));
        link.OnReady(TimeSpan.Zero, 1);
        Array.ForEach(entries, _ => link.OnAck(TimeSpan.Zero, 1, AckStatus.Done, ""));
        return (link, entries);
    }

    /// <summary>A link and a registry that answers in order; each answer carries which request it really belongs to.</summary>
    private sealed class Scene
    {
        private readonly RegistryLink _link = new(HeartbeatInterval, AckTimeout);
        private readonly Queue<LinkCommand> _atRegistry = new();
        private readonly List<LinkEntry> _wanted = [];
        private TimeSpan _now;
        private uint _nextWeight = 1;

        /// <returns>False: the last step changes nothing.</returns>
        public bool Run(ReadOnlySpan<Step> order)
        {
            _link.Start();
            Transmit();
            foreach (Step step in order[..^1])
            {
                Apply(step);
                Transmit();
            }

            if (!HasEffect(order[^1]))
            {
                return false;
            }

            Apply(order[^1]);
            Transmit();
            RegistrationState[] before = [.. _wanted.Select(static entry => entry.State)];
            _link.OnAck(_now, _link.Connection - 1, AckStatus.Refused, "of an earlier connection");
            Assert.True(before.SequenceEqual(_wanted.Select(static entry => entry.State)), "an answer of an earlier connection counts");

            // From here on nothing disturbs: it must come to what is wanted.
            while (!_link.IsReady) // A pause may come first.
            {
                _now = _link.NextTick ?? _now;
                _link.OnTick(_now);
                _link.OnReady(_now, _link.Connection);
                Transmit();
            }

            AnswerAll();
            while (_wanted.Exists(static entry => entry.RetryAt is not null)) // Each retry is accepted, so this ends.
            {
                _now = _link.NextTick!.Value;
                _link.OnTick(_now);
                Transmit();
                AnswerAll();
            }

            foreach (LinkEntry entry in _wanted)
            {
                if (entry.State != RegistrationState.Registered || entry.AcceptedWeight != entry.Weight)
                {
                    Assert.Fail($"{string.Join(' ', order.ToArray())}: {entry.State}, weight {entry.AcceptedWeight} instead of "
                        + $"{entry.Weight}");
                }
            }

            Assert.True(_wanted.SequenceEqual(_link.Entries), "other entries than those wanted");
            return true;
        }

        private void AnswerAll()
        {
            while (_atRegistry.Count > 0)
            {
                Answer(AckStatus.Done);
                Transmit();
            }
        }

        private bool HasEffect(Step step)
        {
            bool isWaiting = !_link.IsReady && _link.NextTick is not null;
            return step switch
            {
                Step.Ready => !_link.IsReady && !isWaiting,
                Step.Lost => !isWaiting,
                Step.Ack or Step.Refusal => _atRegistry.Count > 0,
                Step.Update or Step.Remove => _wanted.Count > 0,
                _ => true,
            };
        }

        private void Apply(Step step)
        {
            switch (step)
            {
                case Step.Ready:
                    _link.OnReady(_now, _link.Connection);
                    break;
                case Step.Lost:
                    _link.OnLost(_now, _link.Connection, "lost");
                    break;
                case Step.Ack:
                    Answer(AckStatus.Done);
                    break;
                case Step.Refusal:
                    Answer(AckStatus.Refused);
                    break;
                case Step.Interval:
                    _now += HeartbeatInterval;
                    _link.OnTick(_now);
                    break;
                case Step.Suspension:
                    _now += HeartbeatInterval * 3;
                    _link.OnTick(_now);
                    break;
                case Step.Register:
                    var entry = new LinkEntry(new ServiceText($"service {_nextWeight}"), _nextWeight++);
                    _wanted.Add(entry);
                    _link.Add(_now, entry);
                    break;
                case Step.Update when _wanted.Count > 0:
                    _link.UpdateWeight(_now, _wanted[^1], _nextWeight++);
                    break;
                case Step.Remove when _wanted.Count > 0:
                    _link.Remove(_wanted[0]);
                    _wanted.RemoveAt(0);
                    break;
                default:
                    break;
            }
        }

        /// <summary>Each weight is used once, so what the link takes an answer for shows in the weight that it notes.</summary>
        private void Answer(byte status)
        {
            LinkCommand request = _atRegistry.Dequeue();
            LinkEntry entry = request.Entry!;
            bool isRemoved = entry.State == RegistrationState.Ended;
            uint? before = entry.AcceptedWeight;
            _link.OnAck(_now, _link.Connection, status, "", hasAnsweredHeartbeats: true);
            Assert.Equal(isRemoved ? before : status == AckStatus.Done ? request.Weight : before, entry.AcceptedWeight);
            Assert.Equal(isRemoved ? RegistrationState.Ended : status == AckStatus.Done ? RegistrationState.Registered
                : RegistrationState.Refused, entry.State);
        }

        private void Transmit()
        {
            while (_link.Commands.TryDequeue(out LinkCommand command))
            {
                if (command.Action is LinkAction.Connect or LinkAction.Disconnect)
                {
                    _atRegistry.Clear();
                }
                else if (command.Action == LinkAction.Send && command.MessageId is MessageIds.Register or MessageIds.UpdateWeight)
                {
                    _atRegistry.Enqueue(command);
                }
            }
        }
    }
}
