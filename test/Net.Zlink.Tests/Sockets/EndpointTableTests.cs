using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Engine;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>What a socket has bound, and which listeners an unbind means.</summary>
public sealed class EndpointTableTests : IDisposable
{
    private readonly BufferPool _pool = TestPools.Create();
    private readonly RecordingLoggers _log = new();
    private readonly SocketCounters _counters = new();
    private readonly SocketMonitors _monitors = new();
    private readonly CloseTracker _parts = new();
    private readonly Acceptor _acceptor = new();
    private readonly EngineHost _host;
    private readonly EndpointTable _table;

    public EndpointTableTests()
    {
        _host = new EngineHost(1, _pool, TimeProvider.System, _log, new RecordingObserver());
        _table = new EndpointTable(_host, _monitors, _counters, _parts);
    }

    public void Dispose()
    {
        _host.Dispose();
        _pool.Dispose();
        _log.Dispose();
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:*", "", "tcp://127.0.0.1:1 tcp://127.0.0.1:2")]
    [InlineData("tcp://127.0.0.1:2", "", "tcp://127.0.0.1:2")]
    [InlineData("tcp://*:3", "", "tcp://0.0.0.0:3")]
    [InlineData("tcp://0.0.0.0:3", "", "tcp://0.0.0.0:3")]
    [InlineData("tcp://one:1", "tcp://127.0.0.1:1", "tcp://127.0.0.1:1")]
    [InlineData("tcp://one:1", "", "")]
    public void A_listener_is_meant_by_its_text_by_its_endpoint_and_by_other_names_of_it(string text, string names, string expected)
    {
        Add("tcp://127.0.0.1:*", "tcp://127.0.0.1:1");
        Add("tcp://127.0.0.1:*", "tcp://127.0.0.1:2");
        Add("tcp://*:3", "tcp://0.0.0.0:3");
        Assert.Equal(expected, string.Join(' ', _table.Remove(text, new Target(text, names)).Select(static one => one.Bound)));
        Assert.Equal(3 - expected.Split(' ', StringSplitOptions.RemoveEmptyEntries).Length, _table.Bound.Length);
        Assert.Empty(_table.Remove(text, new Target(text, names)));
    }

    [Fact]
    public void A_removed_listener_is_not_found_by_its_endpoint()
    {
        Add("tcp://127.0.0.1:*", "tcp://127.0.0.1:1");
        Add("tcp://127.0.0.1:*", "tcp://127.0.0.1:2");
        Assert.True(_table.Has("tcp://127.0.0.1:1"));
        Assert.False(_table.Has("tcp://127.0.0.1:*")); // That is what it was asked to bind, not what it is bound to.
        Assert.Single(_table.Remove("tcp://127.0.0.1:1", target: null));
        Assert.False(_table.Has("tcp://127.0.0.1:1"));
        Assert.Equal("tcp://127.0.0.1:2", Assert.Single(_table.Remove("tcp://127.0.0.1:*", target: null)).Bound);
        Assert.Empty(_table.Bound);
    }

    [Fact]
    public void A_listener_among_thousands_is_found_by_its_endpoint_without_comparing_the_others()
    {
        const int Listeners = 2_000;
        for (int i = 0; i < Listeners; i++)
        {
            Add("tcp://127.0.0.1:*", $"tcp://127.0.0.1:{i}");
        }

        var target = new Target("tcp://127.0.0.1:7");
        Assert.Single(_table.Remove(target.Text, target));
        Assert.Equal(0, target.Asked);

        // Who names it in other words has all of them looked at.
        target = new Target("tcp://one:8", "tcp://127.0.0.1:8");
        Assert.Single(_table.Remove(target.Text, target));
        Assert.Equal(Listeners - 1, target.Asked);
    }

    [Fact]
    public void A_closed_socket_binds_nothing_more()
    {
        Transport first = Add("tcp://127.0.0.1:*", "tcp://127.0.0.1:1");
        _parts.TryClose();
        _table.CloseListeners();
        Transport second = Add("tcp://127.0.0.1:*", "tcp://127.0.0.1:2");
        Assert.Equal((true, true, 0), (first.IsClosed, second.IsClosed, _table.Bound.Length));
    }

    [Fact]
    public async Task A_connection_that_is_accepted_while_the_socket_closes_is_counted_refused_and_reported()
    {
        await using EventStream events = _monitors.Open(SocketEventTypes.ConnectionRefused, TestContext.Current.CancellationToken);
        Transport transport = Add("tcp://127.0.0.1:*", "tcp://127.0.0.1:1");
        _parts.TryClose();
        var wire = new DisposedWire();
        transport.Sink!.OnAccepted(wire);
        Assert.Equal((1, 1), (_counters.Accepted, _counters.Refused));
        Assert.True(await events.MoveNextAsync());
        Assert.Equal("the socket is closed", events.Current.Detail);
        Assert.Contains(_log.Lines, static line => line.Text.Contains("the socket is closed", StringComparison.Ordinal));
        Assert.Equal((true, 0, 0), (wire.IsDisposed, _acceptor.Places, _acceptor.Begun));
    }

    [Fact]
    public void The_endpoint_of_a_closed_listener_is_one_that_nobody_of_this_context_serves_any_more()
    {
        Add("tcp://127.0.0.1:*", "tcp://127.0.0.1:1");
        _host.OwnEndpoints.End();
        Assert.False(_host.OwnEndpoints.IsGone("tcp://127.0.0.1:1"));
        _table.CloseListeners();
        Assert.True(_host.OwnEndpoints.IsGone("tcp://127.0.0.1:1"));
    }

    private Transport Add(string text, string endpoint)
    {
        var transport = new Transport(endpoint);
        Assert.Equal(ZlinkError.None, _table.Bind(new Target(text, "", transport), settings: null!, _acceptor, out _).Code);
        return transport;
    }

    /// <summary>A text that means an endpoint, and counts how often it is asked whether it does.</summary>
    private sealed class Target(string text, string names = "", ITransportListener? listener = null)
        : WireEndpoint(new EndpointText(TransportTable.Find(EndpointText.Tcp)!, text, ""))
    {
        public int Asked { get; private set; }

        public override BindResult Listen(TransportSettings settings) => new(listener, EndpointError.None);

        public override Task<DialResult> DialAsync(
            TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
            throw new NotSupportedException();

        public override bool Names(ITransportListener listener)
        {
            Asked++;
            return string.Equals(listener.Endpoint, names, StringComparison.Ordinal);
        }
    }

    private sealed class Transport(string endpoint) : ITransportListener
    {
        public IAcceptSink? Sink { get; private set; }

        public bool IsClosed { get; private set; }

        public WireUpgrade? Upgrade => null;

        public string Endpoint => endpoint;

        public long Handle => 0;

        public void Start(IAcceptSink sink, TimeProvider time) => Sink = sink;

        public void Dispose() => IsClosed = true;
    }

    private sealed class Acceptor : IAcceptor
    {
        public int Places { get; private set; }

        public int Begun { get; private set; }

        public string? AcquireConnection()
        {
            Places++;
            return null;
        }

        public void ReleaseConnection() => Places--;

        public void Begin(Net.Zlink.Transports.Wire wire, BoundListener listener) => Begun++;

        public void CloseConnections(BoundListener listener)
        {
        }
    }

    private sealed class DisposedWire : TestWire
    {
        public bool IsDisposed { get; private set; }

        public override void Dispose()
        {
            IsDisposed = true;
            base.Dispose();
        }
    }
}
