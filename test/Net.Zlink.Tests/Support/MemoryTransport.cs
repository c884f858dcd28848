using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>
/// "memory://name": sockets of this process bind and connect to it, and a test can be either side (<see cref="MemoryWire"/>).
/// </summary>
internal static class MemoryTransport
{
    public const string Scheme = "memory";

    private static readonly ConcurrentDictionary<string, MemoryListener> s_listeners = new(StringComparer.Ordinal);

    private static readonly Transport s_row = new(Scheme, "memory://name", Parse, static (address, scheme, _) =>
        address is MemoryAddress ? $"{scheme}://{address}" : "");

    private static int s_names;

    static MemoryTransport() => TransportTable.Add(s_row);

    /// <summary>An endpoint that no other test has.</summary>
    public static string NewEndpoint() => $"{Scheme}://{Interlocked.Increment(ref s_names)}";

    /// <summary>A test as the peer that connects.</summary>
    public static MemoryPeer Connect(string endpoint)
    {
        Assert.True(s_listeners.TryGetValue(endpoint, out MemoryListener? listener), $"nothing listens at {endpoint}");
        MemoryWire wire = listener.NewAccepted();
        listener.Accept(wire);
        return wire.Peer;
    }

    /// <summary>What two sockets write to each other after one has dialled the other: the test carries it.</summary>
    public static (MemoryPeer Dialling, MemoryPeer Accepting) Between(string endpoint) =>
        (s_listeners[endpoint].Take(), s_listeners[endpoint].Take());

    /// <summary>A test as the peer that listens.</summary>
    public static MemoryListener Listen(string endpoint)
    {
        var listener = new MemoryListener(endpoint);
        Assert.True(s_listeners.TryAdd(endpoint, listener), $"{endpoint} is in use");
        return listener;
    }

    private static MemoryEndpoint Parse(in EndpointText text, EndpointUse use, out EndpointError error)
    {
        error = EndpointError.None;
        return new MemoryEndpoint(text);
    }

    private sealed class MemoryEndpoint(EndpointText text) : WireEndpoint(text)
    {
        public override BindResult Listen(TransportSettings settings) => new(MemoryTransport.Listen(Text), EndpointError.None);

        public override Task<DialResult> DialAsync(
            TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation)
        {
            connecting?.Invoke();
            if (!s_listeners.TryGetValue(Text, out MemoryListener? listener))
            {
                return Task.FromResult(new DialResult(null, SocketError.ConnectionRefused, $"nothing listens at {Text}"));
            }

            MemoryWire wire = listener.NewDialled();
            return Task.FromResult(new DialResult(wire, SocketError.Success, ""));
        }
    }

    internal sealed class MemoryListener(string endpoint) : ITransportListener
    {
        private readonly ConcurrentQueue<MemoryPeer> _dialled = [];
        private IAcceptSink? _sink;
        private int _accepted;
        private int _dials;

        public WireUpgrade? Upgrade => null;

        public string Endpoint => endpoint;

        public long Handle => 0;

        /// <summary>The other end of the oldest dial that was not taken.</summary>
        public MemoryPeer Take()
        {
            Assert.True(TryTake(out MemoryPeer? dialled), $"no socket has dialled {endpoint}");
            return dialled;
        }

        public bool TryTake([NotNullWhen(true)] out MemoryPeer? dialled) => _dialled.TryDequeue(out dialled);

        /// <summary>How often it was dialled so far.</summary>
        public int Dials => Volatile.Read(ref _dials);

        public void Accept(MemoryWire wire) => _sink!.OnAccepted(wire);

        public MemoryWire NewAccepted() => new(s_row, "peer", Interlocked.Increment(ref _accepted));

        public MemoryWire NewDialled()
        {
            var wire = new MemoryWire(s_row, "listener", Interlocked.Increment(ref _dials));
            _dialled.Enqueue(wire.Peer);
            if (_sink is not null)
            {
                MemoryWire accepted = NewAccepted();
                _dialled.Enqueue(accepted.Peer);
                Accept(accepted);
            }

            return wire;
        }

        public void Start(IAcceptSink sink, TimeProvider time) => _sink = sink;

        public void Dispose() => s_listeners.TryRemove(new KeyValuePair<string, MemoryListener>(endpoint, this));
    }
}
