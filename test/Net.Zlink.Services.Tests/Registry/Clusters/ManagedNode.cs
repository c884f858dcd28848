namespace Net.Zlink.Services.Tests.Clusters;

/// <summary>Ours: the state of the product with its schedule, without sockets.</summary>
internal sealed class ManagedNode : ClusterNode
{
    private readonly RegistryState _state;
    private readonly BroadcastSchedule _schedule;

    public ManagedNode(uint id, ulong sequence, TimeSpan now)
    {
        _state = new RegistryState(new RegistrySettings
        {
            Id = id,
            HeartbeatTimeout = Cluster.HeartbeatTimeout,
            PeerTimeout = Cluster.PeerTimeout
        }, sequence);
        _schedule = new BroadcastSchedule(TimeSpan.FromMilliseconds(10), Cluster.BroadcastInterval, sequence, now);
        _state.Tick(now);
    }

    public override IReadOnlySet<string> Own => Texts(_state.Own);

    public override IReadOnlySet<string> Listed => Texts(_state.All);

    public override void Register(TimeSpan now, string key, uint weight) =>
        _state.Handle(now, Request(MessageIds.Register, key, weight), default);

    public override void Unregister(TimeSpan now, string key) => _state.Handle(now, Request(MessageIds.Unregister, key), default);

    public override void Heartbeat(TimeSpan now, string key) => _state.Handle(now, Request(MessageIds.Heartbeat, key), default);

    public override IReadOnlyList<SentList> Tick(TimeSpan now)
    {
        _state.Tick(now);
        _state.DequeueEvents();
        BroadcastNeed need = _schedule.Next(now, _state.Sequence, out _);
        if (need is not (BroadcastNeed.Changed or BroadcastNeed.Periodic))
        {
            return [];
        }

        if (need == BroadcastNeed.Periodic)
        {
            _state.RenumberList();
        }
        else
        {
            ChangedLists++;
        }

        _schedule.Sent(now, _state.Sequence);
        return Greeting();
    }

    public override IReadOnlyList<SentList> Greeting() =>
        [new SentList(Header(MessageIds.RegistrySync, _state.Own), _state.Own),
            new SentList(Header(MessageIds.ServiceList, _state.All), _state.All)];

    public override object Connected(int peer) => new PeerView($"tcp://peer:{peer}");

    public override void Disconnected(TimeSpan now, object connection) => RegistryState.ConnectionLost(now, (PeerView)connection);

    public override void Take(TimeSpan now, object connection, SentList list)
    {
        var view = (PeerView)connection;
        if (_state.WantsList(now, view, list.Header))
        {
            _state.TakeList(now, view, list.Header, list.ToDictionary());
        }
    }

    private ServiceListHeader Header(ushort id, ListedService[] services) => new(id, _state.Id, _state.Sequence, (uint)services.Length);
}
