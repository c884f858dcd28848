using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>The instruments of all service objects of one context. They are made with the first of these objects, belong to the context's
/// meter, and are read when a listener asks.</summary>
/// <remarks>Making an instrument calls the application's listeners, so it is done without a lock, by the one thread that takes the
/// list.</remarks>
internal sealed class ServicesMeters
{
    private static readonly ConditionalWeakTable<ZlinkContext, ServicesMeters> OfContexts = [];

    private readonly Meter _meter;
    private List<Action>? _toMake = [];

    private ServicesMeters(ZlinkContext context)
    {
        _meter = context.Meter;
        int limit = context.MaxMetricNames;
        Services = new MetricNames(limit);
        Clients = new(MessagingTags.Destination, Services, static client => client.Service);
        Gateways = new(tag: null, Services, nameOf: null);
        Receivers = new(MessagingTags.Destination, Services, static receiver => receiver.MeteredService);
        Registries = new("zlink.registry", new MetricNames(limit), static registry => registry.Id);
        Directories = new("zlink.directory", new MetricNames(limit), nameOf: null);
        Nodes = new("zlink.spot.node", new MetricNames(limit), nameOf: null);
        _toMake.Add(() => RequestDuration.Make(
            _meter, "messaging.client.operation.duration", "Time from the start of a request to its end."));
        _toMake.Add(() => ProcessDuration.Make(
            _meter, "messaging.process.duration", "Time that a receiver's handler took for one request."));
        AddMessages();
        AddClients();
        AddReceivers();
        AddNodes();
        AddRegistries();
        AddDirectories();
    }

    public MetricNames Services { get; }

    public MeteredObjects<ServiceClient> Clients { get; }

    public MeteredObjects<GatewayMetrics> Gateways { get; }

    public MeteredObjects<ServiceReceiver> Receivers { get; }

    public MeteredObjects<RegistryMetrics> Registries { get; }

    public MeteredObjects<RegistryDirectory> Directories { get; }

    public MeteredObjects<NodeCounters> Nodes { get; }

    public DurationHistogram RequestDuration { get; } = new("request", "send");

    public DurationHistogram ProcessDuration { get; } = new("process", "process");

    public static ServicesMeters Of(ZlinkContext context)
    {
        // Two threads may each build one, of which the table keeps one.
        ServicesMeters meters = OfContexts.GetValue(context, static context => new ServicesMeters(context));
        foreach (Action make in Interlocked.Exchange(ref meters._toMake, null) ?? [])
        {
            make();
        }

        return meters;
    }

    private void AddMessages()
    {
        Counter("messaging.client.sent.messages", "{message}",
            "Requests of clients that have ended, and publications of SPOT nodes.",
            Clients.Counter(static client => client.Pool.Counters.Ended(), MessagingTags.Of("request", "send")),
            Nodes.Counter(static node => node.Publications(), MessagingTags.Of("publish", "send")));
        Counter("messaging.client.consumed.messages", "{message}",
            "Requests that handlers ended, and messages that SPOT subscribers took.",
            Receivers.Counter(static receiver => receiver.Consumed(), MessagingTags.Of("process", "process")),
            Nodes.Counter(static node => [new(node.Deliveries.Received)], MessagingTags.Of("receive", "receive")));
    }

    private void AddClients()
    {
        Gauge("zlink.gateway.receivers", "{receiver}",
            "Receivers that clients know, by the state of their connection.",
            Clients.Gauge(static client => client.ReceiverStates()));
        Gauge("zlink.gateway.outstanding", "{request}", "Requests of clients that have not ended.",
            Clients.Gauge(static client => [new(client.Pool.Counters.Outstanding)]));
        Counter("zlink.gateway.sent_again", "{request}",
            "Requests that were sent to a further receiver after the first.",
            Clients.Counter(static client => [new(Volatile.Read(ref client.Pool.Counters.SentAgain))]));
        Counter("zlink.gateway.ejections", "{ejection}",
            "Receivers that got no requests for a time because they left some unanswered.",
            Gateways.Counter(static gateway => [new(gateway.Requests.Ejections.Count)]));
        Counter("zlink.gateway.unmatched_replies", "{message}", "Replies for which no request waited any more.",
            Gateways.Counter(static gateway => [new(Volatile.Read(ref gateway.Requests.Counters.UnmatchedReplies))]));
        Gauge("zlink.gateway.unread_bytes", "By",
            "Bytes of messages, replies excluded, that wait in gateways.",
            Gateways.Gauge(static gateway => [new(gateway.Unread.Bytes)]));
        Counter("zlink.gateway.dropped_messages", "{message}",
            "Messages, replies excluded, that gateways dropped unread.",
            Gateways.Counter(static gateway => [new(gateway.Unread.Dropped)]));
    }

