using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>
/// A small STREAM of its own over real sockets, right but for one <see cref="Fault"/>: what the replayer must pass, and what it must not.
/// All of its state is under one lock.
/// </summary>
internal sealed class FakeStream : IImplementedSide
{
    private const int ReconnectMs = 100;
    private readonly Channel<ReceivedMessage> _messages = Channel.CreateUnbounded<ReceivedMessage>();
    private readonly Channel<ReceivedEvent> _events = Channel.CreateUnbounded<ReceivedEvent>();
    private readonly List<FakePeer> _peers = [];
    private readonly List<ITimer> _timers = [];
    private readonly SideRequest _request;
    private Socket? _listener;
    private IPEndPoint? _target;
    private ReceivedMessage? _heldBack;
    private bool _monitored;
    private bool _disposed;
    private int _accepted;
    private byte[]? _idPart;

    public FakeStream(SideRequest request, Fault fault)
    {
        (_request, Fault) = (request, fault);
        long limit = request.Side.Options.LastOrDefault(option => option.Name is "MAXMSGSIZE")?.Value.Number ?? -1;
        Limit = (limit, fault) switch
        {
            (_, Fault.IgnoresTheLimit) or (-1, Fault.HasNoDefaultLimit) => uint.MaxValue,
            (-1, _) => 8 * 1024 * 1024,
            _ => limit,
        };
        if (fault is Fault.SpeaksWhenTimePasses or Fault.ClosesWhenTimePasses)
        {
            _timers.Add(request.Time.CreateTimer(_ => TimePassed(), null, TimeSpan.FromMilliseconds(200), Timeout.InfiniteTimeSpan));
        }
    }

    public Fault Fault { get; }

    public long Limit { get; }

    public bool IsWs => _request.Side.Transport is Side.Ws;

    public Lock Gate { get; } = new();

    public static SideAdapter Adapter(Fault fault) => new(request => new FakeStream(request, fault), new StreamSeveringOracle());

    public void OpenMonitor() => _monitored = true;

    public string Bind(string endpoint)
    {
        _listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        _ = AcceptAsync(_listener);
        return $"{_request.Side.Transport}://{_listener.LocalEndPoint}";
    }

    public void Connect(string endpoint)
    {
        _target = IPEndPoint.Parse(endpoint["tcp://".Length..]);
        _ = ConnectAsync();
        if (Fault is Fault.ConnectsTwice)
        {
            _ = ConnectAsync();
        }
    }

    public void Set(SideOption option) => throw new NotSupportedException(option.Name);

    public void Subscribe(byte[] topic) => throw new NotSupportedException("STREAM has no topics.");

    public void Unsubscribe(byte[] topic) => throw new NotSupportedException("STREAM has no topics.");

    public string? Send(IReadOnlyList<byte[]> parts)
    {
        for (int i = 0; i < parts.Count; i++)
        {
            if (SendPart(parts[i], more: i < parts.Count - 1) is { } error)
            {
                return Fault is Fault.NamesAnotherError ? "EAGAIN" : error;
            }
        }

        return null;
    }

    public void Close()
    {
        lock (Gate)
        {
            _disposed = true;
            _listener?.Dispose();
            _peers.ForEach(static peer => peer.ShutdownSend());
        }
    }

    public bool TryReceive(out ReceivedMessage message) => _messages.Reader.TryRead(out message!);

    public ValueTask<ReceivedMessage> ReceiveAsync(CancellationToken cancellation) => _messages.Reader.ReadAsync(cancellation);

    public bool TryReadEvent(out ReceivedEvent received) => _events.Reader.TryRead(out received!);

    public ValueTask<ReceivedEvent> ReadEventAsync(CancellationToken cancellation) => _events.Reader.ReadAsync(cancellation);

    public Task WhenIdleAsync()
    {
        lock (Gate)
        {
            return Fault is Fault.IsNeverIdle ? new TaskCompletionSource().Task : Task.WhenAll(_peers.Select(peer => peer.Sending));
        }
    }

    public IReadOnlyList<string> GetOutstandingBuffers() => Fault is Fault.KeepsBuffers ? ["one of 128 bytes"] : [];

    public ValueTask DisposeAsync()
    {
        lock (Gate)
        {
            _disposed = true;
            _listener?.Dispose();
            _timers.ForEach(static timer => timer.Dispose());
            _peers.ForEach(static peer => peer.Dispose());
        }

        return Fault is Fault.IsNeverDisposed ? new ValueTask(new TaskCompletionSource().Task) : ValueTask.CompletedTask;
    }

