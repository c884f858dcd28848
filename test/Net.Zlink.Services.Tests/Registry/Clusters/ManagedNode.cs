namespace Net.Zlink.Services.Tests.Clusters;

/// <summary>Ours: the state of the product with its schedule, without sockets.</summary>
internal sealed class ManagedNode : ClusterNode
{
    private readonly RegistryState _state;
    private static readonly RegistrySender Sender = new(default, "place");

    private readonly BroadcastSchedule _schedule;

    public ManagedNode(uint id, ulong sequence, TimeSpan now)
    {
        _state = new RegistryState(new RegistrySettings(id, Cluster.HeartbeatTimeout, Cluster.PeerTimeout), sequence);
        _schedule = new BroadcastSchedule(TimeSpan.FromMilliseconds(10), Cluster.BroadcastInterval, sequence, now);
        _state.Tick(now);
    }

    public override IReadOnlySet<string> Own => Texts(_state.Own);

    public override IReadOnlySet<string> Listed => Texts(_state.All);

    public override void Register(TimeSpan now, string key, uint weight) =>
        _state.Handle(now, Request(MessageIds.Register, key, weight), Sender);

    public override void Unregister(TimeSpan now, string key) => _state.Handle(now, Request(MessageIds.Unregister, key), Sender);

    public override void Heartbeat(TimeSpan now, string key) => _state.Handle(now, Request(MessageIds.Heartbeat, key), Sender);

    public override IReadOnlyList<SentList> Tick(TimeSpan now)
    {
        _state.Tick(now);
        _state.DequeueEvents();
        bool isChanged = _schedule.HasChanged(_state.Sequence);
        if (now < _schedule.DueAt(_state.Sequence))
        {
            return [];
        }

        if (isChanged)
        {
            ChangedLists++;
        }
        else
        {
            _state.RenumberList();
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