    private void AddReceivers()
    {
        Gauge("zlink.receiver.running", "{request}", "Requests that receivers have accepted and that have not ended.",
            Receivers.Gauge(static receiver => [new(receiver.GetStatistics().Running)]));
        Counter("zlink.receiver.refused", "{request}",
            "Requests that receivers refused and did not execute.",
            Receivers.Counter(static receiver => [new(receiver.GetStatistics().Refused)]));
        Gauge("zlink.receiver.registrations", "{registration}", "Registrations of receivers with registries, by state.",
            Receivers.Gauge(static receiver => receiver.RegistrationStates()));
        Counter("zlink.receiver.reregistered", "{registration}",
            "Registrations that receivers sent again: the registry had lost the entry.",
            Receivers.Counter(static receiver => [new(receiver.Reregistrations)]));
    }

    private void AddNodes()
    {
        Counter("zlink.spot.received", "{message}", "Messages that SPOT nodes received from other nodes.",
            Nodes.Counter(static node => [new(node.Received)]));
        Counter("zlink.spot.unmatched", "{message}", "Messages from other SPOT nodes that matched no subscription.",
            Nodes.Counter(static node => [new(node.Unmatched)]));
        Counter("zlink.spot.dropped", "{message}", "Messages that SPOT nodes dropped, by cause.",
            Nodes.Counter(static node => node.Dropped()));
        Gauge("zlink.spot.queued", "{message}", "Messages that wait in the queues of SPOT subscribers.",
            Nodes.Gauge(static node => [new(node.Deliveries.Queued)]));
        Counter("zlink.spot.gaps", "{gap}",
            "Connections between SPOT nodes that were lost and made again.",
            Nodes.Counter(static node => [new(node.Gaps)]));
        Gauge("zlink.spot.peers", "{node}", "SPOT nodes that a node of this context is connected to.",
            Nodes.Gauge(static node => [new(node.Peers)]));
    }

    private void AddRegistries()
    {
        Gauge("zlink.registry.entries", "{entry}", "Entries that a registry lists: own ones, and those of its peers.",
            Registries.Gauge(static registry => registry.Entries()));
        Gauge("zlink.registry.peers", "{registry}", "Peer registries of a registry, by whether they are connected.",
            Registries.Gauge(static registry => registry.Peers()));
        Gauge("zlink.registry.subscribers", "{peer}", "Directories and peer registries that follow a registry's list.",
            Registries.Gauge(static registry => [new(registry.Snapshot().Subscribers)]));
        Counter("zlink.registry.requests", "{request}", "Requests that a registry has read.",
            Registries.Counter(static registry => [new(registry.Snapshot().Requests)]));
        Counter("zlink.registry.refused", "{request}", "Requests that a registry answered with a status other than 0.",
            Registries.Counter(static registry => [new(registry.Snapshot().RefusedRequests)]));
        Counter("zlink.registry.malformed", "{message}", "Messages to a registry that are no valid requests.",
            Registries.Counter(static registry => [new(registry.Snapshot().MalformedMessages)]));
        Counter("zlink.registry.expired", "{entry}", "Own entries that a registry removed because no heartbeat came in time.",
            Registries.Counter(static registry => [new(registry.Snapshot().ExpiredEntries)]));
        Counter("zlink.registry.lists", "{list}", "Lists that a registry has sent, to all or to new subscribers.",
            Registries.Counter(static registry => [new(registry.Snapshot().ListsSent)]));
        Counter("zlink.registry.peer_lists", "{list}", "Lists of peer registries that a registry has accepted.",
            Registries.Counter(static registry => [new(registry.Snapshot().PeerLists)]));
    }

    private void AddDirectories()
    {
        Gauge("zlink.directory.services", "{service}", "Services of which a directory knows an instance.",
            Directories.Gauge(static directory => [new(directory.ServiceCount)]));
        Gauge("zlink.directory.instances", "{instance}", "Instances of services that a directory knows.",
            Directories.Gauge(static directory => [new(directory.InstanceCount)]));
        Gauge("zlink.directory.registries", "{registry}", "Registries that a directory follows, by whether they are connected.",
            Directories.Gauge(static directory => directory.RegistryStates()));
        Counter("zlink.directory.lists", "{list}", "Lists that a directory has received, by what became of them.",
            Directories.Counter(static directory => directory.ListResults()));
    }

    private void Gauge(string name, string unit, string description, Func<IEnumerable<Measurement<long>>> values) =>
        _toMake!.Add(() => _meter.CreateObservableGauge(name, values, unit, description));

    private void Counter(string name, string unit, string description, params Func<IEnumerable<Measurement<long>>>[] values) =>
        _toMake!.Add(() => _meter.CreateObservableCounter(name, () => values.SelectMany(static read => read()), unit, description));
}