    /// <summary>Under the gate.</summary>
    public byte[] NextId()
    {
        byte[] id = new byte[sizeof(uint)];
        BinaryPrimitives.WriteInt32BigEndian(id, ++_accepted);
        return id;
    }

    /// <summary>Under the gate.</summary>
    public void Deliver(byte[] id, byte[] payload, string kind)
    {
        bool data = kind is "data";
        byte[] shown = Fault is Fault.DeliversAnotherByte && data && payload.Length > 0 ? [.. payload[..^1], (byte)(payload[^1] ^ 1)]
            : payload;
        string told = Fault is Fault.TellsTheWrongKind && payload.Length == 1 ? "connected" : kind;
        var message = new ReceivedMessage(Fault is Fault.DeliversOnePart ? [[.. id, .. shown]] : [id, shown], Kind: _request.TellKinds
            ? told : null);
        if (data && Fault is Fault.LosesAMessage)
        {
            return;
        }

        if (data && Fault is Fault.DeliversOutOfOrder && _heldBack is null)
        {
            _heldBack = message;
            return;
        }

        _messages.Writer.TryWrite(message);
        if (data && Fault is Fault.DeliversTwice)
        {
            _messages.Writer.TryWrite(message);
        }

        if (_heldBack is not null)
        {
            _messages.Writer.TryWrite(_heldBack);
            _heldBack = null;
        }
    }

    /// <summary>Under the gate.</summary>
    public void Report(string name, long value, byte[] id)
    {
        bool loss = name is "DISCONNECTED";
        if (!_monitored || (loss && Fault is Fault.ReportsNoLoss))
        {
            return;
        }

        var report = new ReceivedEvent(name, loss && Fault is Fault.ReportsAnotherReason ? 5 : value, [], Convert.ToHexStringLower(id));
        _events.Writer.TryWrite(report);
        if (Fault is Fault.ReportsTwice)
        {
            _events.Writer.TryWrite(report);
        }
    }

    /// <summary>Under the gate. A connecting side comes back when its connection was lost.</summary>
    public void Lost()
    {
        if (_target is not null && !_disposed && Fault is not Fault.NeverReconnects)
        {
            _timers.Add(_request.Time.CreateTimer(_ => _ = ConnectAsync(), null, TimeSpan.FromMilliseconds(ReconnectMs),
                Timeout.InfiniteTimeSpan));
        }
    }

    private string? SendPart(byte[] part, bool more)
    {
        lock (Gate)
        {
            if (_idPart is null)
            {
                string? error = !more ? null : part.Length != sizeof(uint) ? "EINVAL" : Find(part) is null
                    && Fault is not Fault.SendsToAnyone ? "EHOSTUNREACH" : null;
                _idPart = more && error is null ? part : null;
                return error;
            }

            FakePeer? peer = Find(_idPart);
            _idPart = null;
            if (part is [0])
            {
                peer?.DisconnectByApp();
            }
            else
            {
                peer?.SendFrame(part);
            }

            return null;
        }
    }

    private FakePeer? Find(byte[] id) => _peers.Find(peer => peer.IsKnown && peer.Id.AsSpan().SequenceEqual(id));

    private async Task AcceptAsync(Socket listener)
    {
        try
        {
            while (true)
            {
                AddPeer(await listener.AcceptAsync());
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            // Closed.
        }
    }

    private async Task ConnectAsync()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            await socket.ConnectAsync(_target!);
            AddPeer(socket);
        }
        catch (SocketException)
        {
            socket.Dispose();
        }
    }

    private void AddPeer(Socket socket)
    {
        lock (Gate)
        {
            if (_disposed)
            {
                socket.Dispose();
                return;
            }

            var peer = new FakePeer(this, socket);
            _peers.Add(peer);
            peer.Start();
            if (IsWs && _request.Side.Options.LastOrDefault(option => option.Name is "HANDSHAKE_IVL") is { } limit)
            {
                _timers.Add(_request.Time.CreateTimer(_ => GiveUp(peer), null, TimeSpan.FromMilliseconds(limit.Value.Number),
                    Timeout.InfiniteTimeSpan));
            }
        }
    }

    private void GiveUp(FakePeer peer)
    {
        lock (Gate)
        {
            peer.GiveUp();
        }
    }

    private void TimePassed()
    {
        lock (Gate)
        {
            foreach (FakePeer peer in _peers.ToArray())
            {
                if (Fault is Fault.SpeaksWhenTimePasses)
                {
                    peer.SendFrame([7]);
                }
                else
                {
                    peer.ShutdownSend();
                }
            }
        }
    }
}
