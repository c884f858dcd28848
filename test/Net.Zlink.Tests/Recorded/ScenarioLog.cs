using System.Globalization;
using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Recorded;

/// <summary>
/// What a scenario causes, as lines of text: each step with ">", and below it each socket's events in their order, the messages that it
/// receives, what a played peer reads, and at last the counters that are not 0.
/// </summary>
internal sealed partial class ScenarioLog : IAsyncDisposable
{
    private const int DrawnLength = 16;

    // How long a shard is held is real time.
    private const SocketEventTypes Logged = SocketEventTypes.All & ~SocketEventTypes.SlowHandler;

    private readonly MemoryFixture _fixture = new();
    private readonly List<LoggedSocket> _sockets = [];
    private readonly List<MemoryLink> _links = [];
    private readonly List<(string Name, MemoryPeer Peer)> _peers = [];
    private readonly Dictionary<RoutingId, string> _drawn = [];
    private readonly Dictionary<string, string> _endpoints = new(StringComparer.Ordinal);
    private readonly StringBuilder _text = new();

    public ZlinkContext Context => _fixture.Context;

    /// <summary>For pauses that have a random part: their lengths are not logged.</summary>
    public bool HidesPauses { get; set; }

    /// <summary>An endpoint that only this scenario has; the log has its name.</summary>
    public string Endpoint(string name)
    {
        if (_endpoints.FirstOrDefault(one => string.Equals(one.Value, name, StringComparison.Ordinal)).Key is not { } endpoint)
        {
            _endpoints.Add(endpoint = MemoryTransport.NewEndpoint(), name);
        }

        return endpoint;
    }

    /// <summary>Its events are logged. It drops what it has queued when it ends, if its options say nothing else.</summary>
    public T Add<T>(string name, T socket)
        where T : ZlinkSocket
    {
        if (socket.Options.Linger == Timeout.InfiniteTimeSpan)
        {
            socket.Options.Linger = TimeSpan.Zero;
        }

        _sockets.Add(new LoggedSocket(name, socket, _fixture.Own(socket.ReadEvents(Logged))));
        return socket;
    }

    public void Do(string step, Action action)
    {
        Step($"{step}");
        action();
        Carry();
    }

    public void Do(string step, Func<SendResult> send)
    {
        Flush();
        Say($"> {step}: {send()}");
        Carry();
    }

    /// <summary>Two sockets, one of which dials the other. What they write to each other is carried from then on.</summary>
    public MemoryLink Connect(ZmpSocket socket, string endpoint)
    {
        Step($"{NameOf(socket)} connects to {endpoint}");
        socket.Connect(endpoint);
        return Dialled(endpoint);
    }

    /// <summary>The next dial of a socket to a bound one.</summary>
    public MemoryLink Dialled(string endpoint)
    {
        (MemoryPeer dialling, MemoryPeer accepting) = MemoryTransport.Between(endpoint);
        var link = new MemoryLink(_fixture.Own(dialling), _fixture.Own(accepting));
        _links.Add(link);
        Carry();
        return link;
    }

    /// <summary>The test as a peer that connects.</summary>
    public MemoryPeer Play(string name, string endpoint)
    {
        Step($"{name} connects to {endpoint}");
        MemoryPeer peer = _fixture.Connect(endpoint);
        _peers.Add((name, peer));
        Carry();
        return peer;
    }

    /// <summary>The test as a peer that listens: the next dial.</summary>
    public MemoryPeer Take(string name, MemoryTransport.MemoryListener listener)
    {
        MemoryPeer peer = _fixture.Own(listener.Take());
        _peers.Add((name, peer));
        Carry();
        return peer;
    }

    public MemoryTransport.MemoryListener Listen(string endpoint) => _fixture.Own(MemoryTransport.Listen(endpoint));

    public void Write(MemoryPeer peer, ReadOnlySpan<byte> bytes)
    {
        Step($"{NameOf(peer)} writes {Convert.ToHexString(bytes)}");
        peer.Send(bytes.ToArray());
        Carry();
    }

    public void Pass(double seconds)
    {
        Step($"{seconds} s pass");
        TimeSpan end = _fixture.Clock.Elapsed + TimeSpan.FromSeconds(seconds);
        while (_fixture.Clock.NextDue is { } due && due <= end)
        {
            TimeSpan step = due - _fixture.Clock.Elapsed;
            _fixture.Advance(step > TimeSpan.Zero ? step : TimeSpan.Zero);
            Carry();
        }

        _fixture.Advance(end - _fixture.Clock.Elapsed);
        Carry();
    }

    /// <summary>For a task that ends within the present time.</summary>
    public void Await(Task task)
    {
        Carry();
        Assert.True(SpinWait.SpinUntil(() => task.IsCompleted, Guard.Limit), $"it does not end\n{_text}");
        Assert.True(task.IsCompletedSuccessfully, task.Exception?.ToString());
        Carry();
    }

    /// <summary>For what a dialer is told on a thread of the pool: that another peer has disconnected.</summary>
    public void Await(ZlinkSocket socket, SocketEventTypes type)
    {
        LoggedSocket logged = _sockets.Single(one => one.Socket == socket);
        bool HasCome()
        {
            Carry();
            return logged.Has(type);
        }

        Assert.True(SpinWait.SpinUntil(HasCome, Guard.Limit), $"{type} does not come\n{_text}");
    }

    public void ReceiveAll(ReceivingSocket socket)
    {
        Flush();
        while (socket.TryReceive(out Message message))
        {
            using (message)
            {
                string parts = string.Join(" | ", message.ToArrays().Select(TextOf));
                Say($"  {NameOf(socket)} gets {(message.RoutingId.IsEmpty ? "" : $"of {IdOf(message.RoutingId)} ")}{parts}");
            }

            Carry(); // A reader that takes a message may be read for again.
        }

        Carry();
    }

    public void ReceiveAll(StreamSocket socket)
    {
        Flush();
        while (socket.TryReceive(out StreamMessage message))
        {
            using (message)
            {
                Say($"  {NameOf(socket)} gets of {message.PeerId} {message.Kind} {TextOf(message.Span.ToArray())}{ReasonOf(message)}");
            }

            Carry();
        }

        Carry();
    }

    /// <summary>The peers in their order, and what waits for each and from each.</summary>
    public void Look(ZmpSocket socket)
    {
        Step($"{NameOf(socket)} looks at its peers");
        SayPeers(socket);
    }

    /// <summary>The counters, and the peers.</summary>
    public string End()
    {
        Flush();
        foreach (LoggedSocket logged in _sockets)
        {
            object counters = logged.Socket.GetStatistics();
            Say($"= {logged.Name}: {string.Join(", ", CountersOf(counters, ""))}");
            if (logged.Socket is ZmpSocket socket)
            {
                SayPeers(socket);
            }
        }

        return _text.ToString();
    }

    public async ValueTask DisposeAsync()
    {
        // Before the context, which would wait for what they have queued, by the clock that stands still.
        foreach (LoggedSocket logged in _sockets)
        {
            logged.Socket.Dispose();
        }

        await _fixture.DisposeAsync();
    }

    private static IEnumerable<string> CountersOf(object counters, string prefix)
    {
        foreach (PropertyInfo counter in counters.GetType().GetProperties().OrderBy(static one => one.Name, StringComparer.Ordinal))
        {
            object? value = counter.GetValue(counters);
            if (value is HandshakeFailureCounts causes)
            {
                foreach (string cause in CountersOf(causes, $"{counter.Name}."))
                {
                    yield return cause;
                }
            }
            else if (value is long or int && Convert.ToInt64(value, CultureInfo.InvariantCulture) is not 0)
            {
                yield return string.Create(CultureInfo.InvariantCulture, $"{prefix}{counter.Name} {value}");
            }
        }
    }

    private static string TextOf(byte[] bytes) => bytes.Length > 40 ? $"{bytes.Length} bytes"
        : bytes.All(static one => one is >= (byte)' ' and < 127) ? $"'{Encoding.ASCII.GetString(bytes)}'" : Convert.ToHexString(bytes);

    private void SayPeers(ZmpSocket socket)
    {
        foreach (PeerInfo peer in socket.GetPeers())
        {
            (string Name, long Count)[] counts =
            [
                ("queued", peer.Outbound.Messages), ("sent", peer.MessagesSent), ("dropped", peer.MessagesDropped),
                ("unread", peer.Unread.Messages), ("received", peer.MessagesReceived),
            ];
            string text = string.Join(", ", counts.Where(static one => one.Count > 0).Select(static one => $"{one.Count} {one.Name}"));
            string[] parts = [text, peer.IsPaused ? "paused" : "", peer.WhyNotConnected ?? ""];
            Say($"  peer {IdOf(peer.RoutingId)}: {string.Join("; ", parts.Where(static part => part.Length > 0))}");
        }
    }

    private static string ReasonOf(in StreamMessage message) =>
        message.Kind is StreamMessageKind.Disconnected ? $" {message.Reason}" : "";

    private string NameOf(ZlinkSocket socket) => _sockets.Single(one => one.Socket == socket).Name;

    private string NameOf(MemoryPeer peer) => _peers.Single(one => one.Peer == peer).Name;

    /// <summary>An id that was drawn at random has a number instead.</summary>
    private string IdOf(RoutingId id)
    {
        if (id.Length != DrawnLength && (id.IsEmpty || id.Span[0] != 0))
        {
            return id.ToString();
        }

        if (!_drawn.TryGetValue(id, out string? name))
        {
            _drawn.Add(id.Copy(), name = string.Create(CultureInfo.InvariantCulture, $"drawn-{_drawn.Count + 1}"));
        }

        return name;
    }

    private void Carry()
    {
        do
        {
            _fixture.Settle();
        }
        while (_links.Sum(static link => link.Carry() ? 1 : 0) > 0);
    }

    /// <summary>Logs what the last step caused.</summary>
    private void Step(FormattableString step)
    {
        Flush();
        Say($"> {step.ToString(CultureInfo.InvariantCulture)}");
    }

    private void Flush()
    {
        Carry();
        foreach (LoggedSocket logged in _sockets)
        {
            foreach (SocketEvent one in logged.TakeEvents())
            {
                string id = one.PeerRoutingId.IsEmpty ? "" : $", id {IdOf(one.PeerRoutingId)}";
                string peer = one.PeerId == 0 ? "" : $", peer {one.PeerId}";
                string detail = one.Detail is null ? "" : $": {one.Detail}";
                string value = HidesPauses && one.Type is SocketEventTypes.ConnectRetried ? "random" : $"{one.Value}";
                Say($"  {logged.Name} {one.Type} {value} [{one.LocalAddress} {one.RemoteAddress}]{id}{peer}{detail}");
            }
        }

        foreach ((string name, MemoryPeer peer) in _peers)
        {
            if (peer.Unread > 0)
            {
                byte[] bytes = peer.ReadAll();
                Say($"  {name} reads {(bytes.Length > 100 ? $"{bytes.Length} bytes" : Convert.ToHexString(bytes))}");
            }
        }

        foreach ((string name, MemoryPeer peer) in _peers.Where(static one => one.Peer.IsClosed).ToArray())
        {
            Say($"  {name} is closed{(peer.HasEnded ? ", behind all that was written" : "")}");
            _peers.Remove((name, peer));
        }
    }

    private void Say(string line) => _text.Append(EndpointPattern().Replace(line, found => _endpoints[found.Value]).TrimEnd()).Append('\n');

    [GeneratedRegex("memory://[0-9]+", RegexOptions.None, matchTimeoutMilliseconds: 1000)]
    private static partial Regex EndpointPattern();

    private sealed class LoggedSocket(string name, ZlinkSocket socket, EventReader events)
    {
        private readonly List<SocketEvent> _seen = [];

        public string Name => name;

        public ZlinkSocket Socket => socket;

        public bool Has(SocketEventTypes type)
        {
            Read();
            return _seen.Exists(one => one.Type == type);
        }

        public SocketEvent[] TakeEvents()
        {
            Read();
            SocketEvent[] taken = [.. _seen];
            _seen.Clear();
            return taken;
        }

        private void Read()
        {
            while (events.TryRead(out SocketEvent one))
            {
                _seen.Add(one);
            }
        }
    }
}
